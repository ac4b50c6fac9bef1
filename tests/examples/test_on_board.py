"""Every example on the simulated board: correct bytes, consistent figures, and the same bytes under random stalls."""

import pytest
from hosts import SMALL, launches_of, load

from sim.cl import compiler
from tests import pocl
from tests.model.compare import SIZES

pytestmark = pytest.mark.verilator

LOOP_KEYS = {
    "line",
    "label",
    "name",
    "static_ii",
    "interleaving",
    "scheduled_ii",
    "measured_ii",
    "iterations",
    "invocations",
}
MEMORY_KEYS = {
    "line",
    "buffer",
    "kind",
    "lsu",
    "occupancy",
    "stall",
    "activity",
    "bytes_used",
    "bytes_moved",
    "efficiency",
    "reuse",
    "average_burst",
    "max_burst",
    "full_bursts",
    "unaligned",
    "cache_hit",
    "in_vain",
    "memory",
    "bytes_per_ns",
    "peak_bytes_per_ns",
    "bandwidth",
}


def run(name, capsys):
    """Run the host program; its own check ends it when a byte is wrong."""
    found = load(name).main(SMALL[name])
    assert capsys.readouterr().out.count("result check passed") == len(found) > 0
    return launches_of(found)


class Once:
    """Compiles each program once for all seeds of an example: the seed is a port of what is compiled."""

    def __init__(self, compile):
        self.compile, self.found = compile, {}

    def __call__(self, source, board, options, file):
        key = source, board.name, repr(options), file
        if key not in self.found:
            if len(self.found) == MOST_PROGRAMS:
                self.found.clear()
            self.found[key] = self.compile(source, board, options, file)
        return self.found[key]


#: of one example, at most
MOST_PROGRAMS = 4
once = Once(compiler.compile_source)


def check_figures(launches):
    """That the figures of each run add up, whether or not anything stalled."""
    for launch in launches:
        stats = launch.event.stats.to_dict()
        assert sum(account["cycles"] for account in stats["accounts"]) == stats["cycles"] > 0
        assert max((loop["iterations"] for loop in stats["loops"]), default=0) >= launch.trips
        for loop in stats["loops"]:
            assert set(loop) == LOOP_KEYS
            assert loop["scheduled_ii"] == loop["static_ii"] / loop["interleaving"]
        for access in stats["memory"]:
            assert set(access) == MEMORY_KEYS
        used = sum(access["bytes_used"] for access in stats["memory"])
        assert used >= launch.bytes, "an example's least traffic is what it uses at the very least"


@pytest.mark.parametrize("name", sorted(SIZES))
def test_result_and_figures(name, capsys):
    """As users build them for short runs; the others are built with sources of stalls only, which are simulators enough."""
    check_figures(run(name, capsys))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", sorted(SMALL))
def test_random_stalls_change_no_byte(name, seed, monkeypatch, capsys):
    monkeypatch.setenv("SLUICE_STALL_SEED", str(seed))
    monkeypatch.setattr(compiler, "compile_source", once)
    check_figures(run(name, capsys))


def test_one_program_runs_both_ways(monkeypatch, capsys):
    monkeypatch.setenv("PYOPENCL_CTX", str(pocl.need()))
    here = run("vecadd", capsys)
    there = load("vecadd", "import pyopencl as cl\n").main(SMALL["vecadd"])
    assert [launch.kernel for launch in here] == [launch.kernel for launch in there]
