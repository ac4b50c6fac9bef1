"""Launches in which each wait counts once or twice: estimates against the cycles of `sluice predict`, which are recorded
here. No hardware is made."""

import numpy as np
import pytest

from hls.model.estimate import estimate
from tests.model.launched import Given, Program

STRIDED = """\
__kernel void strided(__global const int *restrict x, __global int *restrict y, int n, int step)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i * step];
        y[i] = sum;
    }
}
"""
COUNTED = """\
__kernel void counted(__global const int *restrict at, __global int *restrict bins, int n)
{
    for (int i = 0; i < n; i++)
        bins[at[i]] += 1;
}
"""
SEARCHED = """\
__kernel void searched(__global const int *restrict key, __global const int *restrict sorted, __global int *restrict out,
                       int n, int m)
{
    for (int i = 0; i < n; i++) {
        int low = 0, high = m;
        while (low < high) {
            int middle = (low + high) >> 1;
            if (sorted[middle] < key[i])
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}
"""
ROUNDS = """\
__attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void rounds(__global const int *restrict x, __global int *restrict y, int trips)
{
    __local int part[16];
    int k = get_local_id(0);
    part[k] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int round = 0; round < trips; round++) {
        int other = part[(k + 1) & 15];
        barrier(CLK_LOCAL_MEM_FENCE);
        part[k] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = part[k];
}
"""


def cycles(program: Program, given: Given) -> float:
    return estimate(program.kernels[given.kernel], program.workloads(given)[given.kernel], program.board).cycles.likely


def test_the_first_word_of_a_launch_is_waited_for_once():
    """And the words of the first burst behind it, which goes when it is full."""
    program = Program(STRIDED)
    for n, step, replayed in ((1, 9, 114), (8, 9, 126), (40, 9, 180), (40, 256, 162)):
        given = Given("strided", {"x": np.ones(n * step, np.int32), "y": np.zeros(n, np.int32)}, {"n": n, "step": step})
        assert cycles(program, given) == pytest.approx(replayed, rel=0.06), (n, step)


def test_conflicts_follow_each_other_from_hold_to_hold():
    """A count is taken from the store under way: 7 cycles later, or a part of that for each of several bins in turn."""
    program, n = Program(COUNTED), 1000
    for bins, replayed in ((1, 7170), (3, 2508)):
        at = (np.arange(n) % bins).astype(np.int32)
        given = Given("counted", {"at": at, "bins": np.zeros(16, np.int32)}, {"n": n})
        assert cycles(program, given) == pytest.approx(replayed, rel=0.03), bins


def test_invocations_that_take_turns_share_no_words_if_data_decide():
    """Searches begin at the same place, and then go each to words of its own, for which all of them wait."""
    keys, table = np.random.default_rng(7), np.random.default_rng(8)
    n, m = 8, 1024
    buffers = {
        "key": keys.integers(0, 3 * m, n).astype(np.int32),
        "sorted": np.sort(table.integers(0, 3 * m, m).astype(np.int32)),
        "out": np.zeros(n, np.int32),
    }
    assert cycles(Program(SEARCHED), Given("searched", buffers, {"n": n, "m": m})) == pytest.approx(721, rel=0.05)


@pytest.mark.parametrize(("trips", "replayed"), [(1, 81), (8, 361)])
def test_one_group_in_a_barrier_loop(trips, replayed):
    program = Program(ROUNDS, "ecp5_onchip")
    given = Given("rounds", {"x": np.ones(16, np.int32), "y": np.zeros(16, np.int32)}, {"trips": trips}, (16,), (16,))
    assert cycles(program, given) == pytest.approx(replayed, abs=2)
