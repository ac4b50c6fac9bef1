"""Launches on the replay: the emulator records them as it runs the planned kernels, and the engine replays the
records, of kernels that run at the same time together."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hls.emulate.trace import Tracer
from hls.ir import Attr, MemoryObject, Module
from hls.ir.accesses import memory_name
from hls.ir.launch import units_of
from hls.model.estimate import Planned
from hls.model.replay import MachineText, NotReplayed, wanted_by
from hls.model.replay.board import board_numbers
from hls.model.replay.figures import AccessFigures, LoopFigures, Replayed
from hls.model.replay.machine import Columns, channel_latency, is_timed
from hls.planning.memory import ChannelPlan
from hls.target.board import Board
from sim.emulator import Emulator, Started
from sim.start_registers import CYCLES_AFTER, RESET_CYCLES, WRITE_CYCLES, number_of_start_writes

from .endless import Endless
from .library import BoardMemory, ChannelText, LaunchText, Status, engine

__all__ = ["Launched", "Replayer"]

#: cycles after which launches are given up
LIMIT = 1 << 40
#: cycles that autorun kernels are ahead of the first launch, so that they wait for it
AHEAD = 1024


@dataclass(frozen=True)
class Launched:
    """A launch that has ended on the emulator: the ``addresses`` of its buffers by name, whether some of them
    ``overlap``, and the cycles from the start of the first launch to its own."""

    started: Started
    addresses: Mapping[str, int]
    start: int = 0
    overlap: bool = False


class Replayer:
    """The planned kernels of a program and the ``channels`` between them; ``constant_bytes`` is the size of their
    constant cache, ``inner`` are the channels between parts of kernels. Raises BuildError or ToolMissing at the first
    launch."""

    def __init__(
        self,
        kernels: Sequence[Planned],
        module: Module,
        board: Board,
        channels: Sequence[ChannelPlan] = (),
        constant_bytes: int = 0,
        hasty: bool = False,
        inner: Sequence[MemoryObject] = (),
    ) -> None:
        self.kernels = {one.function.name: one for one in kernels}
        self.board, self.channels = board, list(channels)
        self._tracer = Tracer([op for one in kernels for op in wanted_by(one)])
        functions = {one.function.name: one.function for one in kernels}
        self.emulator = Emulator(
            Module(functions, module.sources, module.channels | {one.name: one for one in inner}),
            hasty=hasty,
            depths=lambda: {(one.channel, one.index): one.depth for one in channels},
            observe=self._tracer,
            rewinds=any(map(is_timed, kernels)),
        )
        self._constant_bytes = constant_bytes
        self._held = [0] * len(self.channels)  #: values in each channel
        self._memory: BoardMemory | None = None  #: as the replay before has left it
        self._cycle = RESET_CYCLES  #: of the board, after that; it stands while nothing runs
        self._endless: dict[Started, Endless] = {}

    def machine(self, kernel: str, addresses: Mapping[str, int], overlap: bool = False) -> MachineText:
        """The machine of a kernel whose buffers have these addresses, and may ``overlap``. Raises NotReplayed."""
        channels = [(one.channel, one.index) for one in self.channels]
        given = addresses, channels, self._constant_bytes, overlap
        return MachineText.of(self.kernels[kernel], self.board, self._columns(kernel), *given)

    def _columns(self, kernel: str) -> Columns:
        trace = self._tracer.trace
        return Columns(trace.tops[kernel], trace.loops, trace.columns, trace.outcomes, trace.units.get(kernel, -1))

    def restart(self) -> None:
        """Reset the board: no row of its memory is open, and its cycles count from the start."""
        self._memory, self._cycle = None, RESET_CYCLES

    def empty_channels(self) -> None:
        """Forget what is in the channels, as the emulator does when it is reset."""
        self._held = [0] * len(self.channels)

    def register_cycles(self, kernel: str) -> int:
        """Cycles in which the host writes the registers of a launch."""
        function = self.kernels[kernel].function
        arguments = [parameter.bytes for parameter in function.params if parameter.kind != "pipe"]
        return WRITE_CYCLES * number_of_start_writes(arguments, len(function.attrs.get(Attr.LAUNCH_ARGS, ())))

    def replay(
        self, launches: Sequence[Launched], cycle: int | None = None, autorun: Sequence[Started] = ()
    ) -> list[Replayed]:
        """Replay, once, launches that have ended on the emulator and that ran at the same time, beside ``autorun``
        kernels that have not ended. In that ``cycle`` of the board the host begins to write the registers of the first;
        None: at once when the replay before has ended. The memory is as that has left it, unless the board is younger:
        then it has been started anew. Raises NotReplayed."""
        begin = self._cycle if cycle is None else cycle
        age = begin + self.register_cycles(launches[0].started.kernel)
        if begin < self._cycle:
            self._memory = None
        parts = [replace(one, started=part) for one in launches for part in one.started.parts]
        try:
            every = [_Launch(self, one) for one in (*launches, *parts)]
            found = self._run(every, [self._autorun(one) for one in autorun], age)
        finally:
            if self.emulator.marked:
                self.emulator.commit()
            for one in (*launches, *parts):
                self.emulator.forget(one.started)
        others = iter(found[len(launches) :])
        return [_with_parts(whole, [next(others) for _ in one.started.parts]) for one, whole in zip(launches, found)]

    def _autorun(self, started: Started) -> "_Launch":
        launch = _Launch(self, Launched(started, {}))
        if started.done:
            raise NotReplayed(f"the autorun kernel {started.kernel}, which ends,", launch.planned.function.span)
        columns, widths = self._columns(started.kernel), self._tracer.trace.widths
        launch.endless = self._endless.setdefault(started, Endless(launch.planned, columns, widths))
        launch.unfinished = launch.endless.complete(launch.records)
        return launch

    def _ahead(self, first: "_Launch") -> int:
        """Cycles from the beginning of autorun kernels to the first row of a launch. They wait for the launch, but not
        for a stream of the board, which they read from when the host writes its registers."""
        if any(_end_of_board(one) == 1 for one in self.channels):
            return self.register_cycles(first.planned.function.name) + first.static
        return AHEAD

    def _run(self, launches: "Sequence[_Launch]", autorun: "Sequence[_Launch]", age: int) -> list[Replayed]:
        first, ahead = min(one.first_row for one in launches), self._ahead(launches[0]) if autorun else 0
        rows = [*(1 + ahead + one.first_row - first for one in launches), *(1 for _ in autorun)]
        every = [*launches, *autorun]
        texts = (LaunchText * len(every))(*(one.text(row) for one, row in zip(every, rows, strict=True)))
        plans = [
            (one.depth, channel_latency(one.depth), held, _end_of_board(one))
            for one, held in zip(self.channels, self._held)
        ]
        channels = (ChannelText * max(1, len(plans)))(*(ChannelText(*one) for one in plans))
        held = (ctypes.c_uint64 * max(1, len(plans)))()
        if self._memory is None:
            self._memory = BoardMemory(np.array(board_numbers(self.board), np.float64))
        library = engine()
        given = texts, len(every), channels, len(plans), self._memory.handle, age + first - 1 - ahead
        replay = library.sluice_new_replay(*given)
        try:
            over = self._to_the_end(replay, texts, every)
            library.sluice_report(replay, held, len(plans))
        finally:
            library.sluice_delete_replay(replay)
        if not over:
            stopped = next(one for one, text in zip(launches, texts) if not text.cycles).planned.function
            if not self.channels:
                raise AssertionError(f"the replay of {stopped.name} came to a stop")
            raise NotReplayed("calls on channels that never end at the depths of hardware", stopped.span)
        self._held = list(held)[: len(plans)]
        found = [one.found(text) for one, text in zip(launches, texts)]
        last = max(one.start + replayed.cycles for one, replayed in zip(launches, found, strict=True))
        self._cycle = age + last + CYCLES_AFTER
        return found

    def _to_the_end(self, replay: int, texts: "ctypes.Array[LaunchText]", every: "Sequence[_Launch]") -> bool:
        """Replay until all launches have ended that do, and the others rest; returns whether they do. Where a call that
        does not block did something else than the record says, the emulator writes the record once more."""
        complete = not any(one.timed for one in every)
        while True:
            status = Status(engine().sluice_continue(replay, LIMIT, complete))
            if status not in (Status.CORRECTED, Status.STARVED):
                break
            grown = self._write_again(texts, every)
            complete = status is Status.STARVED and not grown
        if status is Status.OVER and any(one.timed and one.endless for one in every):
            self._write_again(texts, every, settle=True)
            for text in texts:
                text.unfinished = 0  # nothing more is to come
            engine().sluice_continue(replay, LIMIT, True)
        for one in every:
            if one.endless:
                one.endless.leave(one.records)
        return status is Status.OVER

    def _write_again(self, texts: "ctypes.Array[LaunchText]", every: "Sequence[_Launch]", settle: bool = False) -> bool:
        """Run all launches again from their beginning, with what is known of their calls by now; ``settle``: only as
        far as this goes. Returns whether the record of an endless launch has become longer."""
        ends = [one for one in every if not one.endless]
        self.emulator.rewind(settle)
        self.emulator.advance()
        if not all(one.started.done for one in ends):
            self.emulator.advance(last=True)
        for one in ends:
            if not one.started.done:
                raise NotReplayed("calls that never end with what hardware answers", one.planned.function.span)
        grown = False
        for one, text in zip(every, texts, strict=True):
            before = sum(count for _, count in one.records)
            one.read_records(self.emulator)
            text.unfinished = one.unfinished
            grown = grown or bool(one.endless) and sum(count for _, count in one.records) > before
        return grown


class _Launch:
    """One launch, and the arrays that describe it to the engine."""

    def __init__(self, replayer: Replayer, launched: Launched) -> None:
        self.planned = replayer.kernels[launched.started.kernel]
        self.machine = replayer.machine(launched.started.kernel, launched.addresses, launched.overlap)
        self.started, self.timed = launched.started, is_timed(self.planned)
        self.endless: Endless | None = None  #: of a launch that does not end
        self.unfinished = 0  #: see ``Launch`` in ``engine/engine.cpp``
        widths = replayer._tracer.trace.widths
        self.records: list[tuple[int, int]] = []  #: place and rows of each loop
        self._places, self._counts = np.zeros(len(widths), np.uint64), np.zeros(len(widths), np.uint64)
        self.read_records(replayer.emulator)
        self._grows = replayer.emulator.marked
        self._outcomes = replayer.emulator.outcomes(launched.started) if self._grows else 0
        self.static = self.planned.plan.static_depth
        self.start = launched.start
        self.first_row = launched.start + self.static  #: its cycle, from the start of the first launch
        units = units_of(self.planned.function)
        self._units = units if units > 1 else 0
        self._split = 4 * len(self.machine.regions)
        self._figures = np.zeros(self._split + 3 * len(self.machine.units), np.uint64)
        bases = [launched.addresses[memory_name(op)] for op in self.machine.units]
        numbers = np.array(self.machine.numbers, np.int64)
        self._given = [numbers, self._places, np.array(widths, np.uint64), self._counts, np.array(bases, np.uint64)]

    def read_records(self, emulator: Emulator) -> None:
        """The record as it is now. Raises NotReplayed."""
        self.records = emulator.traced(self.started, len(self._places)) or []
        if not self.records:
            raise NotReplayed("more iterations than a record holds", self.planned.function.span)
        self._places[:], self._counts[:] = zip(*self.records)
        if self.endless:
            self.unfinished = self.endless.complete(self.records)

    def text(self, start: int) -> LaunchText:
        """What the engine reads; the first row comes in cycle ``start``."""
        place = len(self.records), start, int(self.endless is not None), self._units
        known = self._outcomes, int(self._grows), self.unfinished
        return LaunchText(*map(_pointer, self._given), *place, _pointer(self._figures), 0, 0, *known)

    def found(self, text: LaunchText) -> Replayed:
        """What the engine has written."""
        machine = self.machine
        rows = self._figures[: self._split].reshape(-1, 4).tolist()
        used = self._figures[self._split :].reshape(-1, 3).tolist()
        accesses = tuple(AccessFigures(op, *row) for op, row in zip(machine.units, used, strict=True))
        loops = tuple(LoopFigures(plan, *row) for plan, row in zip(machine.regions, rows, strict=True) if plan.loop)
        return Replayed(text.cycles + self.static, text.issued, loops, accesses)


def _end_of_board(channel: ChannelPlan) -> int:
    """``ChannelPlan::board`` in ``engine/channel.h``."""
    return 0 if channel.stream is None else 1 if channel.stream.direction == "in" else 2


def _with_parts(whole: Replayed, parts: Sequence[Replayed]) -> Replayed:
    """The launch of a kernel that ends when its other parts have ended as well."""
    cycles = max(one.cycles for one in (whole, *parts))
    return replace(whole, cycles=cycles, parts=tuple(replace(one, cycles=cycles) for one in parts))


def _pointer(numbers: np.ndarray) -> ctypes.c_void_p:
    return numbers.ctypes.data_as(ctypes.c_void_p)
