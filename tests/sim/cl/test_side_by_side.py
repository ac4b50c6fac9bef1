"""Launches of several queues on the board: concurrent in simulated time, with one memory, in the order of queues and
events."""

import itertools

import numpy as np
import pytest

from sim import cl

pytestmark = pytest.mark.verilator
mf = cl.mem_flags
COUNT = 4
KERNELS = """
__kernel void compute{k}(__global uint *restrict o, int n) {{ uint x = {k}; for (int i = 0; i < n; i++) x = x * 1664525u + 1013904223u; o[0] = x; }}
__kernel void move{k}(__global const int16 *restrict a, __global int16 *restrict o, int n) {{ for (int i = 0; i < n; i++) o[i] = a[i] + {k}; }}
"""
MORE = """
__kernel void add(__global int *restrict o, int x, int n) { for (int i = 0; i < n; i++) o[i] += x; }
__kernel void scale(__global int *restrict o, int x, int n) { for (int i = 0; i < n; i++) o[i] *= x; }
"""
STEPS, WORDS = 1500, 2048


class Board:
    def __init__(self):
        self.context = cl.create_some_context(board="de5net")
        self.queues = [cl.CommandQueue(self.context) for _ in range(COUNT)]
        self.program = cl.Program(self.context, MORE + "".join(KERNELS.format(k=k) for k in range(COUNT))).build()
        self.program._system.hasty = True
        self.data = [np.random.default_rng(k).integers(-999, 999, 16 * WORDS).astype(np.int32) for k in range(COUNT)]
        self.sources = [cl.Buffer(self.context, mf.COPY_HOST_PTR, hostbuf=data) for data in self.data]
        self.targets = [cl.Buffer(self.context, mf.READ_WRITE, 64 * WORDS) for _ in range(COUNT)]

    def compute(self, k, queue):
        return cl.Kernel(self.program, f"compute{k}")(self.queues[queue], (1,), None, self.targets[k], np.int32(STEPS))

    def move(self, k, queue):
        return cl.Kernel(self.program, f"move{k}")(
            self.queues[queue], (1,), None, self.sources[k], self.targets[k], np.int32(WORDS)
        )

    def host(self, buffer, queue=0):
        found = np.empty(buffer.size // 4, np.int32)
        cl.enqueue_copy(self.queues[queue], found, buffer)
        return found


@pytest.fixture(scope="module")
def board():
    running = Board()
    yield running
    running.program._system.close()


def span(events):
    """Simulated time from the first start to the last end."""
    for event in events:
        event.wait()
    return max(event.profile.end for event in events) - min(event.profile.start for event in events)


def test_four_that_compute_take_the_time_of_one(board):
    one = span([board.compute(0, 0)])
    together = [board.compute(k, k) for k in range(COUNT)]
    assert one <= span(together) < 1.1 * one
    in_order = [board.compute(k, 0) for k in range(COUNT)]
    assert 4 * one < span(in_order) < 4.6 * one
    for before, behind in itertools.pairwise(in_order):
        assert before.profile.end <= behind.profile.start


def test_four_that_move_take_four_times_the_time_of_one(board):
    """They share the bandwidth of the memory; what they wait for it is accounted to their accesses, and every byte is
    right."""
    alone = board.move(0, 0)
    one = span([alone])
    for target in board.targets:
        cl.enqueue_fill_buffer(board.queues[0], target, np.int32(0), 0, target.size)
    together = [board.move(k, k) for k in range(COUNT)]
    assert 3.5 * one < span(together) < 5 * one
    for k, event in enumerate(together):
        stats, before = event.stats.to_dict(), alone.stats.to_dict()
        assert sum(account["cycles"] for account in stats["accounts"]) == stats["cycles"]
        assert stats["memory"][0]["bytes_used"] == before["memory"][0]["bytes_used"] == 64 * WORDS
        issued, waited = (
            sum(a["cycles"] for a in stats["accounts"] if (a["cause"] == "issued") == kind) for kind in (True, False)
        )
        assert issued == sum(a["cycles"] for a in before["accounts"] if a["cause"] == "issued") and waited > issued
        assert np.array_equal(board.host(board.targets[k], queue=k), board.data[k] + k)


def test_events_order_launches_of_several_queues(board):
    buffer = cl.Buffer(board.context, mf.COPY_HOST_PTR, hostbuf=np.arange(256, dtype=np.int32))
    event, wanted, events = None, np.arange(256, dtype=np.int32), []
    for k in range(6):
        kernel, value = (board.program.add, 7) if k % 2 else (board.program.scale, 3)
        wanted = wanted + value if k % 2 else wanted * value
        events.append(
            event := kernel(
                board.queues[k % COUNT],
                (1,),
                None,
                buffer,
                np.int32(value),
                np.int32(256),
                wait_for=[event] if event else None,
            )
        )
    aside = board.compute(3, 3)
    found = np.empty(256, np.int32)
    cl.enqueue_copy(board.queues[2], found, buffer, wait_for=[event])
    assert np.array_equal(found, wanted)
    assert all(before.profile.end <= behind.profile.start for before, behind in itertools.pairwise(events))
    aside.wait()


def test_the_host_lets_launches_of_all_queues_begin(board):
    """They begin side by side when the user event is set; a copy and a fill that do not block keep the queue's order."""
    gate, status = cl.UserEvent(board.context), cl.command_execution_status
    one = span([board.compute(0, 0)])
    buffer = cl.Buffer(board.context, mf.COPY_HOST_PTR, hostbuf=np.arange(256, dtype=np.int32))
    fence = [cl.enqueue_marker(queue, wait_for=[gate]) for queue in board.queues]
    together, calls = [board.compute(k, k) for k in range(COUNT)], []
    cl.enqueue_fill_buffer(board.queues[1], buffer, np.int32(5), 0, 512)
    added = board.program.add(board.queues[1], (1,), None, buffer, np.int32(7), np.int32(256))
    found = np.zeros(256, np.int32)
    copied = cl.enqueue_copy(board.queues[1], found, buffer, is_blocking=False)
    copied.set_callback(status.COMPLETE, calls.append)
    events = [*fence, *together, added, copied]
    assert {event.command_execution_status for event in events} == {status.QUEUED} and not found.any()
    gate.set_status(status.COMPLETE)
    copied.wait()
    assert one <= span(together) < 1.1 * one
    assert found.tolist() == [12] * 128 + [x + 7 for x in range(128, 256)] and calls == [status.COMPLETE]
    assert together[1].profile.end <= added.profile.start <= added.profile.end <= copied.profile.start
    assert added.command_type == cl.command_type.NDRANGE_KERNEL and added.command_queue is board.queues[1]


def test_a_user_event_that_fails_takes_launches_with_it(board):
    gate = cl.UserEvent(board.context)
    events = [
        cl.Kernel(board.program, "add")(
            board.queues[k], (1,), None, board.targets[k], np.int32(1), np.int32(9), wait_for=[gate]
        )
        for k in range(2)
    ]
    before = board.host(board.targets[0], queue=2)
    gate.set_status(-9)
    for event in events:
        with pytest.raises(cl.RuntimeError, match="kernel add was not started"):
            event.wait()
    assert np.array_equal(board.host(board.targets[0], queue=2), before)


def test_a_launch_that_goes_wrong_beside_one_that_does_not(board):
    """It is told by its own event, with its buffer, and the other one's bytes are right."""
    small = cl.Buffer(board.context, mf.READ_WRITE, 256)
    wrong = board.program.add(board.queues[0], (1,), None, small, np.int32(1), np.int32(80))
    behind = board.program.scale(board.queues[0], (1,), None, small, np.int32(1), np.int32(16))
    right = board.move(1, 1)
    right.wait()
    assert np.array_equal(board.host(board.targets[1], queue=1), board.data[1] + 1)
    with pytest.raises(cl.RuntimeError, match=r"kernel add, .*argument `o` .* leaves its buffer of 256 bytes"):
        wrong.wait()
    with pytest.raises(cl.RuntimeError, match="kernel scale was not started"):
        behind.wait()
    board.move(0, 0).wait()


def test_two_programs_in_one_context(board):
    """The board holds one at a time: their launches keep the order in which they were queued, and see each other's
    bytes."""
    other = cl.Program(
        board.context, "__kernel void put(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = i; }"
    ).build()
    other._system.hasty = True
    buffer = cl.Buffer(board.context, mf.READ_WRITE, 1024)
    aside = board.move(2, 2)
    first = other.put(board.queues[0], (1,), None, buffer, np.int32(256))
    second = board.program.add(board.queues[0], (1,), None, buffer, np.int32(5), np.int32(256))
    assert np.array_equal(board.host(buffer), np.arange(256) + 5)
    assert aside.profile.end <= first.profile.start and first.profile.end <= second.profile.start
    other._system.close()
