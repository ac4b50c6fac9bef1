"""The launches of a program on the simulated board: one after the other in a queue, at the same time in several."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hls.ir.launch import IndexSpace
from hls.profile.refused import READ_REFUSED, WRITE_REFUSED, refused
from hls.profile.text import render
from hls.rtl.interface import KernelInterface
from sim.errors import SimulationError
from sim.loaded import Run
from sim.shared import Fault

from .arguments import Value
from .constant_memory import ConstantMemory, note_outputs
from .constants import status_code
from .errors import RuntimeError
from .event import Event, PendingEvent, Statistics
from .memory import Buffer
from .promises import PromiseCheck
from .queue import CommandQueue

if TYPE_CHECKING:
    from .program import Program

__all__ = ["BoardEvent", "BoardRuns"]

ROUTINE = "clEnqueueNDRangeKernel"


class BoardEvent(PendingEvent):
    """A launch on the simulated board. It begins when the one ``before`` it in its queue has ended and its kernel is free."""

    def __init__(self, runs: "BoardRuns", kernel: KernelInterface, values: Sequence[Value], space: IndexSpace,
                 registers: tuple[Mapping, Mapping], before: PendingEvent | None):
        super().__init__(runs.program)
        self.runs, self.kernel, self.values, self.space = runs, kernel, values, space
        self.registers, self.before = registers, before
        self.start_ns: float | None = None  #: None until it has begun

    def complete(self) -> None:
        self.runs.run_until(self)


class BoardRuns:
    """Starts launches as soon as they may begin, and lets simulated time pass where somebody waits for one.

    A kernel that works on a channel may wait for another launch, so its own call returns before time has passed: kernels of
    several queues then start within a few cycles of each other. Others have ended when their call returns.
    """

    def __init__(self, program: "Program"):
        self.program = program
        self._pending: list[BoardEvent] = []
        self._constants = ConstantMemory()
        self._epoch = (0.0, 0)  #: simulated time and cycle at which the first of the kernels that now run began

    def add(self, queue: CommandQueue, kernel: KernelInterface, values: Sequence[Value], space: IndexSpace,
            registers: tuple[Mapping[str, int], Mapping[str, int]]) -> Event:
        """Launch a kernel behind what its queue has not finished. ``registers``: of its arguments, and of what a launch says
        beside them. Raises cl.RuntimeError when its run fails."""
        queue.unfinished = [one for one in queue.unfinished if not one.done]
        before = next((one for one in reversed(queue.unfinished) if not one.failed), None)  # who failed is told by finish()
        if before is not None and before.program is not self.program:
            before.wait()  # another program's channels: nothing that is launched here can help it
            before = None
        event = BoardEvent(self, kernel, values, space, registers, before)
        self._pending.append(event)
        for value in values:
            if isinstance(value.value, Buffer):
                value.value.note_launch(event)
        if kernel.layout.channels:
            queue.unfinished.append(event)
            self._guarded(self._begin)
        else:
            event.wait()
        return event

    def run_until(self, event: BoardEvent) -> None:
        """Let time pass until the launch has ended; when none of those that run ever will, all are given up."""
        def work():
            self._begin()
            while not event.done and not event.failed:
                self._conclude(*self.program.system.advance())
                self._begin()

        self._guarded(work)

    def _guarded(self, work):
        """Do the work; when the simulation fails, so do all launches."""
        try:
            work()
        except SimulationError as error:
            self._give_up(str(error))
        except BaseException as error:
            self._give_up(f"given up: {error}")
            raise

    def _begin(self):
        """Start what may begin."""
        system, board = self.program.system, self.program.context.simulated
        for event in [one for one in self._pending if one.start_ns is None]:
            if event.kernel.name in system.running or not self._may_begin(event):
                continue
            if not system.running:
                self._epoch = board.now_ns, system.session.cycle()
            since, first = self._epoch
            event.start_ns = since + (system.session.cycle() - first) * self._period_ns
            event.before = None
            system.start(event.kernel, *event.registers, forget=self._constants.must_forget(event.kernel, event.values))

    def _may_begin(self, event: BoardEvent) -> bool:
        """Whether its turn has come; a launch whose turn cannot come, or that breaks a promise of its kernel, fails."""
        why = None
        if event.before is not None and event.before.failed:
            why = f"kernel {event.kernel.name} was not started: the launch before it in its queue failed"
        elif event.before is None or event.before.done:
            broken = self._promises.violation(event.kernel, event.values, event.space, self.program.context.simulated.memory)
            if broken is None:
                return True
            why = f"\n{broken}"
        if why is not None:
            self._pending.remove(event)
            event.fail(_error(why))
        return False

    @cached_property
    def _promises(self) -> PromiseCheck:
        return PromiseCheck(self.program.result.module)

    @property
    def _period_ns(self) -> float:
        return 1000.0 / self.program.system.interface.clock_mhz

    def _conclude(self, name: str, run: Run):
        """The run of a kernel has ended."""
        event = next(one for one in self._pending if one.kernel.name == name and one.start_ns is not None)
        self._pending.remove(event)
        note_outputs(event.kernel, event.values)
        board = self.program.context.simulated
        end_ns = event.start_ns + run.cycles * self._period_ns
        board.now_ns = max(board.now_ns, end_ns)
        failure = self._failure(event, run)
        if failure is not None:
            self._constants.doubt()
            event.fail(failure)
            return
        statistics = self.program.result.decode(name, run.counters)
        if os.environ.get("SLUICE_STATS") == "1":
            print(render(statistics, self.program.source), flush=True)
        event.end(Event(event.start_ns, end_ns, Statistics(statistics, run.seconds)))

    def _failure(self, event: BoardEvent, run: Run) -> RuntimeError | None:
        """What went wrong in a run. What the memory refused is an error only if the kernel says so: a loop may have read ahead
        of its end."""
        kernel = event.kernel
        fault = _fault(run) if run.status or any(not fault.kind.is_read for fault in run.faults) else None
        if fault is not None:
            names = {value.value.allocation: argument.name for argument, value in zip(kernel.arguments, event.values)
                     if isinstance(value.value, Buffer)}
            text = f"kernel {kernel.name}{_culprits(kernel, run.status)}: {self.program.context.simulated.describe(fault, names)}"
        elif run.status:
            text = f"kernel {kernel.name}{_culprits(kernel, run.status)} ended with error bits {run.status:#x}"
        else:
            return None
        return _error(text)

    def _give_up(self, why: str):
        self._constants.doubt()
        for event in self._pending:
            event.fail(_error(why))
        self._pending.clear()


def _fault(run: Run) -> Fault | None:
    """The first fault of a direction in which the kernel was refused something; else the first at all."""
    refused = [fault for fault in run.faults if run.status >> (READ_REFUSED if fault.kind.is_read else WRITE_REFUSED) & 1]
    return next(iter(refused or run.faults), None)


def _culprits(kernel: KernelInterface, status: int) -> str:
    """The accesses that were refused, as part of a sentence."""
    found = dict.fromkeys(f"{access.kind} of {access.buffer}{f' at line {access.line}' if access.line else ''}"
                          for access in refused(kernel.layout.accesses, status))
    return f", {' or '.join(found)}" if found else ""


def _error(text: str) -> RuntimeError:
    return RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, text)
