"""The closed form of kernels with atomic operations on memory outside the chip. No hardware is made."""

import numpy as np
import pytest

from hls.model.estimate import estimate
from tests.model.launched import Given, Program

SOURCE = """
__kernel void bins(__global const int *restrict a, __global int *out, int n) {
    for (int i = 0; i < n; i++) atomic_inc(&out[a[i] & 255]);
}
__kernel void items(__global const int *restrict a, __global int *out, int n) {
    int i = get_global_id(0);
    if (a[i] & 1) atomic_xor(&out[a[i] & n], i);
}
__kernel void chained(__global const int *restrict a, __global int *out, int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = (x + atomic_max(&out[x + i & 63], a[i])) & 1023;
    out[100] = x;
}
__kernel void two(__global const int *restrict a, __global int *out, int n) {
    for (int i = 0; i < n; i++) {
        atomic_or(&out[a[i] & 255], 1 << (i & 31));
        atomic_sub(&out[256 + (a[i] >> 3)], i);
    }
}
__kernel void degrees(__global const int2 *restrict a, __global int *out, int n) {
    int2 e = a[get_global_id(0)];
    atomic_add(&out[e.x & 511], n);
    if (e.x != e.y) atomic_add(&out[e.y & 511], n);
}
__kernel void spread(__global const int *restrict a, __global int *out, int n) {
    for (int i = 0; i < n; i++) atomic_add(&out[a[i]], i);
}
"""
N, ROOM = 2048, 1 << 14
#: work-items, last argument, and the cycles of a replay (`sluice predict`) on de5net
KERNELS = {
    "bins": (1, N, 2399),
    "items": (N, 255, 2311),
    "chained": (1, 512, 6504),
    "two": (1, N, 57947),
    "degrees": (N, 1, 4791),
    "spread": (1, N, 11960),
}


@pytest.fixture(scope="module")
def program():
    return Program(SOURCE)


def predicted(program: Program, kernel: str):
    items, last, _ = KERNELS[kernel]
    values = np.random.default_rng(3).integers(0, ROOM - 256, 2 * N, dtype=np.int32)
    given = Given(kernel, {"a": values, "out": np.zeros(ROOM, np.int32)}, {"n": last}, (items,), (1,))
    return estimate(program.kernels[kernel], program.workloads(given)[kernel], program.board)


@pytest.mark.parametrize("kernel", sorted(KERNELS.keys() - {"spread"}))
def test_operations_on_words_that_the_unit_holds(program, kernel):
    """One a cycle, of all operations on the memory together; 0.87 to 1.01 of the replays."""
    assert predicted(program, kernel).cycles.likely == pytest.approx(KERNELS[kernel][2], rel=0.14)


def test_words_that_leave_the_unit(program):
    """More words than it holds: most operations read one and write another, and some wait until theirs is in memory.
    Reads and writes in turn also take the memory longer, of which the closed form knows little."""
    found = predicted(program, "spread").cycles
    assert 2 * N < found.likely < KERNELS["spread"][2] < 1.2 * found.most
