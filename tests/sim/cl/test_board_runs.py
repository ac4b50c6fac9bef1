"""When launches begin, in which order they end, and how they fail with the simulation: on a mock system."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import Module
from hls.profile.layout import Channel, Layout
from hls.profile.refused import READ_REFUSED, WRITE_REFUSED
from hls.rtl.interface import ArgumentInterface, KernelInterface
from hls.target.board import Host
from sim import cl
from sim.cl import guard
from sim.cl.arguments import Value
from sim.cl.board_runs import BoardRuns
from sim.cl.schedule import finish_all
from sim.errors import SimulationError
from sim.loaded import Run, Stopped
from sim.shared import Fault, FaultKind

RUNNING, COMPLETE = cl.command_execution_status.RUNNING, cl.command_execution_status.COMPLETE


def kernel(name: str, joined: bool = True) -> KernelInterface:
    channels = (Channel("end", "c", True, 2, 1),) if joined else ()
    arguments = (ArgumentInterface("a", "buffer", "__global int *", 8, 0x100, "inout"),)
    return KernelInterface(name, 0, 0, arguments, False, {}, (), Layout(name, 100.0, (), (), (), False, channels))


class System:
    """Kernels take the cycles given by name; of those that run the one that ends first does. ``stuck`` ones never
    end."""

    def __init__(self, log, **cycles: int):
        self.cycles, self.now, self.ends, self.log, self.stuck, self.status, self.faults = (
            cycles,
            0,
            {},
            log,
            set(),
            {},
            [],
        )
        self.interface = SimpleNamespace(clock_mhz=100.0)
        self.session, self.fails, self.closed = SimpleNamespace(), None, 0

    def cycle(self):
        return self.now

    def start(self, kernel, arguments, launch, forget):
        assert kernel.name not in self.ends, "started while it ran"
        self.log.append(f"start {kernel.name}")
        self.now += 3  # registers are written
        self.ends[kernel.name] = self.now + self.cycles[kernel.name]

    def step(self, cycles):
        if self.fails is not None:
            raise self.fails
        able = {name: end for name, end in self.ends.items() if name not in self.stuck}
        if not able:
            raise Stopped("the kernels wait for each other")
        name = min(able, key=able.get)
        if able[name] > self.now + cycles:
            self.now += cycles
            return None
        self.now = max(self.now, self.ends.pop(name))
        self.log.append(f"end {name}")
        faults, self.faults = tuple(self.faults), []
        return name, Run(self.cycles[name], {}, self.status.get(name, 0), faults, 0, 0.0)

    def show_printed(self, ended=None):
        """No kernel prints."""

    def close(self):
        self.ends.clear()
        self.closed += 1


class Board:
    """A context with three queues and programs made up here."""

    def __init__(self, launch_ns=0.0):
        self.context = cl.create_some_context(board="de5net")
        simulated = self.context.simulated
        simulated.facts = replace(simulated.facts, host=Host(launch_ns=launch_ns))
        self.context.simulated.now_ns = 1000.0
        self.queues = [cl.CommandQueue(self.context) for _ in range(3)]
        self.log = []

    def program(self, **cycles):
        system = System(self.log, **cycles)
        program = SimpleNamespace(
            _system=system,
            source="",
            context=self.context,
            _compiled=SimpleNamespace(decode=lambda name, counters: {"kernel": name}, module=Module()),
            _predictor=None,
        )
        return system, BoardRuns(program)

    def launch(self, runs, queue, name, joined=False, buffer=None, after=()):
        return runs.add(self.queues[queue], kernel(name, joined), [Value(buffer)], None, ({}, {}), after)


@pytest.fixture
def board():
    made = Board()
    yield made
    made.context.simulated.schedule.cancel("the test has ended")


@pytest.fixture
def make(board):
    def made(**cycles):
        system, runs = board.program(**cycles)
        return system, runs, board.queues, lambda *args, **more: board.launch(runs, *args, **more)

    return made


def test_launches_of_several_queues_run_at_once(make):
    system, _, _, launch = make(a=100, b=50)
    first, second = launch(0, "a"), launch(1, "b")
    assert system.log == ["start a", "start b"] and not first.done
    first.wait()
    assert system.log[2:] == ["end b", "end a"] and second.done
    assert (first.profile.start, first.profile.end) == (1000, 2000)
    assert second.profile.start == 1030, "three cycles of 10 ns later"
    assert second.stats.to_dict() == {"kernel": "b"}


def test_launches_of_one_queue_run_one_after_the_other(make):
    system, _, _, launch = make(a=10, b=10)
    launch(0, "a")
    last = launch(0, "b")
    assert system.log == ["start a"]
    last.wait()
    assert system.log == ["start a", "end a", "start b", "end b"]
    assert last.profile.start >= 1100 and last.profile.queued == 1000


def test_a_kernel_runs_once_at_a_time(make):
    system, _, _, launch = make(a=10)
    launch(0, "a")
    launch(1, "a").wait()
    assert system.log == ["start a", "end a", "start a", "end a"]


def test_a_launch_waits_for_the_events_that_it_names(make):
    system, _, _, launch = make(a=100, b=50, c=1)
    first, second = launch(0, "a"), launch(1, "b")
    last = launch(2, "c", after=[first, second])
    last.wait()
    assert system.log == ["start a", "start b", "end b", "end a", "start c", "end c"]
    assert last.profile.start >= max(first.profile.end, second.profile.end)


def test_a_marker_ends_with_what_was_queued_before_it(make, board):
    system, _, queues, launch = make(a=100, b=7)
    launch(0, "a")
    marker = cl.enqueue_barrier(queues[1], wait_for=[cl.enqueue_marker(queues[0])])
    behind = launch(1, "b")
    assert system.log == ["start a"] and not marker.done
    behind.wait()
    assert system.log == ["start a", "end a", "start b", "end b"]
    assert marker.done and marker.profile.end == 2000 and marker.stats is None


def test_a_launch_begins_no_earlier_than_the_host_can_start_it():
    board = Board(launch_ns=500.0)
    _, runs = board.program(a=100, b=50)
    first, second, third = (board.launch(runs, queue, name) for queue, name in ((0, "a"), (0, "b"), (1, "b")))
    for one in (first, second, third):
        one.wait()
    assert (first.profile.queued, first.profile.submit, first.profile.start) == (1000, 1000, 1500)
    # queued ahead: the time it takes to start it has passed meanwhile
    assert first.profile.end == 2500 == second.profile.submit and second.profile.start < 2500 + 500
    assert third.profile.submit == 1000 and 1500 <= third.profile.start < 1600


def test_a_launch_that_is_queued_later_begins_later(make, board):
    """The host's time passes while it copies; what runs goes on meanwhile."""
    system, _, _, launch = make(a=100, b=50)
    launch(0, "a")
    board.context.simulated.now_ns += 400.0
    second = launch(1, "b")
    assert system.log == ["start a"]
    second.wait()
    assert second.profile.start == 1400 and system.log == ["start a", "start b", "end b"]


def test_time_passes_over_kernels_that_only_wait(make, board):
    """They do not run into the watchdog, or cost simulation, until the launch comes that they wait for."""
    system, _, _, launch = make(a=100, b=50)
    system.stuck = {"a"}
    first = launch(0, "a", joined=True)
    board.context.simulated.now_ns += 1e9
    second = launch(1, "b", joined=True)
    second.wait()
    assert second.profile.start == 1000 + 1e9 and system.now < 1000
    system.stuck = set()
    assert first.profile.end - first.profile.start == pytest.approx(1e9 + 1000, abs=50)


def test_programs_take_turns_on_the_board(board):
    """One that only waits, at a channel, makes room, and goes on where it was."""
    one, first = board.program(a=100, c=10)
    _other, second = board.program(b=50)
    one.stuck = {"a"}
    waits = board.launch(first, 0, "a", joined=True)
    event = board.launch(second, 1, "b")
    assert board.log == ["start a"], "the board has the other program"
    helps = board.launch(first, 2, "c", joined=True)
    event.wait()
    assert board.log == ["start a", "start c", "end c", "start b", "end b"], "what may help comes first"
    assert not waits.done
    one.stuck = set()
    helps.wait()
    waits.wait()
    assert set(board.log) == {"start a", "end a", "start b", "end b", "start c", "end c"}
    assert event.profile.end - event.profile.start == 500


def test_a_program_is_not_kept_from_the_board(board):
    """Its turn comes before launches that were queued later."""
    system, first = board.program(a=100, c=10)
    _, second = board.program(b=50)
    board.launch(first, 0, "a")
    board.launch(second, 1, "b")
    last, looks = board.launch(first, 2, "c"), []
    system.step = lambda cycles, step=system.step: looks.append(cycles) or step(cycles)
    last.wait()
    assert board.log == ["start a", "end a", "start b", "end b", "start c", "end c"]
    assert len(looks) == 2, "launches that wait for their turn do not cut the simulation into cycles"


def test_programs_of_one_queue_keep_its_order(board):
    _, first = board.program(a=100)
    _, second = board.program(b=50)
    board.launch(first, 0, "a")
    board.launch(second, 0, "b").wait()
    assert board.log == ["start a", "end a", "start b", "end b"]


def test_what_has_ended_leaves_its_queue(make):
    _, _, queues, launch = make(a=1)
    for _ in range(100):
        launch(0, "a").wait()
    assert len(queues[0].unfinished) <= 17
    queues[0].finish()
    assert queues[0].unfinished == []


def test_many_launches_wait_at_once(make, board):
    system, _, queues, launch = make(a=1)
    events = [launch(0, "a") for _ in range(3000)]
    queues[0].finish()
    assert all(event.done for event in events) and len(system.log) == 6000


def test_who_asks_again_and_again_gets_on(make):
    _, _, _, launch = make(a=100_000)
    event = launch(0, "a")
    looks = 0
    while event.command_execution_status != COMPLETE:
        assert event.command_execution_status in (RUNNING, COMPLETE)
        looks += 1
        assert looks < 100
    assert event.profile.end == 1000 + 1e6


def test_a_copy_waits_for_the_launches_of_its_queue_and_of_its_buffer(make, board):
    system, _, queues, launch = make(a=100, b=50, c=500)
    used, other = (cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64) for _ in range(2))
    launch(0, "a", buffer=used)
    launch(2, "c", buffer=other)
    cl.enqueue_copy(queues[1], np.zeros(16, np.int32), used)
    assert system.log[-1] == "end a"
    launch(0, "b")
    cl.enqueue_fill_buffer(queues[0], used, np.int32(1), 0, 64)
    assert system.log[-1] == "end b"
    cl.enqueue_map_buffer(queues[1], other, cl.map_flags.READ, 0, (16,), np.int32)
    assert system.log[-1] == "end c"


def test_a_released_buffer_keeps_its_place_until_its_launches_end(make, board):
    _, _, _, launch = make(a=100)
    buffer = cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64)
    address = buffer.address
    event = launch(0, "a", buffer=buffer)
    buffer.release()
    with pytest.raises(cl.LogicError, match="has been released"):
        _ = buffer.address
    assert cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64).address != address
    event.wait()
    assert cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64).address == address


def test_kernels_that_never_end_are_given_up_together(make):
    system, _, _, launch = make(a=1, b=1)
    system.stuck = {"a", "b"}
    first, second, behind = (launch(queue, name, joined=True) for queue, name in ((0, "a"), (1, "b"), (1, "a")))
    for event in (first, second, behind):
        with pytest.raises(cl.RuntimeError, match="OUT_OF_RESOURCES - the kernels wait for each other"):
            event.wait()
    system.stuck = set()
    launch(0, "a").wait()


def test_a_lost_simulation_takes_only_what_ran_in_it(make, board):
    system, _, _, launch = make(a=10, b=10, c=10)
    _other, runs = board.program(d=5)
    first, second, behind, free = launch(0, "a"), launch(1, "b"), launch(0, "c"), board.launch(runs, 2, "d")
    system.fails = SimulationError("the simulator is gone")
    for event in (first, second):
        with pytest.raises(cl.RuntimeError, match="the simulator is gone"):
            event.wait()
    with pytest.raises(cl.RuntimeError, match="kernel c was not started: kernel a, after which it was queued, failed"):
        behind.wait()
    free.wait()
    assert system.closed == 1


def test_an_interrupt_gives_up_all_that_was_queued(make):
    system, _, queues, launch = make(a=10, b=10)
    first, behind = launch(0, "a"), launch(0, "b")
    system.fails = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        first.wait()
    assert first.failed and behind.failed and system.closed
    with pytest.raises(cl.RuntimeError, match="given up"):
        behind.wait()
    queues[0].finish()  # the interrupt told the host
    system.fails = None
    launch(0, "a").wait()


def test_what_follows_a_launch_that_failed_is_not_started(make, board):
    system, _, queues, launch = make(a=1, b=1)
    first, behind = launch(0, "a"), launch(0, "b")
    system.status["a"] = 4
    with pytest.raises(cl.RuntimeError, match="kernel a ended with error bits 0x4"):
        first.wait()
    assert first.command_execution_status < 0
    with pytest.raises(cl.RuntimeError, match="kernel b was not started: kernel a, after which it was queued, failed"):
        behind.wait()
    assert "start b" not in system.log
    # all was told
    cl.enqueue_fill_buffer(queues[0], cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64), np.int32(0), 0, 64)
    launch(0, "b").wait()


def test_an_error_is_told_once_by_the_queue(make, board):
    system, _, queues, launch = make(a=1, b=1)
    system.status["a"] = 4
    launch(0, "a")
    with pytest.raises(cl.RuntimeError, match="kernel a ended with error bits 0x4"):
        cl.enqueue_fill_buffer(queues[0], cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64), np.int32(0), 0, 64)
    with pytest.raises(cl.RuntimeError, match="kernel a ended with error bits 0x4"):
        queues[0].finish()
    queues[0].finish()
    failed = launch(0, "a")
    with pytest.raises(cl.RuntimeError, match="kernel a ended"):
        failed.wait()
    with pytest.raises(cl.RuntimeError, match="kernel a ended"):
        cl.enqueue_marker(queues[1], wait_for=[failed])


def test_a_launch_that_breaks_a_promise_does_not_begin(make):
    system, runs, _, launch = make(a=10, b=20)
    runs._promises = SimpleNamespace(
        violation=lambda kernel, *rest: "k.cl:6:1: error: it does not hold" if kernel.name == "a" else None
    )
    with pytest.raises(cl.RuntimeError, match="k.cl:6:1: error: it does not hold"):
        launch(0, "a").wait()
    launch(0, "b").wait()
    assert system.log == ["start b", "end b"]
    with pytest.raises(cl.RuntimeError, match="it does not hold"):
        launch(1, "a", joined=True).wait()


def test_what_the_memory_refused_is_told_of_the_kernel_whose_buffer_it_left(make, board):
    """Two run at the same time; the one that ends first did nothing wrong, and then another one did as well, of which
    the place is lost."""
    system, _, _, launch = make(a=100, b=50)
    mine, others = (cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64) for _ in range(2))
    wrong, right = launch(0, "a", buffer=mine), launch(1, "b", buffer=others)
    system.faults.append(Fault(FaultKind.WRITE_OUTSIDE, mine.address + 64, 4, 10, 0, 1))
    system.status["a"] = 1 << WRITE_REFUSED
    right.wait()
    with pytest.raises(
        cl.RuntimeError, match="kernel a: a write of bytes 64 to 67 of argument `a` .* leaves its buffer of 64 bytes"
    ):
        wrong.wait()
    system.status["b"] = system.status["a"] = 1 << READ_REFUSED
    first, second = launch(0, "a", buffer=mine), launch(1, "b", buffer=others)
    system.faults.append(Fault(FaultKind.READ_OUTSIDE, mine.address + 68, 4, 10, 0, 2))
    with pytest.raises(cl.RuntimeError, match="kernel b: the memory refused it and an access of another kernel"):
        second.wait()
    with pytest.raises(cl.RuntimeError, match="kernel a: a read of bytes 68 to 71 of argument `a`"):
        first.wait()


def test_another_thread_may_queue_what_a_kernel_waits_for(make, monkeypatch):
    monkeypatch.setattr(guard, "PATIENCE", 60.0)
    system, _, _, launch = make(a=10, b=10)
    system.stuck = {"a"}
    waiting, failures = launch(0, "a", joined=True), []

    def wait():
        try:
            waiting.wait()
        except cl.Error as error:
            failures.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not system.log:
        pass
    system.stuck = set()
    launch(1, "b", joined=True)
    thread.join(20)
    assert waiting.done and not failures


def test_an_access_that_was_refused_beside_a_kernel_on_the_same_buffer(make, board):
    """Only one of them says that it was refused anything."""
    system, _, _, launch = make(a=100, b=50)
    shared = cl.Buffer(board.context, cl.mem_flags.READ_WRITE, 64)
    wrong, right = launch(0, "a", buffer=shared), launch(1, "b", buffer=shared)
    system.faults.append(Fault(FaultKind.WRITE_OUTSIDE, shared.address + 64, 4, 10, 0, 1))
    system.status["a"] = 1 << WRITE_REFUSED
    right.wait()
    with pytest.raises(cl.RuntimeError, match="a write of bytes 64 to 67 of argument `a`"):
        wrong.wait()


def test_what_nobody_waited_for_is_run_at_the_end(make, capsys):
    system, _, queues, launch = make(a=10, b=10, c=10)
    launch(0, "a")
    launch(0, "b")
    system.status["c"] = 4
    launch(1, "c")
    with pytest.raises(cl.RuntimeError, match="kernel c ended with error bits 0x4"):
        finish_all()
    assert sorted(system.log) == ["end a", "end b", "end c", "start a", "start b", "start c"]
    launch(1, "c")
    queues[0].context.simulated.schedule.finish_at_exit()
    assert (
        "sluice: a launch that nobody waited for: " in capsys.readouterr().err
        and not queues[0].context.simulated.schedule.pending
    )


@pytest.mark.parametrize("endless", [False, True])
def test_a_kernel_that_serves_others_is_no_failure_at_the_end(board, capsys, endless):
    """It is written never to end, and waits for more to do."""
    loop = f"for (int i = 0; {'1' if endless else 'i < 9'}; i++) write_channel_intel(d, read_channel_intel(c));"
    system, runs = board.program(a=10)
    runs.program._compiled.module = parse_source(f"channel int c; channel int d; __kernel void a() {{ {loop} }}").module
    system.stuck.add("a")
    board.launch(runs, 0, "a", joined=True)
    board.context.simulated.schedule.finish_at_exit()
    told = capsys.readouterr().err
    assert told == "" if endless else "the kernels wait for each other" in told
    assert not board.context.simulated.schedule.pending
