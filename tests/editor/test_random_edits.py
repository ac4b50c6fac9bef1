"""The language server on texts that are no programs: random edits, and its memory after a thousand of them."""

import asyncio
import random
import re
import time
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from hls.editor.edits import applied
from hls.editor.rename import Refused, name_at, rename
from hls.editor.tokens import KINDS, tokens
from tests.editor.client import editor
from tests.editor.test_changes import EXAMPLES, request, source


@pytest.mark.parametrize("example", EXAMPLES)
def test_random_edits(example):
    """200 edits of each: every request is answered, and a rename that is made leaves a program with as many names."""
    text, random_ = source(example).read_text(), random.Random(example)
    now, renamed, spent = text, 0, 0.0
    for _ in range(200):
        start = random_.randrange(len(now) + 1)
        new = random_.choice(("", "x", "{", "}", "(", ";", "\n", '"', "/*", "#define N ", "__attribute__((", "𝄞", "i"))
        now = now[:start] + new + now[start + random_.choice((0, 0, 1, 5)) :]
        if random_.random() < 0.2 or len(now) > 2 * len(text):
            now = text
        began = time.perf_counter()
        assert all(one.kind in KINDS and one.span.length > 0 for one in tokens(now, "k.cl"))
        line = random_.randrange(now.count("\n") + 2)
        name_at(request(now), line, random_.randrange(30))
        spent += time.perf_counter() - began
        if random_.random() < 0.15:
            try:
                edits = rename(request(now), line, random_.randrange(30), "renamed_1")
            except Refused as error:
                assert "internal" not in str(error)
            else:
                renamed += 1
                assert applied(now, edits).count("renamed_1") == len(edits) > 0
    print(f"{example}: {renamed} renamed, {spent / 200 * 1000:.1f} ms for tokens and the name at a place")


def test_a_thousand_edits_need_hardly_more_memory(tmp_path):
    """In one server: the memory of its process after 200 edits and after 1,000 (each made and undone), with requests
    between them. The figures are printed (pytest -s)."""
    text, random_ = source("smoother").read_text(), random.Random(5)

    async def session():
        async with editor(tmp_path / "k.cl", actions=True) as one:
            one.open(text)
            await one.messages()
            sizes, times = [], []
            for _ in range(10):
                began = time.perf_counter()
                for _ in range(100):
                    at = random_.randrange(text.count("\n"))
                    place = lsp.Position(at, 0)
                    new = random_.choice(("{", "/*", "#define A(", "x;", '"'))
                    one.edit(lsp.TextDocumentContentChangePartial(lsp.Range(place, place), new))
                    await one.tokens()
                    one.edit(
                        lsp.TextDocumentContentChangePartial(
                            lsp.Range(place, lsp.Position(at, len(new))), random_.choice(("", "", "\n"))
                        )
                    )
                    await one.actions(at)
                    if random_.random() < 0.1:
                        one.change(text)
                        await one.renamable(at, 8)
                        await one.messages()
                one.change(text)
                await one.messages()
                times.append(time.perf_counter() - began)
                sizes.append(_resident(one.client._server.pid))
            return sizes, times

    sizes, times = asyncio.run(session())
    print(f"resident after hundreds of edits: {sizes} kB; seconds for each: {[round(one, 1) for one in times]}")
    assert sizes[-1] < sizes[2] + 2_000  # with the future of each notification kept, 4,500 more


def _resident(process: int) -> int:
    """Memory of a process in kB."""
    told = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", told).group(1))
