"""Events that the host ends, callbacks, and commands of several queues that depend on them, on the emulator.

tests/sim/cl/test_side_by_side.py tests them on the board.
"""

import threading

import numpy as np
import pytest

from sim import cl

SOURCE = """#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int ch;
__kernel void add(__global int *o, int x) { o[get_global_id(0)] += x; }
__kernel void send(int x) { write_channel_intel(ch, x); }
__kernel void receive(__global int *o) { o[0] = read_channel_intel(ch); }
"""
status = cl.command_execution_status
N = 16


@pytest.fixture(scope="module")
def program():
    context = cl.create_some_context(device="emulator")
    return cl.Program(context, SOURCE).build()


@pytest.fixture
def queues(program):
    return [cl.CommandQueue(program.context) for _ in range(3)]


def buffer(program):
    return cl.Buffer(program.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.arange(N, dtype=np.int32))


def contents(queue, buffer):
    found = np.empty(N, np.int32)
    cl.enqueue_copy(queue, found, buffer)
    return found.tolist()


def test_commands_of_several_queues_wait_for_a_user_event(program, queues):
    gate = cl.UserEvent(program.context)
    places = [buffer(program) for _ in queues]
    events = [
        program.add(queue, (N,), None, place, np.int32(10), wait_for=[gate])
        for queue, place in zip(queues, places, strict=True)
    ]
    last = program.add(queues[0], (N,), None, places[1], np.int32(100), wait_for=events)
    assert gate.command_execution_status == status.SUBMITTED
    assert [event.command_execution_status for event in [*events, last]] == [status.QUEUED] * 4
    assert places[0].bytes.view(np.int32).tolist() == list(range(N))
    gate.set_status(status.COMPLETE)
    assert gate.command_execution_status == status.COMPLETE
    last.wait()
    for k, place in enumerate(places):
        assert contents(queues[k], place) == [x + 10 + 100 * (k == 1) for x in range(N)]


def test_what_does_not_block_is_queued_behind_a_user_event(program, queues):
    """Copies, fills, maps and markers of an in-order queue keep their order, and are done when the host lets them."""
    queue, gate = queues[0], cl.UserEvent(program.context)
    one, other, found = buffer(program), buffer(program), np.zeros(N, np.int32)
    program.add(queue, (N,), None, one, np.int32(1), wait_for=[gate])
    events = [
        cl.enqueue_copy(queue, other, one),
        cl.enqueue_fill_buffer(queue, one, np.int32(7), 0, 32),
        cl.enqueue_copy(queue, found, one, is_blocking=False),
        program.add(queue, (N,), None, one, np.int32(2)),
    ]
    array, mapped = cl.enqueue_map_buffer(queue, one, cl.map_flags.READ, 0, (N,), np.int32, is_blocking=False)
    events += [mapped, array.base.release(queue), cl.enqueue_marker(queue)]
    elsewhere = cl.enqueue_copy(queues[1], other, found, is_blocking=False, wait_for=[events[2]])
    assert all(event.command_execution_status == status.QUEUED for event in [*events, elsewhere])
    assert not found.any()
    gate.set_status(status.COMPLETE)
    queue.finish()
    wanted = [7] * 8 + [x + 1 for x in range(8, N)]
    assert found.tolist() == wanted and contents(queues[1], other) == wanted
    assert array.tolist() == [x + 2 for x in wanted]
    kinds = cl.command_type
    assert [event.command_type for event in events] == [
        kinds.COPY_BUFFER,
        kinds.FILL_BUFFER,
        kinds.READ_BUFFER,
        kinds.NDRANGE_KERNEL,
        kinds.MAP_BUFFER,
        kinds.UNMAP_MEM_OBJECT,
        kinds.MARKER,
    ]


def test_a_copy_that_does_not_block_behind_a_kernel_that_waits_at_a_channel(program, queues):
    place, found = buffer(program), np.zeros(N, np.int32)
    program.receive(queues[0], (1,), None, place)
    copied = cl.enqueue_copy(queues[0], found, place, is_blocking=False)
    assert copied.command_execution_status == status.QUEUED
    program.send(queues[1], (1,), None, np.int32(77))
    copied.wait()
    assert found[0] == 77


def test_a_negative_status_fails_all_that_wait(program, queues):
    gate, place = cl.UserEvent(program.context), buffer(program)
    event = program.add(queues[0], (N,), None, place, np.int32(1), wait_for=[gate])
    behind = cl.enqueue_copy(queues[0], np.zeros(N, np.int32), place, is_blocking=False)
    gate.set_status(-42)
    assert gate.command_execution_status == -42
    for one in (event, behind):
        assert one.command_execution_status < 0
        with pytest.raises(cl.RuntimeError, match="was not started: .*after which it was queued, failed"):
            one.wait()
    with pytest.raises(cl.RuntimeError, match="the host ended the user event"):
        gate.wait()
    assert contents(queues[1], place) == list(range(N))


def test_statuses_that_cannot_be_set(program):
    gate = cl.UserEvent(program.context)
    for wrong in (status.RUNNING, status.QUEUED, "done", None):
        with pytest.raises(cl.LogicError, match="INVALID_VALUE"):
            gate.set_status(wrong)
    gate.set_status(status.COMPLETE)
    for again in (status.COMPLETE, -1):
        with pytest.raises(cl.LogicError, match="INVALID_OPERATION"):
            gate.set_status(again)


def test_a_wait_that_only_this_thread_could_end_is_an_error(program, queues):
    gate, place = cl.UserEvent(program.context), buffer(program)
    event = program.add(queues[0], (N,), None, place, np.int32(1), wait_for=[gate])
    with pytest.raises(cl.RuntimeError, match="was not started"):
        event.wait()
    with pytest.raises(cl.RuntimeError, match="call set_status\\(\\) before the wait"):
        gate.wait()
    with pytest.raises(cl.LogicError, match="INVALID_OPERATION"):
        gate.set_status(status.COMPLETE)


def test_another_thread_ends_it(program, queues):
    gate, place = cl.UserEvent(program.context), buffer(program)
    program.add(queues[0], (N,), None, place, np.int32(5), wait_for=[gate])
    timer = threading.Timer(0.2, gate.set_status, [status.COMPLETE])
    timer.start()
    assert contents(queues[0], place) == [x + 5 for x in range(N)]  # it blocks until then
    timer.join()


def test_callbacks_come_when_the_command_has_ended(program, queues):
    gate, second, place, calls = (cl.UserEvent(program.context), cl.UserEvent(program.context), buffer(program), [])
    gate.set_callback(status.COMPLETE, lambda s: calls.append(("gate", s)))
    event = program.add(queues[0], (N,), None, place, np.int32(1), wait_for=[gate])
    event.set_callback(status.RUNNING, lambda s: calls.append(("kernel", s)))
    event.set_callback(status.COMPLETE, lambda s: second.set_status(s))  # a callback may let others begin
    failing = program.add(queues[1], (N,), None, place, np.int32(1), wait_for=[second])
    third = cl.UserEvent(program.context)
    third.set_callback(status.COMPLETE, lambda s: calls.append(("third", s)))
    assert not calls
    gate.set_status(status.COMPLETE)
    failing.wait()
    third.set_status(-7)
    assert calls == [("gate", status.COMPLETE), ("kernel", status.RUNNING), ("third", -7)]
    event.set_callback(status.COMPLETE, lambda s: calls.append(("late", s)))
    assert calls[-1] == ("late", status.COMPLETE)


def test_facts_of_events(program, queues):
    info, place = cl.event_info, buffer(program)
    gate = cl.UserEvent(program.context)
    waiting = program.add(queues[0], (N,), None, place, np.int32(1), wait_for=[gate])
    ended = program.add(queues[1], (N,), None, buffer(program), np.int32(1))
    written = cl.enqueue_copy(queues[1], buffer(program), np.zeros(N, np.int32))
    for event, queue, kind, state in (
        (gate, None, cl.command_type.USER, status.SUBMITTED),
        (waiting, queues[0], cl.command_type.NDRANGE_KERNEL, status.QUEUED),
        (ended, queues[1], cl.command_type.NDRANGE_KERNEL, status.COMPLETE),
        (written, queues[1], cl.command_type.WRITE_BUFFER, status.COMPLETE),
        (cl.enqueue_barrier(queues[1]), queues[1], cl.command_type.BARRIER, status.COMPLETE),
    ):
        assert event.get_info(info.COMMAND_QUEUE) is queue and event.command_queue is queue
        assert event.get_info(info.COMMAND_TYPE) == event.command_type == kind
        assert event.get_info(info.COMMAND_EXECUTION_STATUS) == state
        assert event.get_info(info.CONTEXT) is program.context and event.get_info(info.REFERENCE_COUNT) == 1
        for wrong in (0x1090, -1, "context", None):
            with pytest.raises(cl.LogicError, match="INVALID_VALUE"):
                event.get_info(wrong)
    assert ended.get_profiling_info(cl.profiling_info.END) == ended.profile.end >= ended.profile.start
    for ask in (lambda: gate.profile, lambda: gate.get_profiling_info(cl.profiling_info.END)):
        with pytest.raises(cl.LogicError, match="PROFILING_INFO_NOT_AVAILABLE"):
            ask()
    gate.set_status(status.COMPLETE)
    assert waiting.profile.end >= waiting.profile.queued
