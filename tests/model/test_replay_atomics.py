"""Atomic operations on the board's memory on the model: their bytes and cycles are those of the simulated board."""

import numpy as np
import pytest

from sim import cl

SOURCE = """
__kernel void bins(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) atomic_inc(&out[a[i] & 255]);
}
__kernel void spread(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) atomic_add(&out[a[i]], i);
}
__kernel void items(__global const int *restrict a, __global int *restrict out, int n) {
    int i = get_global_id(0);
    if (a[i] & 1) atomic_xor(&out[a[i] & n], i);
}
__kernel void tickets(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) if (a[i] & 1) out[1 + atomic_inc(&out[0])] = a[i];
}
__kernel void chained(__global const int *restrict a, __global int *restrict out, int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = (x + atomic_max(&out[x + i & 63], a[i])) & 1023;
    out[100] = x;
}
__kernel void two(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        atomic_or(&out[a[i] & 255], 1 << (i & 31));
        atomic_sub(&out[256 + (a[i] >> 3)], i);
    }
}
"""
N, ROOM = 512, 1 << 14
#: global size and last argument
KERNELS = {"bins": (1, N), "spread": (1, N), "items": (N, 255), "tickets": (1, 128), "chained": (1, 128), "two": (1, N)}
#: words at random go to rows of the memory, which are open or closed as the launch before has left them
WORST = {"spread": 0.02}
TIMES = 3  #: launches of each kernel, of which the one counts that a refresh of the memory delays least


def run(device):
    """The cycles of each kernel, and the bytes that it leaves."""
    context = cl.create_some_context(board="de5net", device=device)
    program, queue = cl.Program(context, SOURCE).build(), cl.CommandQueue(context)
    flags, found = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, {}
    values = np.random.default_rng(3).integers(0, ROOM - 256, N, dtype=np.int32)
    for name, (size, n) in KERNELS.items():
        cycles = []
        for _ in range(TIMES):
            a = cl.Buffer(context, flags, hostbuf=values)
            out = cl.Buffer(context, flags, hostbuf=np.zeros(ROOM, np.int32))
            event = getattr(program, name)(queue, (size,), None, a, out, np.int32(n))
            cycles.append(event.stats.to_dict()["cycles"])
        after = np.empty(ROOM, np.int32)
        cl.enqueue_copy(queue, after, out).wait()
        found[name] = min(cycles), after.tobytes()
    return found


@pytest.mark.verilator
def test_cycles_are_those_of_the_board():
    predicted, measured = run("model"), run("board")
    for name, (cycles, after) in measured.items():
        assert predicted[name][1] == after, name
        assert abs(predicted[name][0] / cycles - 1) <= WORST.get(name, 0.01), (name, predicted[name][0], cycles)
