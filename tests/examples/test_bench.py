"""The benchmark's arithmetic; it has a goal for every kernel that the examples launch."""

import ast
import sys
from dataclasses import replace

import pytest
from hosts import EXAMPLES

from hls.target.board import load_board

sys.path.insert(0, str(EXAMPLES))
import bench
import moved
from common import Job, Launch

LOOP = {
    "line": 4,
    "label": "i",
    "static_ii": 9,
    "interleaving": 9,
    "scheduled_ii": 1.0,
    "measured_ii": None,
    "iterations": 100,
    "invocations": 1,
}


@pytest.mark.parametrize(("invocations", "least"), [(1, 9.0), (3, 3.0), (9, 1.0), (50, 1.0)])
def test_least_ii_counts_on_every_invocation_that_can_take_turns(invocations, least):
    outer = LOOP | {"static_ii": 1, "iterations": invocations}
    assert bench.least_ii([outer, LOOP | {"invocations": invocations}]) == least


def test_a_kernel_without_loops_needs_one_cycle_a_pass():
    assert bench.least_ii([]) == 1.0


def figure(launch: Launch, cycles: int) -> bench.Figure:
    """A launch that took so many cycles, of 1,000 at least."""
    return bench.Figure(launch, [bench.Run(launch, {"cycles": cycles}, bound=1000.0, seconds=1.0)])


def test_a_goal_is_missed_by_a_cycle_too_many():
    launch = Launch("fir", None, trips=1000, bytes=0)
    assert figure(launch, 1050).met
    assert not figure(launch, 1051).met


def test_a_job_is_the_sum_of_its_launches():
    launches = [Launch(name, None, trips=1000, bytes=0) for name in ("lud_diagonal", "lud_internal")]
    runs = [
        bench.Run(launch, {"cycles": cycles}, bound, seconds=1.0)
        for launch, cycles, bound in zip(launches, (300, 800), (100.0, 900.0))
    ]
    lud = bench.Figure(Job("lud", launches), runs)
    assert (lud.cycles, lud.bound, lud.ratio, lud.met) == (1100, 1000, 1.1, True)


def test_a_case_may_have_a_goal_of_its_own():
    cases = [figure(Launch("read_words", None, 1000, 0, case=case), 1060) for case in ("", "in one bank")]
    assert [run.met for run in cases] == [False, True]


BOARD = load_board("de5net")
#: bytes of a bank in a cycle, and how much of that refresh leaves
BANK, IN_USE = 12.8 * 1000 / 240, 1 - 208 / 6240


def access(buffer, kind, moved, burst=16.0):
    return {
        "line": 1,
        "buffer": buffer,
        "kind": kind,
        "lsu": "burst-coalesced",
        "bytes_used": moved,
        "bytes_moved": moved,
        "average_burst": burst,
        "cache_hit": 0.0 if kind == "load" else None,
    }


def test_bound_of_a_bank_and_of_all_banks():
    launch = Launch("copy_words", None, trips=10, bytes=round(1000 * BANK))
    assert bench.bound(launch, 10, BOARD) == pytest.approx(500, rel=1e-3)
    assert bench.bound(replace(launch, placed={"a": 1, "out": 1}), 10, BOARD) == pytest.approx(1000, rel=1e-3)
    assert bench.bound(replace(launch, placed={"a": 1, "out": 2}), 10, BOARD) == pytest.approx(500, rel=1e-3)
    assert bench.bound(launch, 700, BOARD) == 700


def test_limits_of_what_was_moved():
    stats = {"memory": [access("a", "load", 1000 * BANK), access("out", "store", 1000 * BANK)]}
    launch = Launch("copy_words", None, trips=10, bytes=0)
    spread = moved.limits(launch, stats, BOARD, compute=10.0)
    assert spread["clock"] == 10.0 and spread["bank"] == pytest.approx(1000 / IN_USE)
    assert spread["bank"] < spread["turnaround"] < 1.2 * spread["bank"] and spread["activation"] == 0
    apart = moved.limits(replace(launch, placed={"a": 1, "out": 2}), stats, BOARD, compute=10.0)
    assert apart["bank"] == pytest.approx(1000 / IN_USE) and apart["turnaround"] == 0
    rarely = moved.limits(
        launch, {"memory": [access("a", "load", 64000 * BANK), access("out", "store", 64)]}, BOARD, compute=10.0
    )
    assert rarely["bank"] < rarely["turnaround"] < 1.001 * rarely["bank"]
    together = moved.limits(replace(launch, placed={"a": 2, "out": 2}), stats, BOARD, compute=10.0)
    assert together["bank"] == pytest.approx(2000 / IN_USE) and together["turnaround"] > together["bank"]


def test_random_words_each_open_a_row():
    """Four in 40 ns at each of two banks: one in 5 ns, 1.2 cycles of 240 MHz."""
    assert moved.random_cycles(BOARD) == pytest.approx(1.2 / IN_USE)
    assert moved.limits(Launch("gather", None, 10, 40, random=10), {"memory": []}, BOARD, 10.0)[
        "activation"
    ] == pytest.approx(12 / IN_USE)


def test_units_of_a_kind_share_a_row():
    stats = {
        "cycles": 1000,
        "memory": [
            access("a", "load", 640),
            access("b", "load", 1280, burst=4.0),
            access("c", "store", 640),
            access("d", "store", 0, burst=None),
            access("e", "atomic", 64, burst=None),
        ],
    }
    launch = Launch("join_two", None, 10, 0)
    run = bench.Run(launch, stats, 1000.0, 1.0, moved.limits(launch, stats, BOARD, 900.0))
    rows = list(zip(*(column.cells for column in moved.memory_table([run], BOARD).columns), strict=True))
    assert rows == [
        ("join_two", "", "2 x burst-coalesced load", "1.9", "1.00", "5.3", "0.000", "0.63", "0.025", "clock", "0.900"),
        ("", "", "burst-coalesced store", "0.6", "1.00", "16.0", "-", "", "", "", ""),
        ("", "", "burst-coalesced atomic", "0.1", "1.00", "-", "-", "", "", "", ""),
    ]


#: Kernels at work inside others' launches; the last of their chain is what is measured.
WITHIN = {
    "fetch",
    "smoother",
    "send_rows",
    "send_columns",
    "multiplier",
    "fetch_samples",
    "transform",
    "fetch_keys",
    "network",
    "deal",
    "counter",
    "fetch_pixels",
    "convolve",
    "parser",
}


def test_every_kernel_has_a_goal():
    """What the host programs launch, read from their text: the constants given to Launch, or in the table of
    launches."""
    words = {
        node.value
        for path in EXAMPLES.glob("*/host.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(bench.GOALS) <= words, "a goal for a kernel that no example launches"
    assert {word for case in bench.CASES for word in case} <= words, "a goal for a case that no example has"
    kernels = {
        line.split("(")[0].split()[-1]
        for path in EXAMPLES.glob("*/kernel.cl")
        for line in path.read_text().splitlines()
        if line.startswith("__kernel")
    }
    assert kernels <= set(bench.GOALS) | WITHIN
