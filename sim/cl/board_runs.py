"""The launches of a program on the simulated board: kernels that run concurrently share its clock and its memory."""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from hls.ir.launch import IndexSpace
from hls.model.prediction import Prediction
from hls.narrow import present
from hls.profile.refused import READ_REFUSED, WRITE_REFUSED, refused
from hls.profile.text import render
from hls.rtl.interface import KernelInterface
from sim.errors import BuildError, SimulationError, ToolMissing
from sim.loaded import Run, Stopped
from sim.probe import Probe
from sim.shared import Fault, FaultKind

from .arguments import Value
from .captures import Snapshot
from .compiler import is_endless
from .constant_memory import ConstantMemory, note_outputs
from .constants import status_code
from .errors import RuntimeError
from .event import Event, PendingEvent, Statistics
from .memory import Buffer
from .promises import PromiseCheck
from .queue import CommandQueue
from .schedule import Schedule
from .timeline import TIMELINE
from .unpredicted import NOT_ALONE, Unpredicted

if TYPE_CHECKING:
    from .program import Program

__all__ = ["BoardEvent", "BoardRuns"]

ROUTINE = "clEnqueueNDRangeKernel"
#: Cycles after which other threads of the host may run.
CHUNK = 20_000


class BoardEvent(PendingEvent):
    """A launch on the simulated board. It begins when all events in ``after`` have ended and its kernel is free."""

    def __init__(
        self,
        runs: "BoardRuns",
        kernel: KernelInterface,
        values: Sequence[Value],
        space: IndexSpace,
        registers: tuple[Mapping, Mapping],
        after: Sequence[PendingEvent],
        queue: CommandQueue,
    ) -> None:
        super().__init__(runs.schedule, after, queue)
        self.board_runs = self.runs = runs
        self.kernel, self.values, self.space, self.registers = kernel, tuple(values), space, registers
        self.joined = kernel.layout.joined
        self.what = f"kernel {kernel.name}"
        #: the allocations of its buffers, and the arguments' names
        self.names = {
            value.value.allocation: argument.name
            for argument, value in zip(kernel.arguments, values)
            if isinstance(value.value, Buffer)
        }
        self.ready_ns += self.schedule.board.facts.host.launch_ns
        self.start_ns: float | None = None  #: None until it has begun
        #: what the model says of it; None if nobody asks for that
        self.predicted: Prediction | Unpredicted | None = None
        self.skipped_ns = 0.0  #: part of its time during which the board was suspended

    def begin(self) -> None:
        """Start the kernel on the board; the schedule calls this once all commands in ``after`` have ended."""
        self.board_runs.begin(self)

    @property
    def endless(self) -> bool:
        """Whether the kernel is written never to end."""
        return is_endless(self.board_runs.program._compiled.module, self.kernel.name)

    def give_up(self) -> None:
        """End the launches that can make no progress with an error, as nothing else is left to run."""
        self.board_runs.give_up_stopped()


class BoardRuns:
    """The running kernels of a program, and their results. :class:`sim.cl.schedule.Schedule` decides when they begin
    and when time passes."""

    def __init__(self, program: "Program") -> None:
        self.program = program
        self._running: dict[str, BoardEvent] = {}
        self._constants = ConstantMemory()
        self._epoch = (0.0, 0)  #: a simulated time, and the cycle of this program's simulator then
        self._faults: list[Fault] = []  #: not attributed to a kernel yet, since one began while none ran
        self._stopped = "the kernels have stopped"  #: why none of the running kernels makes progress
        #: of the last capture: the probe that it is of, its time in ns, and the snapshot of each autorun kernel
        self._captured: tuple[Probe, float, dict[str, Snapshot]] | None = None

    @property
    def schedule(self) -> Schedule:
        """The schedule of the context's board, which all of its programs share."""
        return self.program.context.simulated.schedule

    def add(
        self,
        queue: CommandQueue,
        kernel: KernelInterface,
        values: Sequence[Value],
        space: IndexSpace,
        registers: tuple[Mapping[str, int], Mapping[str, int]],
        after: Sequence[PendingEvent] = (),
    ) -> Event:
        """Queue a launch after the unfinished commands of its queue, and after the commands ``after``. ``registers``:
        values of its arguments, and of the launch registers. Raises BuildError, ToolMissing or SimulationError if
        there is no simulator."""
        _ = self.program._system.session  # report here a simulator that cannot be built
        event = BoardEvent(self, kernel, values, space, registers, [*queue.before(), *after], queue)
        for value in values:
            if isinstance(value.value, Buffer):
                value.value.note_launch(event)
        queue.note(event)
        self.schedule.add(event)
        return event

    def finish(self) -> None:
        """Run all launches of the program to their end; their failures stay with their events."""
        for event in list(self.schedule.pending):
            if event.runs is self:
                event.complete()

    def settle(self) -> None:
        """Run to their end those launches that need no command that has not been queued."""
        for event in list(self.schedule.pending):
            if event.runs is self and not event.needs_others:
                event.complete()

    @property
    def running(self) -> bool:
        """Whether a kernel has begun and not ended."""
        return bool(self._running)

    @property
    def only_joined(self) -> bool:
        """Whether all running kernels may wait for others, at channels."""
        return all(event.joined for event in self._running.values())

    def is_free(self, kernel: KernelInterface) -> bool:
        """Whether the hardware of the kernel is idle."""
        return kernel.name not in self._running

    @property
    def now_ns(self) -> float:
        """The simulated time that this program has reached."""
        since, first = self._epoch
        return since + (self.program._system.cycle() - first) * self._period_ns

    def capture(self) -> list[dict]:
        """The figures of each autorun kernel since the last capture, or since the simulator was started: those of
        :meth:`Statistics.to_dict`, with the times of begin and end in ns of simulated time. Empty where the design has
        no probe."""
        _ = self.program._system.session
        if (probe := self.program._system.probe) is None:
            return []
        start_ns, before = 0.0, dict[str, Snapshot]()
        if self._captured is not None and self._captured[0] is probe:
            _, start_ns, before = self._captured
        found, now = [], dict[str, Snapshot]()
        for kernel in self.program._compiled.interface.kernels:
            if kernel.autorun:
                now[kernel.name] = Snapshot.of(probe, kernel.layout)
                observed = now[kernel.name].since(kernel.layout, before.get(kernel.name))
                TIMELINE.capture(self.program, kernel, observed, (start_ns, self.now_ns))
                figures = self.program._compiled.decode(kernel.name, observed.counters)
                found.append(figures | {"start_ns": round(start_ns), "end_ns": round(self.now_ns)})
        self._captured = probe, self.now_ns, now
        return found

    def continue_at(self, time_ns: float, loaded: bool) -> None:
        """Advance to that time at least. If the program was ``loaded``, its running kernels were stalled meanwhile;
        otherwise they were not on the board."""
        now = self.now_ns
        if time_ns <= now:
            return
        for event in self._running.values():
            event.skipped_ns += time_ns - now
        self._epoch = time_ns, self.program._system.cycle()

    def begin(self, event: BoardEvent) -> None:
        """Start a launch; it fails if it breaks an assertion that its kernel was compiled under."""
        try:
            broken = self._promises.violation(
                event.kernel, event.values, event.space, self.program.context.simulated.memory
            )
        except (BuildError, ToolMissing) as error:
            broken = f"the promises of the kernel cannot be checked: {error}"
        if broken is not None:
            event.fail(_error(f"\n{broken}"))
            return
        self._predict(event)
        event.start_ns = self.now_ns
        self._running[event.kernel.name] = event
        with _Failing(self):
            TIMELINE.begin(self.program, event.kernel.name)
            self.program._system.start(
                event.kernel, *event.registers, forget=self._constants.must_forget(event.kernel, event.values)
            )

    def _predict(self, event: BoardEvent) -> None:
        """Let the model predict a launch that is about to begin, if that is asked for. What runs beside it shares the
        memory, of which the model knows nothing."""
        if (predictor := self.program._predictor) is None:
            return
        if self._running:
            for one in (event, *self._running.values()):
                one.predicted = Unpredicted(NOT_ALONE)
            return
        try:
            event.predicted = predictor.predict(event.kernel.name, event.values, event.space, self.program._system.age)
        except Unpredicted as why:
            event.predicted = why

    def advance(self, until_ns: float | None) -> bool:
        """Run until a kernel ends, or that time is reached, or for a number of cycles. False when no kernel will ever
        make progress by itself."""
        cycles = CHUNK
        if until_ns is not None:
            cycles = min(CHUNK, max(1, math.ceil((until_ns - self.now_ns) / self._period_ns)))
        with _Failing(self):
            try:
                found = self.program._system.step(cycles)
            except Stopped as stopped:
                self._stopped = str(stopped)
                return False
            if found is not None:
                self._conclude(*found)
        return True

    def give_up_stopped(self) -> None:
        """Fail: the running kernels wait for each other, and no other kernel will start."""
        for event in self._running.values():
            event.starved = True
        self.give_up(self._stopped)

    def give_up(self, why: str) -> None:
        """The simulation is lost: all running kernels fail, and the launches that would communicate with them."""
        self._constants.doubt()
        self.program._system.show_printed()
        self.program._system.close()
        self._faults.clear()
        lost = [
            *self._running.values(),
            *(
                one
                for one in self.schedule.pending
                if isinstance(one, BoardEvent) and one.runs is self and one.joined and one.start_ns is None
            ),
        ]
        self._running.clear()
        self.schedule.lose(lost, _error(why))

    @cached_property
    def _promises(self) -> PromiseCheck:
        return PromiseCheck(self.program._compiled.module)

    @property
    def _period_ns(self) -> float:
        return 1000.0 / self.program._system.interface.clock_mhz

    def _conclude(self, name: str, run: Run) -> None:
        """The run of a kernel has ended."""
        event = self._running[name]
        self.program._system.show_printed(name)
        failure = self._failure(event, run)
        del self._running[name]
        if not self._running:
            self._faults.clear()
        note_outputs(event.kernel, event.values)
        board = self.program.context.simulated
        end_ns = present(event.start_ns) + event.skipped_ns + run.cycles * self._period_ns
        board.now_ns = max(board.now_ns, end_ns)
        if failure is not None:
            self._constants.doubt()
            event.fail(failure)
            return
        statistics = self.program._compiled.decode(name, run.counters)
        if os.environ.get("SLUICE_STATS") == "1":
            print(render(statistics, self.program.source), file=sys.stderr, flush=True)
        if event.predicted is not None:
            predictor = present(self.program._predictor)
            statistics |= {"predicted": predictor.beside(name, event.predicted, statistics)}
        finished = Event(
            present(event.start_ns),
            end_ns,
            Statistics(statistics, run.seconds),
            event.queued_ns,
            submit_ns=event.submit_ns,
            queue=event.command_queue,
        )
        TIMELINE.launch(self.program, run, event, finished)
        event.end(finished)

    def _failure(self, event: BoardEvent, run: Run) -> RuntimeError | None:
        """The error of a run. Accesses that the memory refused are an error only if the kernel says so: a loop may have
        read past its end speculatively."""
        self._faults += run.faults
        mine = [fault for fault in self._faults if self._may_be_of(event, fault)]
        sure = [
            fault
            for fault in mine
            if not fault.kind.is_read and (len(self._running) == 1 or fault.kind is FaultKind.PROTOCOL)
        ]
        if not run.status and not sure:
            return None
        beside = bool(self._faults)
        self._faults = [fault for fault in self._faults if fault not in mine]
        head = f"kernel {event.kernel.name}{_culprits(event.kernel, run.status)}"
        if mine:
            return _error(f"{head}: {self.program.context.simulated.describe(_fault(run.status, mine), event.names)}")
        if beside:
            return _error(
                f"{head}: the memory refused it and an access of another kernel that ran at the same time, and only "
                "the address of the latter is known; check the index, or run the kernel alone to see the address"
            )
        return _error(f"{head} ended with error bits {run.status:#x}")

    def _may_be_of(self, event: BoardEvent, fault: Fault) -> bool:
        """Whether a refused access can be of this kernel, given those that run at the same time: it is attributed to
        the buffer before its address."""
        nearest = self.program.context.simulated.before(fault.address)
        if len(self._running) == 1 or fault.kind is FaultKind.PROTOCOL or nearest in event.names:
            return True
        return not any(nearest in one.names for one in self._running.values())


class _Failing:
    """A context in which a simulation that fails makes all running kernels fail; so does any other exception, which is
    passed on to the caller."""

    def __init__(self, runs: BoardRuns) -> None:
        self._runs = runs

    def __enter__(self):
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False  # the schedule handles interrupts
        known = isinstance(error, SimulationError)
        self._runs.give_up(str(error) if known else f"given up: {error}")
        return known


def _fault(status: int, faults: Sequence[Fault]) -> Fault:
    """The first fault of a direction in which the kernel was refused an access; else the first of all."""
    refused = [fault for fault in faults if status >> (READ_REFUSED if fault.kind.is_read else WRITE_REFUSED) & 1]
    return (refused or faults)[0]


def _culprits(kernel: KernelInterface, status: int) -> str:
    """The accesses that were refused, as part of a sentence."""
    found = dict.fromkeys(
        f"{access.kind} of {access.buffer}{f' at line {access.line}' if access.line else ''}"
        for access in refused(kernel.layout.all_accesses, status)
    )
    return f", {' or '.join(found)}" if found else ""


def _error(text: str) -> RuntimeError:
    return RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, text)
