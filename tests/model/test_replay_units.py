"""Kernels of several compute units on the model: their bytes and cycles are those of the simulated board."""

import numpy as np
import pytest

from sim import cl

SOURCE = """
__attribute__((num_compute_units(2))) __attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void scaled(__global const int *restrict a, __global int *restrict out, int n) {
    int i = get_global_id(0);
    out[i] = a[i] * n + get_group_id(0);
}

__attribute__((num_compute_units(3))) __attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void loops(__global const int *restrict a, __global int *restrict out, int n) {
    int i = get_global_id(0), x = a[i];
    int rounds = 1 + get_group_id(0) % 5 * n;
    for (int k = 0; k < rounds; k++) x = x * 5 + (x >> 3) + k;
    out[i] = x;
}

__attribute__((num_compute_units(2))) __attribute__((reqd_work_group_size(8, 4, 1)))
__kernel void meeting(__global const int *restrict a, __global int *restrict out, int n) {
    __local int kept[32];
    int l = get_local_id(1) * 8 + get_local_id(0);
    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    kept[l] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 16; s > 0; s >>= 1) {
        if (l < s) kept[l] += kept[l + s] ^ n;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = kept[l & 3];
}

__attribute__((num_compute_units(4))) __attribute__((max_work_group_size(4)))
__kernel void alone(__global const int *restrict a, __global int *restrict out, int n) {
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k <= i % n; k++) sum = sum * 3 + a[i + k];
    out[i] = sum;
}

__attribute__((num_compute_units(2))) __attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void numbered(__global int *restrict out) { out[get_global_id(0)] = get_compute_id(0); }
"""
N = 256
#: global size, size of a group, and the last argument of each kernel
KERNELS = {
    "scaled": ((N,), (16,), 3),
    "loops": ((N,), (8,), 7),
    "meeting": ((32, 8), (8, 4), 2),
    "alone": ((N // 2,), (2,), 9),
}


#: launches of each kernel, of which the one counts that a refresh of the memory delays least
TIMES = {"ecp5_onchip": 1, "de5net": 3}


def run(board, device):
    """The cycles of each kernel, and the bytes that it leaves."""
    context = cl.create_some_context(board=board, device=device)
    program, queue = cl.Program(context, SOURCE).build(), cl.CommandQueue(context)
    flags, found = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, {}
    values = np.random.default_rng(5).integers(0, 1 << 16, N, dtype=np.int32)
    for name, (size, group, n) in KERNELS.items():
        cycles = []
        for _ in range(TIMES[board]):
            a, out = (cl.Buffer(context, flags, hostbuf=values) for _ in range(2))
            event = getattr(program, name)(queue, size, group, a, out, np.int32(n))
            cycles.append(event.stats.to_dict()["cycles"])
        after = np.empty(N, np.int32)
        cl.enqueue_copy(queue, after, out).wait()
        found[name] = min(cycles), after.tolist()
    return found


@pytest.mark.verilator
@pytest.mark.parametrize("board, most", [("ecp5_onchip", 0.0), ("de5net", 0.01)])
def test_cycles_are_those_of_the_board(board, most):
    predicted, measured = run(board, "model"), run(board, "board")
    for name, (cycles, after) in measured.items():
        assert predicted[name][1] == after, name
        assert abs(predicted[name][0] / cycles - 1) <= most, (name, predicted[name][0], cycles)


def test_groups_of_one_length_come_to_the_units_in_turn():
    context = cl.create_some_context(board="ecp5_onchip", device="model")
    program, queue = cl.Program(context, SOURCE).build(), cl.CommandQueue(context)
    out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * N)
    program.numbered(queue, (N,), (8,), out).wait()
    found = np.empty(N, np.int32)
    cl.enqueue_copy(queue, found, out).wait()
    assert found.reshape(-1, 8).tolist() == [[group % 2] * 8 for group in range(N // 8)]
