"""The report's own arithmetic, and its text and JSON forms against goldens."""

import dataclasses
import json as stdlib_json
from pathlib import Path

import pytest
from samples import BARE, FLAT, INNER, ITEMS, MEMORY, OUTER, REPORT, SHARED, SUM, TASK, at

from hls.report import Kernel, Loop, Private, Report, Resources, json, layout, text
from hls.report.channel_text import say_ways
from hls.report.facts.loops import Path as CriticalPath
from hls.report.facts.loops import every
from hls.report.memory_text import memory_lines
from hls.report.model import KernelCopies, Memory, Operator, Sharing, Way

GOLDEN = Path(__file__).with_name("sample.expect")


def test_text_golden(request):
    if request.config.getoption("--refresh"):
        GOLDEN.write_text(text.render(REPORT))
    assert text.render(REPORT) == GOLDEN.read_text()


def test_scheduled_ii_and_concurrency():
    assert (INNER.scheduled_ii, INNER.concurrency) == (1.0, 52)
    assert (MEMORY.scheduled_ii, MEMORY.concurrency) == (7.0, 6)
    assert (FLAT.scheduled_ii, FLAT.concurrency) == (None, None)
    assert dataclasses.replace(MEMORY, latency=0).concurrency == 1
    assert dataclasses.replace(MEMORY, limit=2).concurrency == 2


@pytest.mark.parametrize("interleaving", [0, 8])
def test_interleaving_beyond_the_ii_is_refused(interleaving):
    with pytest.raises(ValueError, match="loop m: interleaving"):
        dataclasses.replace(MEMORY, interleaving=interleaving)


def test_resources_add_up():
    assert REPORT.resources == Resources(2000 + 500 + 1000, 4100 + 900 + 2000, 12 + 4 + 8, 3)
    assert Report("k.cl", "b", 1.0, ()).resources == Resources()


def test_the_clock_of_a_kernel_is_the_least_of_its_loops_and_units():
    """Text names a unit that is slower than the clock."""
    loops = min(loop.fmax_mhz for loop in every(TASK.loops) if loop.fmax_mhz)
    access = dataclasses.replace(TASK.accesses[0], fmax_mhz=loops - 1)
    kernel = dataclasses.replace(TASK, accesses=(access, *TASK.accesses[1:]))
    assert TASK.fmax_mhz == loops and kernel.fmax_mhz == loops - 1
    assert dataclasses.replace(TASK, loops=()).fmax_mhz is None
    slow = dataclasses.replace(MEMORY, path=CriticalPath(9.0, loops - 2, ()))
    inside = dataclasses.replace(TASK.loops[0], children=(*TASK.loops[0].children, slow))
    assert dataclasses.replace(TASK, loops=(inside, *TASK.loops[1:])).fmax_mhz == loops - 2
    for clock_mhz, said in ((loops, True), (loops - 2, False)):
        report = dataclasses.replace(REPORT, kernels=(kernel,), clock_mhz=clock_mhz)
        words = " ".join(text.render(report).split())
        assert (f"the unit limits the clock to about {loops - 1:g} MHz" in words) == said


def test_json_holds_every_field_and_what_follows_from_them():
    data = stdlib_json.loads(json.render(REPORT))
    kernel = data["kernels"][0]
    assert set(kernel) == {field.name for field in dataclasses.fields(TASK)} | {"fmax_mhz"}
    inner = kernel["loops"][0]["children"][0]
    assert set(inner) == {field.name for field in dataclasses.fields(Loop)} | {
        "scheduled_ii",
        "concurrency",
        "verdict",
        "category",
        "assumed",
        "fmax_mhz",
    }
    assert (inner["scheduled_ii"], inner["ii"], inner["interleaving"]) == (1.0, 9, 9)
    assert inner["span"] == {"file": "sample.cl", "line": 8, "column": 3, "length": 1}
    assert inner["bottleneck"]["shares"][1] == {
        "operation": SUM.shares[1].operation,
        "share": 0.96,
        "span": {"file": "sample.cl", "line": 9, "column": 3, "length": 1},
        "part": "operation",
        "opcode": "fadd",
        "subject": "",
    }
    assert data["resources"] == {"logic": 3500, "registers": 7000, "rams": 24, "dsps": 3}
    assert kernel["messages"][0]["hint"] == "remove it"
    assert data["messages"][0]["span"] is None


@pytest.mark.parametrize("kernel", [TASK, ITEMS, BARE], ids=lambda kernel: kernel.name)
def test_nothing_of_a_kernel_is_left_out_of_the_text(kernel):
    shown = text.render(dataclasses.replace(REPORT, kernels=(kernel,)))
    assert f"Kernel {kernel.name}" in shown
    for access in kernel.accesses:
        joint = {"load": "load of", "store": "store to"}[access.kind]
        assert f"{joint} {access.buffer} (line {access.span.line})" in shown and access.reason in " ".join(
            shown.split()
        )
    for private in kernel.privates:
        assert private.place in shown


def test_nesting_is_visible():
    lines = text.render(REPORT).splitlines()
    depth = {
        loop.label: next(line.index("+") for line in lines if f"+ Loop {loop.label} " in line)
        for loop in (OUTER, INNER, FLAT, SHARED)
    }
    assert depth["i"] == depth["s"] < depth["k"] == depth["t"]


def test_a_board_without_totals_shows_no_shares():
    shown = text.render(dataclasses.replace(REPORT, kernels=(BARE,), device=None))
    assert "%" not in shown and "the device holds" not in shown


def test_findings_keep_within_the_width():
    assert max(map(len, text.render(REPORT).splitlines())) <= layout.WIDTH


def copied(name: str, number: int, logic: int, table_bits: int = 64) -> Kernel:
    """One of several entries of one kernel of the source: ``number`` copies, with an adder each."""
    adder = Operator("integer add for x", "add", at(20), "", Resources(logic), count=number)
    return Kernel(
        name,
        at(10),
        ndrange=False,
        loops=(),
        accesses=(),
        privates=(Private("t", at(11), table_bits, "registers"),),
        resources=Resources(2 * logic),
        operators=(adder,),
        copies=KernelCopies(number, tuple(f"{name}_{k}" for k in range(number)), ("channels c",))
        if number > 1
        else None,
    )


def test_what_copies_of_a_kernel_share_is_written_once():
    kernels = (copied("a", 4, 400), copied("b", 2, 200), copied("c", 1, 120, table_bits=128))
    said = " ".join(text.render(Report("k.cl", "b", 1.0, kernels)).split())
    same = "Loops, private arrays and constant tables, largest arithmetic parts: as in kernel a, in each copy"
    assert said.count(same) == 1, "b has the same adder in each copy"
    assert said.count("Loops: as in kernel a, in each copy") == 1, "c has another table, and a larger adder"
    assert "integer add for x (line 20), 4 parts: 400" in said and "128 bits: registers" in said
    assert "integer add for x (line 20): 120" in said and "2 parts" not in said


def test_channels_that_reach_the_same_are_one_entry():
    ways = (Way("a", "x", 3), Way("a", "y", 3), Way("b", "x", 3), Way("b", "y", 3), Way("c", "x", 3), Way("c", "y", 4))
    assert say_ways(ways) == ["a, b to x, y: 3 cycles", "c to x: 3 cycles", "c to y: 4 cycles"]


def test_ports_that_the_same_accesses_share_are_one_entry():
    def memory(*sharing: Sharing) -> Memory:
        return Memory(
            "m", at(2), "local", requested=64, implemented=64, word_bytes=4, banks=1, banked="", copies=1, groups=1,
            reads=2, writes=1, atomics=0, blocks=1, rating="optimal", turns=(), sharing=sharing, pumping="single-pumped",
            attributes=(), advice="",
        )  # fmt: skip

    alike = (Sharing((3, 4), "a barrier"), Sharing((3, 4), "a barrier"))
    memories = (memory(*alike), memory(alike[0], Sharing((3, 5), "a barrier")))
    said = [" ".join(memory_lines((one,), layout.wrapped)) for one in memories]
    assert said[0].count("share 2 ports: a barrier.") == 1 and "share a port: a barrier." not in said[0]
    assert said[1].count("share a port: a barrier.") == 2
