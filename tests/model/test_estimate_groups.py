"""The closed form of kernels with work-groups: barriers, barrier loops, lanes and compute units. No hardware is made."""

import numpy as np
import pytest

from hls.model.estimate import estimate
from tests.model.launched import Given, Program

TILED = """
#define T 8
#define TILED(NAME, UNROLL, ATTRIBUTES) \\
ATTRIBUTES __attribute__((reqd_work_group_size(T, T, 1))) \\
__kernel void NAME(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, \\
                   int n) \\
{ \\
    __local float ta[T][T], tb[T][T]; \\
    int x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1); \\
    float sum = 0.0f; \\
    for (int t = 0; t < n; t += T) { \\
        ta[y][x] = a[gy * n + t + x]; \\
        tb[y][x] = b[(t + y) * n + gx]; \\
        barrier(CLK_LOCAL_MEM_FENCE); \\
        UNROLL \\
"""
REST = """
        for (int k = 0; k < T; k++) sum += ta[y][k] * tb[k][x]; \\
        barrier(CLK_LOCAL_MEM_FENCE); \\
    } \\
    c[gy * n + gx] = sum; \\
}
TILED(tiled, _Pragma("unroll 1"), )
TILED(unrolled, _Pragma("unroll"), )
TILED(lanes, _Pragma("unroll"), __attribute__((num_simd_work_items(2))))
TILED(units, _Pragma("unroll"), __attribute__((num_compute_units(2))))
__kernel void turned(__global const int *restrict a, __global int *restrict b)
{
    __local int part[256];
    int l = get_local_id(0);
    part[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = part[get_local_size(0) - 1 - l];
}
__attribute__((num_compute_units(2)))
__attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void scattered(__global const int *restrict a, __global const int *restrict at, __global int *restrict b)
{
    b[get_global_id(0)] = a[at[get_global_id(0)]];
}
__attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void scattered_alone(__global const int *restrict a, __global const int *restrict at, __global int *restrict b)
{
    b[get_global_id(0)] = a[at[get_global_id(0)]];
}
"""
#: cycles of 64 x 64 matrices on de5net, measured in RTL
MEASURED = {"tiled": 262524, "unrolled": 33098, "lanes": 16700}
RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def program():
    return Program(TILED.rstrip("\n") + REST)


def predicted(program: Program, given: Given):
    workload = program.workloads(given)[given.kernel]
    return estimate(program.kernels[given.kernel], workload, program.board)


def product(name: str, n: int = 64) -> Given:
    a, b = (RNG.random((n, n), np.float32) for _ in range(2))
    return Given(name, {"a": a, "b": b, "c": np.zeros_like(a)}, {"n": n}, (n, n), (8, 8))


@pytest.mark.parametrize("kernel", MEASURED)
def test_measured(program, kernel):
    assert predicted(program, product(kernel)).cycles.likely == pytest.approx(MEASURED[kernel], rel=0.015)


def test_one_group_goes_round_alone(program):
    """Nothing fills the barrier loop, so each of its iterations takes the time of a whole round."""
    found = predicted(program, product("unrolled", 8))
    many = predicted(program, product("unrolled"))
    (ring,) = [one for one in many.loops if one.cause == "barrier loop" or one.interleaved > 64]
    assert ring.alone > 2 * 64, "a group waits for its last work-item at both barriers"
    assert found.cycles.likely > ring.alone


def test_a_barrier_delays_by_the_rest_of_the_group(program):
    def cycles(group: int) -> float:
        given = Given(
            "turned", {"a": np.arange(512, dtype=np.int32), "b": np.zeros(512, np.int32)}, {}, (512,), (group,)
        )
        return predicted(program, given).cycles.likely

    assert cycles(256) - cycles(128) == pytest.approx(128, abs=2)


def test_units_divide_the_work(program):
    one, two = (predicted(program, product(name)).cycles.likely for name in ("unrolled", "units"))
    assert one / two == pytest.approx(2, rel=0.06)


def test_units_share_the_memory(program):
    size = 1 << 14
    at = RNG.permutation(size * 64)[:size].astype(np.int32)
    buffers = {"a": np.zeros(size * 64, np.int32), "at": at, "b": np.zeros(size, np.int32)}
    one, two = (
        predicted(program, Given(name, buffers, {}, (size,), (16,))).cycles.likely
        for name in ("scattered_alone", "scattered")
    )
    assert one > 1.15 * size, "rows of the memory limit it"
    assert two == pytest.approx(one, rel=0.05)


def test_lanes_run_a_loop_together(program):
    one, two = (
        sum(loop.iterations for loop in predicted(program, product(name)).loops) for name in ("unrolled", "lanes")
    )
    assert one == 2 * two


SUMS = """
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void sums(__global const float *restrict in, __global float *restrict out, int n)
{
    __local float part[64];
    int l = get_local_id(0);
    float s = 0;
    for (int i = get_group_id(0) * 64 + l; i < n; i += 64 * get_num_groups(0)) s += in[i] + in[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 32; k > 0; k >>= 1) {
        if (l < k) part[l] += part[l + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}
"""
#: cycles in RTL, and of the replay
MEASURED_SUMS = 8823


def test_the_last_items_of_a_loop_share_the_barrier_loop_behind_it():
    """Those that end together go through the six barriers together."""
    program = Program(SUMS, "ecp5_onchip")
    given = Given("sums", {"in": np.ones(8192, np.float32), "out": np.zeros(4, np.float32)}, {"n": 8192}, (256,), (64,))
    found = estimate(program.kernels["sums"], program.workloads(given)["sums"], program.board)
    assert found.cycles.likely == pytest.approx(MEASURED_SUMS, rel=0.01)
