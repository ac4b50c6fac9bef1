"""Calls that do not block, on the model: what they do depends on the cycle, and is what the simulated board does."""

from pathlib import Path

import numpy as np
import pytest

from sim import cl

BOARDS = Path(__file__).parents[2] / "boards"

SOURCE = """
channel int polled __attribute__((depth(4)));
channel int offered __attribute__((depth(2)));
channel int left __attribute__((depth(8)));
channel int right __attribute__((depth(8)));
channel int both __attribute__((depth(4)));

__kernel void sends(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(polled, a[a[i]]);
}

__kernel void polls(__global int *restrict out, int n) {  // alone on its end: within the pipeline
    int got = 0, tries = 0;
    while (got < n) {
        bool there;
        int x = read_channel_nb_intel(polled, &there);
        if (there) { out[got] = x + tries; got++; }
        tries++;
    }
    out[n] = tries;
}

__kernel void offers(__global int *restrict lost, int n) {  // two calls on one end: by a unit
    int failed = 0;
    for (int i = 0; i < n; i++)
        if (!write_channel_nb_intel(offered, i)) failed++;
    write_channel_intel(offered, -1);
    *lost = failed;
}

__kernel void takes(__global const int *restrict a, __global int *restrict out) {
    int at = 0, count = 0;
    while (1) {
        int x = read_channel_intel(offered);
        if (x < 0) break;
        at = a[(at + x) & 63];
        out[count++] = x;
    }
    out[count] = -1;
}

__attribute__((max_global_work_dim(0))) __attribute__((autorun))
__kernel void arbiter(void) {
    while (1) {
        bool here, there;
        int x = read_channel_nb_intel(left, &here);
        if (here) write_channel_intel(both, x);
        int y = read_channel_nb_intel(right, &there);
        if (there) write_channel_intel(both, 1000 + y);
    }
}

__kernel void lefts(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(left, a[a[i]]);
}

__kernel void rights(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(right, a[i]);
}

__kernel void collects(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(both);
}
"""
N = 64


def run(device):
    """The cycles and the bytes of each of two runs of the groups of kernels."""
    context = cl.create_some_context(board="de5net", device=device)
    program = cl.Program(context, SOURCE).build()
    queues = [cl.CommandQueue(context) for _ in range(3)]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    a = cl.Buffer(context, flags, hostbuf=(np.arange(N, dtype=np.int32) * 7) % N)
    n, found = np.int32(N), []
    for _ in range(2):
        out, lost = (cl.Buffer(context, flags, hostbuf=np.zeros(2 * N + 1, np.int32)) for _ in range(2))
        for group in (
            [(program.sends, a, n), (program.polls, out, n)],
            [(program.takes, a, out), (program.offers, lost, n)],
            [(program.collects, out, np.int32(2 * N)), (program.lefts, a, n), (program.rights, a, n)],
        ):
            events = [kernel(queue, (1,), None, *given) for queue, (kernel, *given) in zip(queues, group)]
            for event in events:
                event.wait()
            bytes_there = np.empty((2, 2 * N + 1), np.int32)
            cl.enqueue_copy(queues[0], bytes_there[0], out).wait()
            cl.enqueue_copy(queues[0], bytes_there[1], lost).wait()
            found.append(([event.stats.to_dict()["cycles"] for event in events], bytes_there.tolist()))
    return found


FAULT = """
channel int polled __attribute__((depth(4)));
__kernel void sends(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(polled, a[a[i]]);
}
__kernel void polls(__global int *restrict out, int n) {
    for (int got = 0, tries = 0; got < n; tries++) {
        bool there;
        int x = read_channel_nb_intel(polled, &there);
        if (there) { out[tries] = x; got++; }
    }
}
"""


def test_a_fault_that_comes_with_what_hardware_does_fails_the_launches():
    """The loop of ``polls`` has more iterations in hardware than were assumed, and leaves its buffer."""
    context = cl.create_some_context(board="de5net", device="model")
    program = cl.Program(context, FAULT).build()
    queues = [cl.CommandQueue(context) for _ in range(2)]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    a = cl.Buffer(context, flags, hostbuf=np.arange(N, dtype=np.int32))

    def launched(size):
        out = cl.Buffer(context, flags, hostbuf=np.full(size, -1, np.int32))
        given = [(program.sends, a), (program.polls, out)]
        return out, [one(queue, (1,), None, there, np.int32(N)) for queue, (one, there) in zip(queues, given)]

    for event in launched(100)[1]:
        with pytest.raises(cl.RuntimeError, match="a write of bytes .* of argument `out` .*leaves its buffer"):
            event.wait()
    out, events = launched(4096)
    for event in events:
        event.wait()
    found = np.empty(4096, np.int32)
    cl.enqueue_copy(queues[0], found, out).wait()
    assert found[found >= 0].tolist() == list(range(N)) and found[100:].max() >= 0


STREAMED = """
channel int from_wire __attribute__((io("rx")));
channel int to_wire __attribute__((io("tx")));
channel int polled __attribute__((depth(4)));
__kernel void sends(int n) {
    for (int i = 0; i < n; i++) write_channel_intel(polled, read_channel_intel(from_wire));
}
__kernel void polls(__global int *restrict tries, int n) {
    for (int got = 0; got < n; *tries += 1) {
        bool there;
        int x = read_channel_nb_intel(polled, &there);
        if (there) { write_channel_intel(to_wire, x); got++; }
    }
}
"""
STREAMS = "".join(
    f'[[stream]]\nname = "{name}"\ndirection = "{way}"\nbits = 32\n' for name, way in (("rx", "in"), ("tx", "out"))
)


def test_streams_while_launches_run_again(tmp_path):
    """What the host feeds after the launch is there again, and what it takes is what hardware writes, once."""
    board, values = tmp_path / "networked.toml", np.arange(N, dtype=np.int32) * 3
    board.write_text((BOARDS / "de5net.toml").read_text() + STREAMS)
    context = cl.create_some_context(board=str(board), device="model")
    program = cl.Program(context, STREAMED).build()
    queues = [cl.CommandQueue(context) for _ in range(2)]
    tries = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))
    for _ in range(2):
        events = [program.sends(queues[0], (1,), None, np.int32(N))]
        events.append(program.polls(queues[1], (1,), None, tries, np.int32(N)))
        program.stream("rx").feed(values[: N // 2])
        with pytest.raises(cl.RuntimeError, match="kernel sends has not ended, .* take the values then"):
            program.stream("tx").take()
        program.stream("rx").feed(values[N // 2 :])
        assert program.stream("tx").take(np.int32).tolist() == values.tolist()
        for event in events:
            event.wait()
        assert not program.stream("tx").take().size


@pytest.fixture(scope="module")
def predicted():
    return run("model")


def test_every_value_arrives(predicted):
    sends, offers, both = (found for _, found in predicted[:3])
    tries = sends[0][N]
    assert tries > N
    taken, failed = offers[0][: offers[0].index(-1)], offers[1][0]
    assert len(taken) + failed == N and 0 < failed < N and taken == sorted(set(taken))
    values, order = both[0][: 2 * N], [(7 * k) % N for k in range(N)]
    assert [x for x in values if x < 1000] == [order[x] for x in order]
    assert [x - 1000 for x in values if x >= 1000] == order


def test_a_second_run_differs_by_the_state_of_the_memory_alone(predicted):
    for (first, _), (second, _) in zip(predicted[:3], predicted[3:]):
        assert [abs(one - other) <= 0.05 * one for one, other in zip(first, second)] == [True] * len(first)


@pytest.mark.verilator
def test_cycles_and_bytes_are_those_of_the_board(predicted):
    measured = run("board")
    for (here, _), (there, _) in zip(predicted, measured, strict=True):
        assert all(abs(one - other) <= max(3, 0.01 * other) for one, other in zip(here, there)), (here, there)
    assert predicted[0][1] == measured[0][1]
