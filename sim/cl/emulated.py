"""Programs on the emulator: kernels run as native code on the board's memory; no Verilog is generated."""

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from hls.diag import CompileError, Diagnostic, render
from hls.ir import Attr, Module
from hls.ir.launch import IndexSpace
from hls.narrow import instance, present
from hls.options import Options
from hls.profile.text import render as render_statistics
from hls.rtl.interface import KernelInterface, StreamInterface
from hls.signals import deferred
from hls.target.board import Board
from sim.emulator import EmulationError, Emulator, Outcome, Started
from sim.emulator.channel_depths import HARDWARE, with_depths
from sim.errors import BuildError, SimulationError, ToolMissing

from .arguments import Value
from .compiler import is_endless
from .constants import status_code
from .errors import RuntimeError
from .event import Event, PendingEvent, Statistics
from .interface import Interface, interface_of
from .memory import Buffer, LocalMemory
from .promises import PromiseCheck
from .queue import CommandQueue
from .refusals import refusal_text
from .timeline import TIMELINE
from .workloads import Observation, Source, WorkloadFolder, memories_of

__all__ = ["Emulated", "EmulatedEvent", "Model", "emulate_source", "given", "run_emulated"]

ROUTINE = "clEnqueueNDRangeKernel"
UNSETTLED = (
    "{} has not ended, and calls in the program do not block: what they do, and so what goes to the stream, the model "
    "knows once all launches have ended; take the values then"
)


class Model(Protocol):
    """Predicts the cycles of launches that have run on the emulator."""

    def check(self, kernel: str, values: Sequence[Value]) -> None:
        """Raises CompileError for a launch that it cannot predict."""

    def figures(
        self, launches: Sequence[tuple[Started, Sequence[Value]]], autorun: Sequence[Started], now_ns: float
    ) -> list[tuple[float, dict[str, Any]]]:
        """When each of some launches began that ran at the same time and have ended, in ns after the first, which began
        at ``now_ns`` of the board's time, and its statistics. Raises CompileError for what it cannot predict, and
        EmulationError for launches that fail with what hardware does."""

    def reset(self) -> None:
        """Launches were given up: channels are empty."""


@dataclass(eq=False)
class Emulated:
    """A program for the emulator, compiled to native code at its first launch. ``module`` is the output of the front
    end."""

    module: Module
    emulator: Emulator
    interface: Interface
    warnings: Sequence[Diagnostic]
    told: set[tuple[Any, ...]] = field(default_factory=set)  #: remarks on runs, each printed once
    pending: list["EmulatedEvent"] = field(default_factory=list)  #: launches that have not ended
    #: launches since none was pending; a model predicts them together
    together: list["EmulatedEvent"] = field(default_factory=list)
    autorun: list[Started] = field(default_factory=list)  #: autorun kernels that were started
    failure: RuntimeError | None = None  #: why launches were last given up
    source: Source | None = None  #: of a program whose launches leave workloads; None if they do not
    model: "Model | None" = None  #: what predicts the cycles of its launches; None if nothing does

    @cached_property
    def joins(self) -> bool:
        """Whether launches are predicted once the host waits for one, together with those that were queued later."""
        return self.model is not None and bool(self.module.channels)

    @cached_property
    def promises(self) -> PromiseCheck:
        """What checks launches on the model, whose planned kernels do not show what `#pragma ivdep` asserts."""
        return PromiseCheck(self.module, arrays=False)

    def give_up(self, error: RuntimeError) -> None:
        """Give up all pending launches; waiting for one of them raises ``error``. None goes on, and channels are
        empty."""
        self.emulator.reset()
        if self.model is not None:
            self.model.reset()
        lost = [event for event in dict.fromkeys((*self.pending, *self.together)) if not event.over]
        self.pending, self.together = [], []
        self.autorun.clear()
        self.failure = error
        if lost:
            lost[0].schedule.lose(lost, error)

    def start_autorun(self) -> None:
        """Start the autorun kernels, if that was not done, and restart those that have ended."""
        names = [kernel.name for kernel in self.interface.kernels if kernel.autorun]
        running = [one for one in self.autorun if not one.done]
        for name in names:
            if name not in {one.kernel for one in running}:
                group = self.module.functions[name].attrs.get(Attr.WORK_GROUP_SIZE) or (1,)
                running.append(self.emulator.start(name, {}, {}, IndexSpace.of(group, group)))
        self.autorun[:] = running

    def feed(self, stream: StreamInterface, data: bytes) -> None:
        """Pass values to the kernels that read a stream of the board."""
        self.emulator.feed(stream.channel, stream.bits // 8, data)

    def drain(self, stream: StreamInterface) -> bytes:
        """The values that kernels wrote to a stream of the board, after all kernels have run as far as they can. On the
        model, what calls do that do not block is known when their launches were predicted: then values are final."""
        self.start_autorun()
        self.failure = None
        _advance(self)
        if self.emulator.marked and self.failure is None:
            if self.pending:
                raise RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, UNSETTLED.format(self.pending[0].what))
            _predict_ended(self)
        if self.failure is not None:
            raise self.failure
        return self.emulator.drain(stream.channel, stream.bits // 8)


def emulate_source(source: str, board: Board, options: Options, file: str, depth_model: str = HARDWARE) -> Emulated:
    """Parse and check OpenCL C only: code that cannot be hardware yet runs here, too. ``depth_model`` is how deep
    channels are (:mod:`sim.emulator.channel_depths`). Raises CompileError."""
    with deferred():
        from hls.assumed_sizes import assume_sizes
        from hls.frontend import Options as FrontendOptions
        from hls.frontend import parse_source  # not needed by a host program that fails before
        from hls.passes.run_stages import link_program

    parsed = parse_source(
        source,
        file,
        options.defines,
        [str(d) for d in options.include_dirs],
        FrontendOptions(options.single_precision),
        options.include_roots,
        options.models,
    )
    assume_sizes(parsed.module, options)
    try:
        written = _designed(parsed.module, options, file)
        module = link_program(written, options.fpc, flush=options.denorms_are_zero, limits=options.limits)
        observe = memories_of(board) if WorkloadFolder.wanted() else None
        run = _inlined(module, options) if observe else module
        built = (lambda: _depths(module, board, options)) if depth_model == HARDWARE else None
        emulator = Emulator(with_depths(run, depth_model), depths=built, observe=observe)
        text = Source.of(file, parsed.module.sources, options) if observe else None
        return Emulated(module, emulator, interface_of(module, board), parsed.warnings, source=text)
    except CompileError as error:
        error.sources = parsed.module.sources
        raise


def _designed(module: Module, options: Options, file: str) -> Module:
    """The module with the options' design, whose promises of loops and buffers are then checked as those of the text.
    Raises CompileError for a design of another program."""
    if options.design is None:
        return module
    with deferred():
        from hls.driver import designed_module  # with all of the compiler

    return designed_module(module, options, file)


def _inlined(module: Module, options: Options) -> Module:
    """The module with the body of a helper function at each call, so that its loops and accesses are told apart by
    call."""
    from hls.passes.lowering.inline import Inline

    return Inline(options.limits.operations).run(module)


def _depths(module: Module, board: Board, options: Options) -> dict[tuple[str, int], int]:
    """Depths of the channels as hardware; empty for a program that cannot be hardware."""
    with deferred():
        from hls.driver import channel_depths

    try:
        return channel_depths(module, board, options)
    except CompileError:
        return {}


class EmulatedEvent(PendingEvent):
    """A launch on the emulator. It has run when the call that made it returns, unless it waits at a channel, or for a
    command that does: then it continues when another kernel is launched."""

    joined = True  # holds for launches that have not ended at once

    def __init__(
        self,
        program: Emulated,
        queue: CommandQueue,
        kernel: KernelInterface,
        values: Sequence[Value],
        space: IndexSpace,
        after: Sequence[PendingEvent],
    ) -> None:
        super().__init__(queue.context.simulated.schedule, after, queue)
        self.program, self._kernel, self._space = program, kernel, space
        self._kept: tuple[Value, ...] | None = tuple(values)
        self._values = values
        self._given: tuple[dict[str, Any], dict[str, Any]] | None = given(kernel, values)
        self.what = f"kernel {kernel.name}"
        self.started: Started | None = None
        self.outcome: Outcome | None = None  #: of the run in which it has ended
        self._observation: Observation | None = None

    def begin(self) -> None:
        """Run the kernel until it ends or waits at a channel; a fault of the program makes the event fail."""
        program = self.program
        try:
            if program.model:
                program.model.check(self._kernel.name, self._values)
                memory = present(self.context).simulated.memory
                broken = program.promises.violation(self._kernel, self._values, self._space, memory)
                if broken is not None:
                    self.fail(RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, f"\n{broken}"))
                    return
            program.start_autorun()
            if program.source:
                self._observation = Observation(self._kernel.name, *present(self._given), self._space)
            self.started = program.emulator.start(self._kernel.name, *present(self._given), self._space)
        except CompileError as error:
            self.fail(_refused(program, error))
            return
        except (BuildError, ToolMissing) as error:
            self.fail(RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, str(error)))
            return
        program.pending.append(self)
        program.together.append(self)
        _advance(program)

    @property
    def endless(self) -> bool:
        """Whether the kernel is written never to end."""
        return is_endless(self.program.module, self._kernel.name)

    def give_up(self) -> None:
        """Let waiting kernels continue once more; if this one still waits, fail it and those that run with it."""
        program = self.program
        _advance(program, last=True)
        if not self.over and self.outcome is not None:
            program.give_up(_unpredicted(program, self))
        elif not self.over:
            for event in program.pending:
                event.starved = True
            program.give_up(_failure(program, program.emulator.waiting()))

    @property
    def command_execution_status(self) -> int:
        """OpenCL's number; a host that asks for it lets time go on."""
        if not self.over and self.outcome is not None and not self.program.pending:
            _predict_ended(self.program)
        return super().command_execution_status

    def finish(self, outcome: Outcome) -> None:
        """The launch has ended; nothing predicts its cycles."""
        board = present(self.context).simulated
        start = board.now_ns
        board.now_ns += outcome.seconds * 1e9
        if os.environ.get("SLUICE_STATS") == "1":
            count = math.prod(self._space.global_size)
            print(
                f"{self._kernel.name}: emulated, {count:,} work-item{'s' * (count != 1)} in {outcome.seconds:.3g} s",
                file=sys.stderr,
                flush=True,
            )
        self._conclude(outcome, _statistics(self._kernel, self._space, outcome), start, board.now_ns)

    def finish_predicted(self, predicted: dict[str, Any], start_ns: float) -> None:
        """The launch has ended, and this was predicted of it."""
        outcome, board = present(self.outcome), present(self.context).simulated
        statistics = _statistics(self._kernel, self._space, outcome) | predicted
        end_ns = start_ns + statistics["cycles"] / statistics["clock_mhz"] * 1e3
        board.now_ns = max(board.now_ns, end_ns)
        if os.environ.get("SLUICE_STATS") == "1":
            print(render_statistics(statistics), file=sys.stderr, flush=True)
        self._conclude(outcome, statistics, start_ns, end_ns)

    @property
    def launched(self) -> tuple[Started, Sequence[Value]]:
        """The launch on the emulator, and its arguments."""
        return present(self.started), self._values

    def _conclude(self, outcome: Outcome, statistics: dict[str, Any], start_ns: float, end_ns: float) -> None:
        self._keep_workload(present(self.context).device.board)
        self._release()
        figures = Statistics(statistics, outcome.seconds)
        finished = Event(start_ns, end_ns, figures, self.queued_ns, submit_ns=self.submit_ns, queue=self.command_queue)
        TIMELINE.emulated(finished)
        self.end(finished)

    def _keep_workload(self, board: Board) -> None:
        """Write the file of what the launch did, if one is wanted."""
        folder, program = WorkloadFolder.wanted(), self.program
        if not (folder and self._observation and program.source):
            return
        try:
            folder.write(self._observation.workload(program.emulator, present(self.started), board, program.source))
        except OSError as error:
            text = f"cannot write the workload to {folder.path}: {error.strerror or error}"
            raise RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, text) from None

    def note_failure(self, error: Exception) -> None:
        """The launch was given up."""
        self._release()
        super().note_failure(error)

    def _release(self) -> None:
        """Release the buffers."""
        self._kept = self._given = None


def run_emulated(
    program: Emulated,
    queue: CommandQueue,
    kernel: KernelInterface,
    values: Sequence[Value],
    space: IndexSpace,
    after: Sequence[PendingEvent] = (),
) -> Event:
    """Start the kernel after the unfinished commands of its queue and the commands ``after``, and run as far as
    possible. Raises cl.RuntimeError with the source location when a run fails, BuildError or ToolMissing if it cannot
    be compiled."""
    program.emulator.prepare()
    event = EmulatedEvent(program, queue, kernel, values, space, [*_ended(queue.before()), *_ended(after)])
    event.schedule.add(event)
    if event.failed:
        event.wait()
    if not event.done:
        for value in values:
            if isinstance(value.value, Buffer):
                value.value.note_launch(event)
        queue.note(event)
    return event


def _ended(events: Sequence[PendingEvent]) -> list[PendingEvent]:
    """Complete the events that can end by themselves; returns the others. Raises the failures of the former."""
    for event in events:
        if not event.needs_others:
            event.wait()
    return [event for event in events if not event.over]


def given(kernel: KernelInterface, values: Sequence[Value]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The buffers (and sizes of local memory) and the scalars of a launch, by the names of the parameters."""
    buffers: dict[str, Any] = {}
    scalars = {}
    for argument, value in zip(kernel.arguments, values, strict=True):
        if argument.kind == "scalar":
            scalars[argument.name] = value.number
        elif argument.kind == "pipe":
            continue
        elif isinstance(value.value, LocalMemory):
            buffers[argument.name] = value.value.size
        else:
            buffers[argument.name] = (
                np.zeros(0, np.uint8) if value.value is None else instance(value.value, Buffer).contents
            )
    return buffers, scalars


def _advance(program: Emulated, last: bool = False) -> None:
    """Run all launches of the program as far as possible. When one fails, all are given up."""
    try:
        outcome = program.emulator.advance(last=last)
    except EmulationError as error:
        program.give_up(_failure(program, error))
        return
    except BaseException as error:
        program.give_up(RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, f"given up: {error}"))
        if isinstance(error, BuildError | SimulationError):
            return  # an invalid setting: reported to the caller that waits
        raise
    _remark(program, outcome)
    ended = [event for event in program.pending if present(event.started).done]
    program.pending = [event for event in program.pending if not present(event.started).done]
    for event in ended:
        event.outcome = outcome
        if program.model is None:
            event.finish(outcome)
    if not program.pending and (last or not program.joins):
        _predict_ended(program)


def _predict_ended(program: Emulated) -> None:
    """End the launches that ran at the same time and have ended, with what the model says of them."""
    model, together, program.together = program.model, program.together, []
    if model is None or not together:
        return
    now_ns = present(together[0].context).simulated.now_ns
    try:
        found = model.figures([event.launched for event in together], program.autorun, now_ns)
    except BaseException as error:
        program.together = list(together)
        program.give_up(_why_unpredicted(program, error))
        if isinstance(error, CompileError | EmulationError):
            return  # reported to the caller that waits
        raise
    for event, (begin_ns, predicted) in zip(together, found, strict=True):
        event.finish_predicted(predicted, now_ns + begin_ns)


def _why_unpredicted(program: Emulated, error: BaseException) -> RuntimeError:
    """The failure of launches that the model could not predict, or in which, with what calls do in hardware that do not
    block, a run failed that had not failed with what they were assumed to do."""
    if isinstance(error, CompileError):
        return _refused(program, error)
    if isinstance(error, EmulationError):
        return _failure(program, error)
    return RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, f"given up: {error}")


def _refused(program: Emulated, error: CompileError) -> RuntimeError:
    text = refusal_text(error, program.module.sources)
    return RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, "\n" + text)


def _unpredicted(program: Emulated, event: EmulatedEvent) -> RuntimeError:
    """The failure of a launch that has ended, but not those that ran with it."""
    others = ", ".join(dict.fromkeys(f"kernel {one.launched[0].kernel}" for one in program.pending))
    text = (
        f"the model predicts launches that run at the same time together, and {event.what} is waited for before what "
        f"lets {others} end is launched; launch all kernels before the first is waited for"
    )
    return RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, text)


def _failure(program: Emulated, error: EmulationError) -> RuntimeError:
    text = "\n" + render(error.diagnostic, program.module.sources)
    return RuntimeError(ROUTINE, status_code.OUT_OF_RESOURCES, text)


def _remark(program: Emulated, outcome: Outcome) -> None:
    """Report on stderr reads of uninitialized elements, once for each location in the program."""
    for read in outcome.unset_reads:
        place = (read.function, read.span)
        if place not in program.told:
            program.told.add(place)
            print(render(read.diagnostic, program.module.sources), file=sys.stderr, flush=True)


def _statistics(kernel: KernelInterface, space: IndexSpace, outcome: Outcome) -> dict[str, Any]:
    """The statistics of a run on the board that exist without cycles, and those that only the emulator has."""
    unset = [{"line": read.span.line if read.span else None, "count": read.count} for read in outcome.unset_reads]
    return {
        "kernel": kernel.name,
        "device": "emulator",
        "cycles": None,
        "clock_mhz": None,
        "loops": [],
        "memory": [],
        "channels": [],
        "accounts": [],
        "units": [],
        "work_items": math.prod(space.global_size),
        "seconds": outcome.seconds,
        "unset_reads": unset,
    }
