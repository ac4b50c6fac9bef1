"""`sluice lsp`, as an editor sees it: a client at the other end of its pipes."""

import asyncio
import json
import random
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from lsprotocol import types as lsp

from hls.cli import main
from tests.editor.client import editor

ROOT = Path(__file__).parents[2]
EXAMPLES = ("vecadd", "matmul", "smoother")
TOTAL = """\
#define STEP 2
__kernel void total(__global const float *restrict a, __global float *restrict out, int n)
{
    float s = 0;
    for (int i = 0; i < n; i += STEP)
        s += a[i];
    out[0] = s;
}
"""


def source(example: str) -> Path:
    return ROOT / "examples" / example / "kernel.cl"


@pytest.mark.parametrize("example", EXAMPLES)
def test_hints_are_the_figures_of_check(example):
    """Every loop with its II, every access with its unit, and every channel with its depth, each in its line."""
    file = source(example)
    checked = json.loads(CliRunner().invoke(main, ["check", str(file), "--json"]).stdout)

    async def session():
        async with editor(file) as one:
            one.open(file.read_text())
            await one.planned()
            return await one.hints(), await one.lenses(), await one.symbols()

    hints, lenses, symbols = asyncio.run(session())
    found = {(one.position.line + 1, one.label) for one in hints}

    def loops(these):
        for one in these:
            yield one
            yield from loops(one["children"])

    expected = {(a["span"]["line"], a["lsu"]) for kernel in checked["kernels"] for a in kernel["accesses"]}
    for kernel in checked["kernels"]:
        for loop in loops(kernel["loops"]):
            turns = f" · {loop['interleaving']} interleaved" if loop["interleaving"] > 1 else ""
            expected.add((loop["span"]["line"], f"II {loop['ii']}{turns} · latency {loop['latency']}"))
    if example == "smoother":
        expected |= {(8, "depth 8"), (9, "depth 8")}
    assert found == expected
    assert [
        f"{kernel['name']}: {lens.command.title}" for kernel, lens in zip(checked["kernels"], lenses, strict=True)
    ] == checked["verdicts"]
    assert {kernel["name"] for kernel in checked["kernels"]} == {one.name for one in symbols if one.detail == "kernel"}


def test_a_cause_is_in_the_tooltip():
    async def session():
        async with editor(source("matmul")) as one:
            one.open(source("matmul").read_text())
            await one.planned()
            return await one.hints()

    (hint,) = [one for one in asyncio.run(session()) if one.label.startswith("II 7")]
    assert "loop-carried dependence on sum (line 11)" in hint.tooltip.value
    assert "- 83% floating-point add for sum (line 11)" in hint.tooltip.value


def test_messages_while_typing(tmp_path):
    """An error at once with its hint beside it, gone when it is mended; the plan's warning later; hints only of the text
    as it is."""
    file = tmp_path / "k.cl"

    async def session():
        async with editor(file) as one:
            one.open(TOTAL)
            await one.planned()
            assert [(m.code, m.range.start.line) for m in one.published[one.uri]] == [("W0706", 4)]
            one.change(TOTAL.replace("s += a[i]", "s += sqrtt(a[i])"))
            (wrong,) = await one.messages()
            assert (wrong.severity, wrong.range.start) == (lsp.DiagnosticSeverity.Error, lsp.Position(5, 13))
            assert wrong.related_information[0].message.startswith("hint: ")
            assert await one.hints() == [] and await one.lenses() == []
            one.change("// Ω 𝄞\n" + TOTAL.replace("s += a[i]", "/* 𝄞 */ s += a[j]"))
            (moved,) = await one.messages()
            assert moved.range.start == lsp.Position(6, 15 + len("/* xx */ ")), "columns count UTF-16 units"
            one.change(TOTAL)
            assert await one.messages() == []
            await one.planned()
            assert [m.code for m in one.published[one.uri]] == ["W0706"]

    asyncio.run(session())


def test_hints_end_the_message_where_an_editor_shows_nothing_related(tmp_path):
    async def session():
        async with editor(tmp_path / "k.cl", related=False) as one:
            one.open(TOTAL.replace("a[i]", "sqrtt(a[i])"))
            return await one.messages()

    (wrong,) = asyncio.run(session())
    assert "\nhint: " in wrong.message and wrong.related_information is None


def test_options_and_settings(tmp_path):
    """Options of the command, an editor's settings on top of them, and a setting that does not exist."""
    text = TOTAL.replace("#define STEP 2\n", "")

    async def session(*options, settings=None):
        async with editor(tmp_path / "k.cl", *options, settings=settings) as one:
            one.open(text)
            messages = await one.messages()
            if not messages:
                await one.planned()
            return messages, await one.hints(), one.shown

    assert asyncio.run(session())[0], "STEP is not defined"
    messages, hints, _ = asyncio.run(session("-D", "STEP=1", "-fp-relaxed"))
    assert messages == [] and any(one.label.startswith("II 1 ") for one in hints)
    messages, hints, _ = asyncio.run(session(settings={"defines": {"STEP": 1}, "board": "ecp5_onchip"}))
    assert messages == [] and any(one.label.startswith("II ") for one in hints)
    *_, shown = asyncio.run(session(settings={"bord": "ecp5_onchip"}))
    assert shown == ["sluice: there is no setting 'bord'; there are board, defines, includeDirs, fpRelaxed, fpc"]


def test_errors_of_an_include_are_in_its_file(tmp_path):
    """And are taken away there when they are mended."""
    header = tmp_path / "part.cl.h"
    header.write_text("float f(float x) { return y; }\n")
    text = '#include "part.cl.h"\n' + TOTAL

    async def session():
        async with editor(tmp_path / "k.cl") as one:
            one.open(text)
            await one.messages()
            assert [m.range.start.line for m in one.published[header.as_uri()]] == [0]
            assert one.published[one.uri] == []
            header.write_text("float f(float x) { return x; }\n")
            one.told.clear()
            one.client.text_document_did_save(lsp.DidSaveTextDocumentParams(one.identifier))
            await one.messages()
            await one.planned()
            assert one.published[header.as_uri()] == []
            one.client.text_document_did_close(lsp.DidCloseTextDocumentParams(one.identifier))
            assert await one.symbols() == [], "a text that is not open has none"
            assert one.published[one.uri] == []

    asyncio.run(session())


def test_words_and_definitions(tmp_path):
    async def session():
        async with editor(tmp_path / "k.cl") as one:
            one.open(TOTAL.replace("    float s", "#pragma unroll 1\n    float s = sqrt(2.0f); // E0201\n    float t"))
            assert (await one.hover(4, 16)).startswith("**sqrt**: built-in function of 1 argument")
            assert "pragma of a loop" in await one.hover(3, 10)
            assert (await one.hover(4, 30)).startswith("E0201: ")
            assert await one.hover(2, 0) == ""
            assert "get_global_id" in await one.completions(4, 4)
            assert "unroll" in await one.completions(3, 10)
            (place,) = await one.definition(6, 34)
            assert place.range.start == lsp.Position(0, 8)
            assert await one.definition(99, 4) == []

    asyncio.run(session())


NAMES = """typedef struct { int x; float y; } pair;
enum { A = 3, B };
channel float lanes[2];
float twice(float v) { return v * 2.0f; }
__kernel void k(__global const pair *restrict p, __global float *o, int n)
{
    __local float t[16];
    const int m = B;
    for (int i = 0; i < n; i++) {
        int m = i & 15;
        t[m] = twice(p[i].x);
        write_channel_intel(lanes[1], t[m]);
    }
    o[0] = m;
}
"""


def test_a_name_is_shown_with_its_type_and_leads_to_its_declaration(tmp_path):
    """Also where an inner variable has the name of an outer one, and not from one text to the next with an error."""
    wanted = {  # line and column, from 0: what is shown, and the line (from 1) of the declaration
        (0, 36): ("**pair**: type of 8 bytes, `pair { int x; float y; }`, line 1", 1),
        (7, 18): ("**B**: enumeration constant, `4`, line 2", 2),
        (8, 24): ("**n**: parameter, `int`, line 5", 5),
        (10, 10): ("**m**: variable, `int`, line 10", 10),
        (13, 12): ("**m**: variable, `const int`, line 8", 8),
        (10, 8): ("**t**: variable in local memory, `float[16]`, line 7", 7),
        (10, 17): ("**twice**: function, `float twice(float)`, line 4", 4),
        (10, 22): ("**p**: parameter, `__global const pair *restrict`, line 5", 5),
        (11, 30): ("**lanes**: channels, `float[2]`, line 3", 3),
    }

    async def session():
        async with editor(tmp_path / "k.cl") as one:
            one.open(NAMES)
            assert await one.messages() == []
            for place, (shown, line) in wanted.items():
                (declared,) = await one.definition(*place)
                assert (await one.hover(*place), declared.range.start.line + 1) == (shown, line)
            one.change(NAMES.replace("t[m] =", "u[m] ="))
            assert await one.hover(13, 12) == "" and await one.definition(13, 12) == []
            assert (await one.hover(10, 17)).startswith("**twice**: function, line 4")

    asyncio.run(session())


@pytest.mark.parametrize("example", EXAMPLES)
def test_random_edits(example):
    """200 edits in a row, of which most leave a text that is no program: the server answers every request, and in the
    end says what it said in the beginning. How long the front end took is printed (pytest -s)."""
    text = source(example).read_text()
    random_ = random.Random(example)

    async def session():
        async with editor(source(example)) as one:
            one.open(text)
            await one.planned()
            first = await one.hints(), one.published[one.uri]
            now, slowest = text, 0.0
            for _ in range(200):
                change, now = _edit(now, random_)
                one.edit(change)
                if random_.random() < 0.1:
                    began = time.perf_counter()
                    await one.messages()
                    slowest = max(slowest, time.perf_counter() - began)
                await one.symbols()
                await one.completions(random_.randrange(50), random_.randrange(10))
                await one.hover(random_.randrange(50), random_.randrange(40))
                await one.hints()
            one.change(text)
            await one.planned()
            assert (await one.hints(), one.published[one.uri]) == first
            print(f"{example}: slowest answer of the front end {slowest * 1000:.0f} ms")

    asyncio.run(session())


def _edit(text: str, random_: random.Random) -> tuple[lsp.TextDocumentContentChangePartial, str]:
    """An insertion, a deletion or a replacement, and the text after it."""
    start = random_.randrange(len(text) + 1)
    end = min(len(text), start + random_.choice((0, 0, 1, 3, 12)))
    new = random_.choice(
        ("", "", "x", "{", "}", "(", ";", "\n", '"', "/*", "#define ", "__attribute__((", "for (", "𝄞")
    )

    def place(offset: int) -> lsp.Position:
        before = text[:offset]
        line = before[before.rfind("\n") + 1 :]
        return lsp.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    change = lsp.TextDocumentContentChangePartial(lsp.Range(place(start), place(end)), new)
    return change, text[:start] + new + text[end:]


def test_a_board_that_does_not_exist_is_a_message(tmp_path):
    """And the server sees the file when it is there, at the next change."""
    board = tmp_path / "mine.toml"

    async def session():
        async with editor(tmp_path / "k.cl", settings={"board": str(board)}) as one:
            one.open(TOTAL)
            assert await one.messages() == []
            one.told.clear()
            (missing,) = await one.messages()
            assert "mine.toml" in missing.message and await one.hints() == []
            board.write_text((ROOT / "boards" / "de5net.toml").read_text())
            one.change(TOTAL)
            assert len(await one.hints_at_last()) == 3

    asyncio.run(session())
