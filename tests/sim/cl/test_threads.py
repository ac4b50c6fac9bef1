"""Many threads of one host program: on queues of their own and shared ones, on the emulator and on the board."""

import itertools
import threading
import time

import numpy as np
import pytest

from sim import cl
from sim.cl import compiler
from tests.sim.cl.thread_campaign import Campaign, left_behind

mf = cl.mem_flags


def campaign(device, **asked):
    running = Campaign(device, threads=8, **asked)
    running.run()
    assert running.failures == []
    launched, context = running.launched, running.context
    assert not context.simulated.schedule.pending
    context.simulated.reclaim()
    return launched


def test_hundreds_of_launches_from_eight_threads():
    before = left_behind()
    assert campaign("emulator", launches=600, seed=3) >= 600
    assert left_behind() == before


@pytest.mark.verilator
def test_launches_from_eight_threads_on_the_board():
    assert campaign("board", launches=200, seed=4, programs=1) >= 200


def in_threads(work, count=8):
    """Calls work(k) in threads that begin together; returns what they gave."""
    barrier, results, errors = threading.Barrier(count), [None] * count, []

    def run(k):
        barrier.wait()
        try:
            results[k] = work(k)
        except BaseException as error:  # noqa: BLE001 - looked at below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not errors and not any(thread.is_alive() for thread in threads), errors
    return results


def test_programs_are_built_at_the_same_time():
    context = cl.create_some_context(board="de5net", device="emulator")

    def build(k):
        program = cl.Program(context, f"__kernel void k(__global int *restrict o) {{ o[0] = {k}; }}").build(
            options=["-D", f"X={k}"]
        )
        queue, buffer, found = cl.CommandQueue(context), cl.Buffer(context, mf.READ_WRITE, 64), np.empty(1, np.int32)
        program.k(queue, (1,), None, buffer)
        cl.enqueue_copy(queue, found, buffer)
        return int(found[0])

    assert in_threads(build) == list(range(8))


def test_programs_are_compiled_for_the_board_at_the_same_time():
    """The compiler is used by one thread at a time, and each gets what it asked for, warnings and errors included."""
    context = cl.create_some_context(board="de5net")

    def build(k):
        if k % 4 == 3:
            with pytest.raises(cl.RuntimeError, match=f"'x{k}' is not declared"):
                cl.Program(context, f"__kernel void k(__global int *restrict o) {{ o[0] = x{k}; }}").build()
            return None
        program = cl.Program(
            context,
            f"__kernel void k{k}(__global int *restrict o, int n) {{ for (int i = 0; i < n; i++) o[i] = {k} * i; }}",
        ).build()
        return program.kernel_names

    assert in_threads(build) == [None if k % 4 == 3 else f"k{k}" for k in range(8)]


def test_the_compiler_is_entered_by_one_thread_at_a_time(monkeypatch):
    inside, most = [], []

    def compile_source(*given):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        raise ValueError("made up")

    monkeypatch.setattr(compiler, "compile_source", compile_source)
    context = cl.create_some_context(board="de5net")

    def build(k):
        with pytest.raises(cl.RuntimeError):
            cl.Program(context, "").build()

    in_threads(build)
    assert most == [1] * 8


def test_one_kernel_object_is_called_by_many_threads():
    """Each launch has the arguments of its own call."""
    context = cl.create_some_context(board="de5net", device="emulator")
    program = cl.Program(context, "__kernel void k(__global int *restrict o, int x) { o[0] = x; }").build()
    kernel, queue = program.k, cl.CommandQueue(context)

    def launch(k):
        found, buffer = np.empty(1, np.int32), cl.Buffer(context, mf.READ_WRITE, 64)
        for each in range(50):
            kernel(queue, (1,), None, buffer, np.int32(100 * k + each))
            cl.enqueue_copy(queue, found, buffer)
            assert found[0] == 100 * k + each
        return True

    assert all(in_threads(launch))


def test_a_context_has_one_board_whoever_asks_first():
    for _ in range(20):
        context = cl.create_some_context(board="de5net")
        assert len(set(map(id, in_threads(lambda k, c=context: c.simulated)))) == 1


def test_buffers_of_many_threads_lie_apart():
    context = cl.create_some_context(board="de5net")

    def work(k):
        kept = []
        for each in range(60):
            kept.append(cl.Buffer(context, mf.READ_WRITE, 64 * (k + 1)))
            if each % 3 == 2:
                kept.pop(each % len(kept)).release()
        return kept

    places = sorted((one.address, one.address + one.size) for kept in in_threads(work) for one in kept)
    assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(places))


def test_kernels_of_two_threads_meet_at_a_channel():
    """Whoever comes first waits, for as long as the other takes to launch."""
    context = cl.create_some_context(board="de5net", device="emulator")
    program = cl.Program(
        context,
        """
        channel int c;
        __kernel void w(int n) { for (int i = 0; i < n; i++) write_channel_intel(c, i); }
        __kernel void r(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = 2 * read_channel_intel(c); }""",
    ).build()

    def work(k):
        queue, buffer = cl.CommandQueue(context), cl.Buffer(context, mf.READ_WRITE, 400)
        if k == 0:
            time.sleep(0.3)
            program.w(queue, (1,), None, np.int32(100)).wait()
            return None
        found = np.empty(100, np.int32)
        program.r(queue, (1,), None, buffer, np.int32(100)).wait()
        cl.enqueue_copy(queue, found, buffer)
        return found.tolist()

    assert in_threads(work, 2)[1] == list(range(0, 200, 2))
