"""The closed form of nests that run an iteration a cycle although a part of them alone would not. No hardware is made."""

import numpy as np
import pytest

from hls.model.estimate import estimate
from tests.model.launched import Given, Program

TEXT = """
__kernel void mark(__global const int *restrict chosen, __global const int *restrict weight, __global int *restrict sum)
{
    int i = get_global_id(0);
    if (chosen[i]) {
        int found = 0;
        for (int k = 0; k < chosen[i]; k++)
            found += weight[k];
        sum[i] = found;
    }
}
__kernel void lightest(__global const float *restrict in, __global float *restrict out, int rows, int columns)
{
    float x = in[get_global_id(0)], least = 1e30f;
    for (int r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int c = 0; c < columns; c++)
            sum += x * (r - c);
        least = sum < least ? sum : least;
    }
    out[get_global_id(0)] = least;
}
__kernel void smooth(__global const int *restrict in, __global int *restrict out, int height, int width)
{
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
            int sum = 0;
            #pragma unroll
            for (int dy = -1; dy <= 1; dy++)
                #pragma unroll
                for (int dx = -1; dx <= 1; dx++)
                    sum += in[(y + dy) * width + x + dx];
            out[y * width + x] = sum;
        }
}
"""
RNG = np.random.default_rng(7)


@pytest.fixture(scope="module")
def program():
    return Program(TEXT)


def cycles(program: Program, given: Given) -> float:
    workload = program.workloads(given)[given.kernel]
    return estimate(program.kernels[given.kernel], workload, program.board).cycles.likely


def test_work_items_that_skip_a_loop_do_not_hold_it(program):
    """The loop is entered by 4 of 4,096 work-items, for 20 iterations each."""
    chosen = np.zeros(4096, np.int32)
    chosen[::1024] = 20
    buffers = {"chosen": chosen, "weight": np.arange(64, dtype=np.int32), "sum": np.zeros(4096, np.int32)}
    assert 4096 < cycles(program, Given("mark", buffers, {}, (4096,), (64,))) < 1.15 * 4096


def test_rows_of_the_next_work_item_fill_the_slots(program):
    """Three rows of one work-item would leave slots of the sum free: those of the next work-items take them."""
    buffers = {name: RNG.random(1024, np.float32) for name in ("in", "out")}
    found = cycles(program, Given("lightest", buffers, {"rows": 3, "columns": 10}, (1024,), (64,)))
    assert found == pytest.approx(1024 * 3 * 10, rel=0.02)


def test_neighbours_in_rows_of_any_width_share_words(program):
    buffers = {name: np.arange(66 * 130, dtype=np.int32) for name in ("in", "out")}
    found = cycles(program, Given("smooth", buffers, {"height": 66, "width": 130}))
    assert found == pytest.approx(64 * 128, rel=0.06)
