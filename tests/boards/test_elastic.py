"""Stall-enabled levels: the same bytes with memory that stalls, too, and with random stalls everywhere."""

import numpy as np
import pytest

from .golden import inputs
from .onchip import Machine, build, together

NAMES = ("vecadd", "dot_product", "matmul")

#: conditions and trips that depend on data: pushes that are off, a loop whose continue condition waits for memory
GUARDED = """
kernel void guarded(global const int *restrict a, global int *restrict c, int n)
{
    for (int i = 0; i < n; i++) {
        int x = a[i], steps = 0;
        while (x > 1 && steps < 40) {
            x = (x & 1) ? 3 * x + 1 : x >> 1;
            steps++;
        }
        if (a[i] & 2)
            c[i] = steps;
    }
}
"""


def guarded(values):
    def steps(x):
        count = 0
        while x > 1 and count < 40:
            x, count = (3 * x + 1 if x & 1 else x >> 1), count + 1
        return count

    return np.array([steps(int(v)) if v & 2 else -1 for v in values], np.int32)


def levels(result):
    return [level for k in result.kernels for plan in (k.plan.top, *k.plan.loops.values()) for level in plan.levels]


def test_depth_says_which_levels_are_elastic():
    for depth in (0, 3, 99):
        result = build(together(NAMES), "de5net", elastic_depth=depth)
        assert {level.elastic for level in levels(result)} <= {True, False}
        assert all(level.elastic == (0 < level.depth <= depth) for level in levels(result))


@pytest.mark.verilator
@pytest.mark.parametrize("board", ["de5net", "ecp5_onchip"])
@pytest.mark.parametrize("depth", [3, 99])
def test_same_bytes_with_random_stalls(board, depth):
    result = build(together(NAMES) + GUARDED, board, elastic_depth=depth, random_stalls=True)
    for seed in (0, 1, 2):
        with Machine(result, seed) as machine:
            for name in NAMES:
                arrays, expected = inputs(name, seed + 1)
                machine.run(name, arrays, {}, {})
                assert np.array_equal(arrays["c"], expected), (name, seed)
            values = np.random.default_rng(seed).integers(0, 60, 50, np.int32)
            arrays = {"a": values, "c": np.full(50, -1, np.int32)}
            machine.run("guarded", arrays, {"n": 50}, {})
            assert np.array_equal(arrays["c"], guarded(values)), seed
