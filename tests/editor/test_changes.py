"""Changes that `sluice lsp` offers: those of the advice of reports, new names, and formatting; and the kinds of words.
A client at the other end of its pipes makes the edits, as an editor does."""

import asyncio
import os
import re
import shutil
import stat
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from hls.driver import parsed_module, plan_text
from hls.editor.analysis import Request
from hls.editor.edits import Edit, applied, statement_end
from hls.editor.fixes import advise, attempt
from hls.editor.formatting import FormattingError, formatted
from hls.editor.partial_sums import partial_sums
from hls.editor.rename import Refused, rename
from hls.editor.scan import Plain
from hls.editor.tokens import KINDS, MODIFIERS, tokens
from hls.options import Options
from hls.report.checked import check_plan
from hls.report.facts.loops import every
from hls.target.board import load_board
from tests.editor.client import applied as edited
from tests.editor.client import editor

ROOT = Path(__file__).parents[2]
EXAMPLES = ("vecadd", "dot", "smoother")
BOARD = load_board("de5net")

SLOW = """\
__kernel void both(__global const float *restrict a, __global float *restrict b, int n)
{
    float s = 0, t = 1;
    for (int i = 0; i < n; i++) {
        if (a[i] > 0)
            s = s + a[i]; // 𝄞
        t -= a[i] * a[i];
    }
    b[0] = s;
    b[1] = t;
}
__kernel void add(__global const int *a, __global int *b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 1;
}
__kernel void nest(__global const int *restrict a, __global int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int k = 0; k < 24; k++)
            s = s * 3 + a[24 * i + k];
        b[i] = s;
    }
}
"""
NAMES = """\
#define STEP 2
#define TWICE(x) ((x) * STEP)
#define USES_N (n + 1)
channel float c __attribute__((depth(8)));
constant int table[2] = {1, 2};
float helper(float v);
float helper(float v) { return v + 1; }
#ifdef NEVER
float other(float v, float skipped) { return v; }
int ghost = table[0];
#endif
__kernel void total(__global const float *restrict a, __global float *restrict out, int n)
{
    float s = 0; // s is s
    #pragma ivdep array(a)
    for (int i = 0; i < n; i += STEP) {
        float v = helper(a[i]); /* 𝄞 */ s += STEP;
        { int s = 3; v += s; }
        s += TWICE(v) + table[i & 1];
    }
    out[0] = s;
    write_channel_intel(c, s);
}
__kernel void two(__global float *restrict out, int n) { out[0] = read_channel_intel(c) + USES_N; }
"""
CLEARED = "    __local float h[1024];\n    for (int j = 0; j < 1024; j++)\n        h[j] = 0;\n"
COPIED = "    for (int j = 0; j < 1024; j++)\n        o[j] = h[j];\n"
LOOP = "    for (int i = 0; i < n; i++)"
#: how a title begins, and the body of a kernel for which it is offered
ADVISED = {
    "ivdep": (
        "Write #pragma ivdep array(h), if no iteration uses an element that another iteration stores: loop i II 1 ",
        f"{CLEARED}{LOOP} h[(int)a[i] & 1023] += a[i + n];\n{COPIED}",
    ),
    "ports": (
        "Write __attribute__((doublepump, numwriteports(2))): loop i II 2 ",
        (
            f"{CLEARED}    #pragma ivdep array(h)\n{LOOP} {{\n        int p = a[i];\n        h[p & 1023] = i;\n"
            f"        h[(p >> 8) & 1023] = i + 1;\n        h[(p >> 16) & 1023] = i + 2;\n    }}\n{COPIED}"
        ),
    ),
    "a pragma": (
        "Remove #pragma ii, unless it is needed for another reason: loop i II 1 instead of II 40",
        f"    #pragma unroll 1\n    #pragma ii 40\n{LOOP}\n        o[i] = a[i];\n",
    ),
    "coalesce": (
        "Write #pragma loop_coalesce: loop i II ",
        f"    int s = 0;\n{LOOP} {{\n        int t = s;\n        for (int j = 0; j < 30; j++) {{\n"
        + "            for (int k = j; k < 30; k++)\n                t += s ^ k;\n            s += t;\n        }\n"
        + "        o[i] = s - t;\n    }\n",
    ),
    "a sum": (
        "Shift 7 partial sums of s through a private array, rounded in another order: loop i II 1 instead of II 6",
        "    float s = 0;\n    /* a sum */ for (int i = 0; i < n; i++)\n        s += a[i]; // 𝄞\n    o[0] = s;\n",
    ),
}


def source(example: str) -> Path:
    return ROOT / "examples" / example / "kernel.cl"


def request(text: str, file: str = "/k.cl") -> Request:
    return Request(text, file, "de5net", Options())


def loops(text: str) -> dict:
    """Those of the planned text by their ids, with the warnings' numbers."""
    checked = check_plan(plan_text(text, BOARD, Options(), "/k.cl"), "/k.cl")
    return {loop.id: loop for kernel in checked.kernels for loop in every(kernel.loops)}


# --- what the advice of reports gives ---


def test_an_action_gives_the_ii_that_it_says():
    """An editor makes the edit, and the plan of what it then has shows the II of the title."""
    file = source("dot")

    async def session():
        async with editor(file, actions=True) as one:
            text = file.read_text()
            one.open(text)
            (action,) = await one.tried(7)
            assert await one.actions(2) == [], "it is offered in the loop's lines"
            assert await one.actions(7, only=["source"]) == [] != await one.actions(7, only=["refactor"])
            text = edited(text, one.edits(action.edit))
            one.change(text)
            assert await one.actions(7) == [], "of an older text"
            assert await one.messages() == []
            await one.planned()
            return action, [hint.label for hint in await one.hints() if hint.label.startswith("II")]

    action, hints = asyncio.run(session())
    assert action.title == (
        "Shift 7 partial sums of sum through a private array, rounded in another order: loop i II 1 instead of II 6"
    )
    assert action.kind == "refactor.rewrite" and len(hints) == 1 and hints[0].startswith("II 1 ")


@pytest.fixture(scope="module")
def fixes():
    asked = request(SLOW)
    return asked, [fix for one in advise(asked) if (fix := attempt(asked, one))]


def test_actions_give_what_they_say(fixes):
    _, (shift, restrict, unroll) = fixes
    before = loops(SLOW)
    assert shift.title.startswith("Shift 7 partial sums of t and of s") and gain(before, SLOW, shift) == (
        "both/i",
        6,
        2,
    )
    assert restrict.title == (
        "Declare a and b restrict, if the host never passes overlapping buffers: 1 warning W0609 less"
    )
    assert "a[24 * i + k]" in SLOW and gain(before, SLOW, unroll) == ("nest/i", 1, 1)
    assert "loop i II 1" in unroll.title and unroll.title.endswith("instead of II 1, 24 cycles an iteration")
    assert (unroll.first, unroll.last) == (21, 22)


def gain(before: dict, text: str, fix) -> tuple[str, int, int]:
    """The loop that becomes faster, and its IIs as the title has them, which are those of plans of the texts."""
    after = loops(applied(text, fix.edits))
    (id,) = fix.loops
    now, then = (int(one) for one in re.search(r"II (\d+).* instead of II (\d+)", fix.title).groups())
    assert (after[id].ii, before[id].ii) == (now, then)
    assert all(after[one].ii <= before[one].ii for one in before if one in after)
    return id, then, now


@pytest.mark.parametrize("kind", ADVISED)
def test_what_a_report_advises_is_offered_with_its_ii(kind):
    """The II of the advice, which was found without the text, is that of the text."""
    title, body = ADVISED[kind]
    text = f"__kernel void k(__global const float *restrict a, __global float *restrict o, int n)\n{{\n{body}}}\n"
    asked, before = request(text), loops(text)
    plan = check_plan(plan_text(text, BOARD, Options(), "/k.cl"), "/k.cl", True)
    (advised,) = [
        one for kernel in plan.kernels for loop in every(kernel.loops) for one in loop.would_be if one.rewrite
    ]
    found = [fix for one in advise(asked) if (fix := attempt(asked, one))]
    (fix,) = (one for one in found if one.title.startswith(title))
    id, _, now = gain(before, text, fix)
    after = loops(applied(text, fix.edits))[id]
    assert (now, after.interleaving) == (advised.ii, advised.interleaving)
    assert (after.ii / after.interleaving, after.paced or 0) < (
        before[id].ii / before[id].interleaving,
        before[id].paced or 1,
    )


def test_an_action_that_gains_nothing_is_not_offered(fixes):
    """Nor one after which the text does not compile."""
    asked, found = fixes
    shift = found[0]
    comment = type(shift)("say something", shift.loops, (Edit(0, 0, "// nothing\n"),), 1, 2)
    broken = type(shift)("break it", shift.loops, (Edit(0, 0, "}"),), 1, 2)
    assert attempt(asked, comment) is attempt(asked, broken) is None
    assert attempt(asked, type(shift)("again", shift.loops, shift.edits, 1, 2)) is not None


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; }",  # the sum is used on the way
        "for (int i = 0; i < n; i++) { if (a[i] > 9) return; s += a[i]; }",
        "if (n > 2) for (int i = 0; i < n; i++) s += a[i];",  # no place in front of the loop
        "for (int i = 0; i < n; i++) { s += a[i]; s += b[i]; }",
        "for (int i = 0; i < n; i++) s = s * 2 + a[i];",
        "for (int i = 0; i < n; i++) s += a[i]",
    ],
)
def test_sums_of_another_form_are_left_alone(body):
    code = f"void k(float *a, float *b, int n) {{ float s = 0; {body} }}"
    assert partial_sums(code, code.index("for"), ("s",), 8, "    ") is None


def test_statements_end_where_they_end():
    code = "if (a) { x; } else for (;;) do { y; } while (z); w = (struct s){1; 2};"
    assert code[: statement_end(code, 0)].endswith("while (z);")
    assert statement_end("for (", 0) is statement_end("x = 1", 0) is statement_end("{ x; ", 0) is None


# --- names ---


def at(text: str, words: str, skip: int = 0) -> tuple[int, int]:
    """Line and column (from 0) in characters, ``skip`` behind the only occurrence of ``words``."""
    assert text.count(words) == 1
    place = text.index(words) + skip
    return text.count("\n", 0, place), place - text.rfind("\n", 0, place) - 1


@pytest.mark.parametrize(
    "where, skip, new, times",
    [
        ("define STEP", 7, "PACE", 4),
        ("float s = 0", 6, "sum", 5),
        ("float s = 0", 6, "input", 5),
        ("int s = 3", 4, "inner", 2),
        ("*restrict a", 10, "input", 3),
        ("void total", 5, "sum_up", 1),
        ("return v + 1", 7, "w", 2),
        ("float helper(float v) {", 6, "aid", 3),
        ("channel float c", 14, "chan", 3),
        ("restrict a, __global float *restrict out, int n", 46, "m", 2),
    ],
)
def test_a_name_is_changed_wherever_it_means_the_same(where, skip, new, times):
    place = at(NAMES, where, skip)
    edits = rename(request(NAMES), *place, new)
    after = applied(NAMES, edits)
    assert len(edits) == times and len(re.findall(rf"\b{new}\b", after)) == times
    back = rename(request(after), *place, NAMES[edits[0].start : edits[0].end])
    assert applied(after, back) == NAMES
    for shared in (re.sub(r"\b(?:s is s|𝄞)", "", one) for one in (NAMES, after)):
        parsed_module(shared, Options(), "/k.cl")


@pytest.mark.parametrize(
    "where, skip, new, why",
    [
        ("float s = 0", 6, "v", "would mean something else"),
        ("float s = 0", 6, "n", "does not compile (line 14: 'n' is declared twice)"),
        ("int i = 0", 4, "for", "does not compile"),
        ("int i = 0", 4, "3x", "'3x' is not a name as in C"),
        ("constant int table", 13, "tab", "line 10, which is not compiled"),
        ("__kernel void two(__global float *restrict out, int n)", 52, "m", "the macro 'USES_N' in line 24 uses 'n'"),
        ("// s is", 3, "x", "there is no name here"),
        ("channel float c", 9, "x", "'float' is not defined in this text"),
        ("skipped)", 0, "x", "'skipped' is not defined in this text"),
        ("define STEP", 7, "TWICE", "does not compile"),
        ("float v = helper", 6, "helper", "does not compile"),
    ],
)
def test_a_name_that_cannot_be_changed_is_refused(where, skip, new, why):
    with pytest.raises(Refused) as refused:
        rename(request(NAMES), *at(NAMES, where, skip), new)
    assert why in str(refused.value)


def test_a_parameter_of_a_macro_and_a_macro_of_one_name():
    text = "#define W 2\n#define F(W) ((W) + 1)\n__kernel void k(__global int *restrict a) { a[0] = F(3) + W; }\n"
    with pytest.raises(Refused, match="also a parameter of the macro in line 2"):
        rename(request(text), 0, 8, "V")


def test_names_across_includes(tmp_path):
    (tmp_path / "part.cl.h").write_text("inline int twice(int x) { return 2 * x * N; }\n")
    text = '#define N 2\n#include "part.cl.h"\n__kernel void k(__global int *restrict a) { a[0] = twice(N); }\n'
    file = str(tmp_path / "k.cl")
    with pytest.raises(Refused, match=r"also in .*part\.cl\.h, line 1: rename it by hand there"):
        rename(request(text, file), *at(text, "twice(N)"), "double_it")
    with pytest.raises(Refused, match=r"with the name 'M' the text does not compile"):
        rename(request(text, file), 0, 8, "M")


# --- kinds of words ---


def test_the_kinds_of_words():
    text = NAMES + "struct point { int x; };\n/* two\n   lines */ half h = get_global_id(0) * M_PI + p.x;\n"
    found = {}
    for one in tokens(text, "k.cl"):
        line = text.split("\n")[one.span.line - 1]
        word = line[one.span.column - 1 : one.span.column - 1 + one.span.length]
        found.setdefault(word, set()).add((one.kind, *one.modifiers))
    expected = {
        "#define": {("keyword",)},
        "STEP": {("macro", "definition"), ("macro",)},
        "channel": {("keyword",)},
        "depth": {("decorator",)},
        "ivdep": {("decorator",)},
        "c": {("event", "definition"), ("event",)},
        "helper": {("function", "definition"), ("function",)},
        "total": {("method", "definition")},
        "__global": {("modifier",)},
        "float": {("type",)},
        "half": {("type",)},
        "out": {("parameter",)},
        "point": {("struct", "definition")},
        "get_global_id": {("function", "defaultLibrary")},
        "M_PI": {("macro", "defaultLibrary")},
        "/* two": {("comment",)},
        "   lines */": {("comment",)},
        "x": {("variable",), ("property",)},
        "8": {("number",)},
    }
    assert {word: found[word] for word in expected} == expected


# --- formatting ---

FAKE = """\
#!/bin/sh
echo "$@" > "$0.given"
sed -e 's/^ *//'
"""


@pytest.fixture
def clang_format(tmp_path, monkeypatch) -> Path:
    """A program of that name that takes away what indents a line."""
    program = tmp_path / "bin" / "clang-format"
    program.parent.mkdir()
    program.write_text(FAKE)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


def test_requests_in_an_editor(tmp_path, clang_format):
    """Their places count UTF-16 units; a refusal is an error with its reason; a text with errors keeps its names."""
    line, column = at(NAMES, "/* 𝄞 */ s", 8)

    async def session():
        async with editor(tmp_path / "k.cl") as one:
            one.open(NAMES)
            place = lsp.Range(lsp.Position(line, column + 1), lsp.Position(line, column + 2))
            assert await one.renamable(line, column + 1) == place
            assert await one.renamable(13, 20) is None
            found = await one.rename(line, column + 1, "sum")
            assert "/* 𝄞 */ sum += STEP" in edited(NAMES, one.edits(found))
            with pytest.raises(JsonRpcException, match="'v' the text would mean something else"):
                await one.rename(line, column + 1, "v")
            data = await one.tokens()
            one.change(NAMES + "}")
            with pytest.raises(JsonRpcException, match="mend the errors of this text first"):
                await one.rename(line, column + 1, "sum")
            one.change("int x;\n  int 𝄞;\nint y;\n")
            whole = await one.format()
            assert "--lines" not in Path(f"{clang_format}.given").read_text()
            part = await one.format(1, 2)
            return data, whole, part

    data, whole, part = asyncio.run(session())
    kinds_are_those_of_the_text(data)
    assert edited("int x;\n  int 𝄞;\nint y;\n", whole) == "int x;\nint 𝄞;\nint y;\n" and whole == part
    assert [(one.range.start.line, one.range.end.line) for one in whole] == [(1, 2)]
    assert Path(f"{clang_format}.given").read_text().split() == [
        f"--assume-filename={tmp_path}/k.cl",
        "--style=file",
        "--fallback-style=LLVM",
        "--lines=2:3",
    ]


def kinds_are_those_of_the_text(data: list[int]) -> None:
    line = column = 0
    lines, words = NAMES.split("\n"), []
    for k in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[k : k + 5]
        line, column = line + down, right + (0 if down else column)
        units = lines[line].encode("utf-16-le")[2 * column : 2 * (column + length)]
        named = tuple(name for bit, name in enumerate(MODIFIERS) if modifiers >> bit & 1)
        words.append((units.decode("utf-16-le"), KINDS[kind], named))
    expected = [
        (lines[one.span.line - 1][one.span.column - 1 : one.span.column - 1 + one.span.length], one.kind, one.modifiers)
        for one in tokens(NAMES, "k.cl")
    ]
    assert words == expected and len(words) > 100


def test_formatting_that_fails_says_why(tmp_path, clang_format, monkeypatch):
    file = str(tmp_path / "k.cl")
    clang_format.write_text("#!/bin/sh\necho 'bad style' >&2\nexit 3\n")
    with pytest.raises(FormattingError, match="clang-format failed: bad style"):
        formatted("int x;", file)
    clang_format.write_text("#!/bin/sh\nexec sleep 5\n")
    monkeypatch.setattr("hls.editor.formatting.LIMIT", 0.1)
    with pytest.raises(FormattingError, match="takes longer than 0.1 seconds"):
        formatted("int x;", file)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FormattingError, match="install the package clang-format"):
        formatted("int x;", file)


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="clang-format is not installed")
@pytest.mark.parametrize("example", EXAMPLES)
def test_formatted_examples_are_the_same_programs(example):
    text = source(example).read_text()
    after = applied(text, formatted(text, str(source(example))))
    before, after = (Plain(one, "k.cl").uncommented.split() for one in (text, after))
    assert "".join(after) == "".join(before)
