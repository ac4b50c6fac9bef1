"""Nests that wait for external memory in each row are one loop where that takes fewer cycles, and others stay nests."""

from pathlib import Path

import pytest

from tests.benchmarks.suite import CASES
from tests.plans import planned, planned_alone

BOARD = "de5net"
SOURCE = (Path(__file__).parents[2] / "kernels" / "waiting_nests.cl").read_text()
HEAD = "__kernel void k(__global int *restrict a, __global const int *restrict b, int n)"


@pytest.mark.parametrize(("name", "loops"), [("levels", ["t"]), ("eliminate", ["i", "k"]), ("spread", ["v"])])
def test_a_nest_that_waits_for_memory_is_one_loop(name, loops):
    kernel = planned(SOURCE, BOARD)[name]
    assert [one.how for one in kernel.merged if one.how == "coalesced"] == ["coalesced"]
    assert sorted(loop.attrs["label"] for loop in kernel.plan.loops) == loops


def test_it_compares_addresses_and_no_iteration_waits_for_a_store():
    kernel = planned(SOURCE, BOARD)["levels"]
    ((loop, region),) = kernel.plan.loops.items()
    assert region.ii == 1 and not any(op.opcode == "fence" for op in loop.regions[0].ops)


def test_on_the_chip_nothing_waits_and_the_nests_stay():
    assert {len(planned(SOURCE, "ecp5_onchip")[name].plan.loops) for name in ("levels", "eliminate")} == {2, 3}


#: nests that stay, by what would take longer in one loop
OTHERS = {
    "a sum in memory is kept in a register": """
    for (int i = 0; i < n; i++) {
        a[i] = b[i];
        for (int j = 0; j < i; j++)
            a[i] -= b[i * n + j] * a[j];
        a[i] *= 3;
    }""",
    "the greater of two neighbours moves on in a register": """
    for (int e = n - 1; e > 0; e--)
        for (int i = 0; i < e; i++)
            if (a[i] > a[i + 1]) {
                int t = a[i];
                a[i] = a[i + 1];
                a[i + 1] = t;
            }""",
    "each iteration waits for what the one before loads": """
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i - 1;
        while (j >= 0 && a[j] > x) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = x;
    }""",
    "the source has a wish": """
    #pragma max_concurrency 1
    for (int t = 1; t < n; t++)
        for (int s = 0; s < 99; s++)
            a[t * 99 + s] = a[t * 99 - s] + b[s];""",
}


@pytest.mark.parametrize("why", OTHERS)
def test_other_nests_stay(why):
    kernel = planned(f"{HEAD} {{{OTHERS[why]}\n}}", BOARD)["k"]
    assert (kernel.merged, len(kernel.plan.loops)) == ((), 2)


@pytest.mark.parametrize("name", ["jacobi", "merge_sort"])
def test_benchmarks_that_would_take_longer_as_one_loop_stay_nests(name):
    (case,) = [one for one in CASES if one.kernel == name]
    (kernel,) = planned_alone(case.source, name, BOARD, copy_bytes=0)
    assert kernel.merged == ()
