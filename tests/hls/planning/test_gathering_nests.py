"""Nests that gather what their outer loop stores are one loop where that takes fewer cycles, and others stay nests."""

import numpy as np
import pytest

from hls.diag import Code
from hls.driver import plan_text
from hls.ir.interpreter import run_kernel
from hls.options import Options
from hls.planning import iterate
from hls.target.board import load_board
from tests.benchmarks.suite import CASES
from tests.plans import planned

BOARD = "ecp5_onchip"
_optimize = iterate.optimize_alone
HEAD = (
    "__kernel void k(__global const int *restrict row, __global const int *restrict edge, __global int *restrict to, "
    "int n)"
)
#: each node takes the least of its neighbours, of those of this pass where they come before it
LEAST = """{
    for (int v = 0; v < n; v++) {
        int least = to[v];
        for (int e = row[v]; e < row[v + 1]; e++)
            if (%s < least)
                least = to[edge[e]];
        to[v] = least;
    }
}"""
GATHER = HEAD + LEAST % "to[edge[e]]"


def shape(text: str) -> tuple[list[str], dict[str, int]]:
    """How loops were merged, and the II of each."""
    kernel = planned(text, BOARD)["k"]
    return [one.how for one in kernel.merged], {loop.attrs["label"]: at.ii for loop, at in kernel.plan.loops.items()}


def test_a_gathering_nest_is_one_loop():
    merged, intervals = shape(GATHER)
    assert merged == ["coalesced"] and intervals.keys() == {"v"} and intervals["v"] <= 2


@pytest.mark.parametrize("seed", range(4))
def test_the_same_numbers(seed):
    """Rows without an edge, and edges from a node to itself and to the one before it, are among them."""
    rng, n = np.random.default_rng(seed), 12
    row = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))]).astype(np.int32)
    edge = rng.integers(0, n, max(1, row[-1])).astype(np.int32)
    to = rng.integers(0, 99, n).astype(np.int32)
    found = {"row": bytearray(row.tobytes()), "edge": bytearray(edge.tobytes()), "to": bytearray(to.tobytes())}
    run_kernel(planned(GATHER, BOARD)["k"].function, "k", found, {"n": n}, (1,))
    for v in range(n):
        to[v] = min([to[v], *to[edge[row[v] : row[v + 1]]]])
    assert np.frombuffer(found["to"], np.int32).tolist() == to.tolist()


def test_a_nest_with_a_wish_of_the_source_stays():
    merged, intervals = shape(GATHER.replace("for (int v", "\n#pragma max_concurrency 1\nfor (int v"))
    assert merged == [] and len(intervals) == 2


@pytest.mark.parametrize(
    "text",
    [
        HEAD + (LEAST % "to[e]").replace("to[edge[e]]", "to[e]"),  # in order: the element just stored may be the next
        GATHER.replace("least = to[edge[e]];", "to[edge[e]] = least;"),  # the inner loop stores what it gathers
    ],
)
def test_other_nests_do_not_gather(text):
    """They are one loop by the test of the inner one, where a store is as near to a load as the schedule says."""
    assert [one.by_test for one in planned(text, BOARD)["k"].merged] == [True]


def test_a_nest_whose_inner_loop_is_conditional_stays_and_is_tried_once():
    """It cannot be coalesced: the attempt ends, and nothing is said of a pragma that the source does not have."""
    text = GATHER.replace("for (int e", "if (least > 3)\n        for (int e")
    plan = plan_text(text, load_board(BOARD), Options(), "k.cl")
    (kernel,) = plan.kernels
    assert (kernel.merged, len(kernel.plan.loops), list(plan.warnings)) == ((), 2, [])


@pytest.mark.parametrize("name", ["trisolv", "insertion_sort", "bfs_queue"])
def test_nests_that_would_meet_their_stores_stay(name):
    """As one loop each takes more cycles: an iteration reads what the one before it stored, or the inner loop stores."""
    (case,) = [one for one in CASES if one.kernel == name]
    assert "coalesced" not in [one.how for one in planned(case.source, BOARD)[name].merged]


def test_a_row_of_the_longest_common_subsequence_has_an_interval_of_one():
    (case,) = [one for one in CASES if one.kernel == "lcs"]
    assert [at.ii for at in planned(case.source, BOARD)["lcs"].plan.loops.values()] == [1, 1, 1]


def _several(body: str, count: int) -> str:
    """A kernel with ``count`` such nests behind each other."""
    return HEAD + "{\n" + "".join(body.strip()[1:-1] for _ in range(count)) + "}\n"


def test_each_nest_of_a_kernel_is_tried_once(monkeypatch):
    """In each of the two ways, also where none becomes one loop: the attempts grow with the nests, not with their
    subsets."""
    attempts = []
    monkeypatch.setattr(iterate, "optimize_alone", lambda *given: attempts.append(given) or _optimize(*given))
    stays = (LEAST % "to[edge[e]]").replace("for (int e", "if (least > 3)\n        for (int e")
    plan = plan_text(_several(stays, 3), load_board(BOARD), Options(), "k.cl")
    assert (len(attempts), list(plan.warnings)) == (2 * 3, [])


def test_several_nests_become_one_loop_each():
    plan = plan_text(_several(LEAST % "to[edge[e]]", 3), load_board(BOARD), Options(), "k.cl")
    assert [one.how for one in plan.kernels[0].merged] == ["coalesced"] * 3


def test_attempts_end_with_their_budget(monkeypatch):
    """A note names the first nest that is left out, and how many more there are."""
    monkeypatch.setattr(iterate, "MOST_WORK", 0)
    plan = plan_text(_several(LEAST % "to[edge[e]]", 2), load_board(BOARD), Options(), "k.cl")
    (note,) = plan.warnings
    assert plan.kernels[0].merged == () and (note.severity, note.code) == ("note", Code.NESTS_UNTRIED)
    assert note.span.line == 3 and ", and 1 more:" in note.message and "loop_coalesce 2" in note.hint
