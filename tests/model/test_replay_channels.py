"""Kernels joined by channels on the model: their cycles are those of the simulated board."""

import numpy as np
import pytest

from sim import cl

SOURCE = """
channel int raw __attribute__((depth(8)));
channel int done __attribute__((depth(64)));
channel int pairs;
channel int loose __attribute__((depth(4)));

__kernel void fetch(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(raw, a[i]);
}

__attribute__((max_global_work_dim(0))) __attribute__((autorun))
__kernel void twice(void) {
    int before = 0;
    while (1) {
        int x = read_channel_intel(raw);
        write_channel_intel(done, 2 * x + before);
        before = x & 1;
    }
}

__kernel void split(int n) {
    for (int i = 0; i < n; i++) {
        int x = read_channel_intel(done);
        write_channel_intel(pairs, x);
        if (i % 3 == 0) write_channel_intel(pairs, -x);
    }
}

__kernel void gather(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j < 4; j++) sum = (sum * 3) ^ read_channel_intel(pairs);
        out[i] = sum;
    }
}

__kernel void fill(int n) {
    for (int i = 0; i < n; i++) write_channel_intel(loose, i);
}

__kernel void empty(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(loose);
}
"""
N = 300


def run(device):
    """The cycles of each launch, and the bytes, of two runs of all kernels."""
    context = cl.create_some_context(board="de5net", device=device)
    program = cl.Program(context, SOURCE).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    a = cl.Buffer(context, flags, hostbuf=np.arange(N, dtype=np.int32))
    out = cl.Buffer(context, flags, hostbuf=np.zeros(N // 3, np.int32))
    queues = [cl.CommandQueue(context) for _ in range(3)]
    cycles = []
    for _ in range(2):
        events = [
            program.fetch(queues[0], (1,), None, a, np.int32(N)),
            program.split(queues[1], (1,), None, np.int32(N)),
            program.gather(queues[2], (1,), None, out, np.int32(N // 3)),
        ]
        for event in events:
            event.wait()
        cycles += [event.stats.to_dict()["cycles"] for event in events]
    found = np.empty(N // 3, np.int32)
    cl.enqueue_copy(queues[2], found, out).wait()
    return cycles, found.tolist()


@pytest.mark.verilator
def test_cycles_are_those_of_the_board():
    measured, bytes_there = run("board")
    predicted, bytes_here = run("model")
    assert bytes_here == bytes_there
    # a replay begins with all rows of the memory closed, the board's later launches do not
    for here, there, most in zip(predicted, measured, [1, 1, 1, 8, 8, 8], strict=True):
        assert abs(here - there) <= most, (predicted, measured)


@pytest.fixture(scope="module")
def program():
    return cl.Program(cl.create_some_context(board="de5net", device="model"), SOURCE).build()


def test_a_reader_waits_for_its_writer(program):
    predicted, _ = run("model")
    fetch, split, gather, *again = predicted
    assert split > 4 * N / 3 and gather >= 4 * N / 3 and fetch >= N
    assert [abs(one - other) <= 8 for one, other in zip(predicted[:3], again, strict=True)] == [True] * 3


def test_values_stay_in_a_channel_from_launch_to_launch(program):
    queue = cl.CommandQueue(program.context)
    out = cl.Buffer(program.context, cl.mem_flags.READ_WRITE, 4 * 4)
    program.fill(queue, (1,), None, np.int32(4)).wait()
    cycles = program.empty(queue, (1,), None, out, np.int32(4)).stats.to_dict()["cycles"]
    found = np.empty(4, np.int32)
    cl.enqueue_copy(queue, found, out).wait()
    assert found.tolist() == [0, 1, 2, 3] and 4 < cycles < 400


def test_a_launch_that_is_waited_for_too_early_says_what_to_do():
    context = cl.create_some_context(board="de5net", device="model")
    program = cl.Program(context, SOURCE).build()
    first, second = cl.CommandQueue(context), cl.CommandQueue(context)
    out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * 8)
    program.empty(second, (1,), None, out, np.int32(8))  # waits for more than the next launch gives
    event = program.fill(first, (1,), None, np.int32(4))
    with pytest.raises(cl.RuntimeError, match="launch all kernels before the first is waited for"):
        event.wait()
