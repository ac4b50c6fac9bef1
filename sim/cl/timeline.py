"""What a host program did, in order: every command with its times, and every launch with what was measured.

Recorded only if asked for ($SLUICE_PROFILE, a folder, or $SLUICE_STATS_FILE, a file): a program may launch for hours.
Threads and contexts may launch at the same time.
"""

import itertools
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hls.narrow import present
from hls.profile import model
from hls.profile.build import Measured, channel_depth, launch_of
from hls.profile.depths import ChannelReplay
from hls.profile.layout import CYCLES
from hls.profile.probe import ProbeMap, ProbeUnit
from hls.profile.summary import kernels_of
from hls.rtl.interface import KernelInterface
from hls.target.board import Board, DramTiming, Memory
from sim.loaded import Run
from sim.session import BankStatistics

from .captures import Snapshot
from .constants import command_type
from .roofs import memory_roof

if TYPE_CHECKING:
    from .board_runs import BoardEvent
    from .compiler import Compiled
    from .event import Event
    from .program import Program
    from .queue import CommandQueue

__all__ = ["TIMELINE", "Timeline"]

#: intervals for which samples are kept, of each run
INTERVALS = 1024
#: numbers in the samples of all launches, at most: they take about 130 MB
MOST_SAMPLES = 4_000_000
KINDS = {
    command_type.READ_BUFFER: "read",
    command_type.READ_BUFFER_RECT: "read",
    command_type.WRITE_BUFFER: "write",
    command_type.WRITE_BUFFER_RECT: "write",
    command_type.COPY_BUFFER: "copy",
    command_type.COPY_BUFFER_RECT: "copy",
    command_type.FILL_BUFFER: "fill",
    command_type.MAP_BUFFER: "map",
    command_type.UNMAP_MEM_OBJECT: "unmap",
}


@dataclass
class _ProgramRecord:
    number: int
    source: str
    kernels: tuple[KernelInterface, ...]
    probe: ProbeMap | None
    compiled: "Compiled | None" = None  #: kept for the report of what was built, if a profile is to be written
    #: by the name of a running kernel: those of the autorun kernels, by name, when it began
    snapshots: dict[str, dict[str, Snapshot]] = field(default_factory=dict)
    #: by the name of an autorun kernel: its snapshot at the end of the last launch, and when that was, in ns
    last: dict[str, tuple[Snapshot, float]] = field(default_factory=dict)
    #: of each channel, as of the end of the last launch
    replays: list[ChannelReplay] = field(default_factory=list)

    def units_of(self, kernel: KernelInterface) -> tuple[ProbeUnit, ...]:
        """The sections of the probe of a kernel's compute units."""
        return self.sections(kernel.name)

    def sections(self, name: str) -> tuple[ProbeUnit, ...]:
        """The same for a kernel, or a part of one, of that name."""
        return () if self.probe is None else tuple(self.probe.units[k] for k in self.probe.of_kernel(name))

    @property
    def autorun(self) -> list[KernelInterface]:
        """The kernels that the host does not start."""
        return [kernel for kernel in self.kernels if kernel.autorun]


class Timeline:
    """The record of this process."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.folder = os.environ.get("SLUICE_PROFILE") or None
        self.wanted = bool(self.folder or os.environ.get("SLUICE_STATS_FILE"))
        self.commands: list[model.Command] = []
        self.launches: list[model.Launch] = []
        self.statistics: list[dict[str, object]] = []
        self.kernel = os.environ.get("SLUICE_PROFILE_KERNEL") or ""  #: only its launches are recorded, if not empty
        self.every = int(os.environ.get("SLUICE_PROFILE_EVERY") or 1)  #: one launch of a kernel in so many is recorded
        self._launched: Counter[str] = Counter()  #: launches so far, recorded or not
        self.unsampled = 0  #: launches whose samples were left out
        self.board: Board | None = None
        self._sampled = 0  #: numbers in samples so far
        self._programs: list[_ProgramRecord] = []
        self._records: weakref.WeakKeyDictionary[object, _ProgramRecord] = weakref.WeakKeyDictionary()
        self._queues: weakref.WeakKeyDictionary[CommandQueue, int] = weakref.WeakKeyDictionary()
        self._queue_count = itertools.count()
        self._lock = threading.RLock()

    @property
    def intervals(self) -> int:
        """The intervals of a run for which samples are to be kept at most; 0 for none."""
        return INTERVALS if self.folder else 0

    def command(
        self, kind: int | str, event: "Event | None" = None, bytes: int = 0, name: str = "", launch: int | None = None
    ) -> None:
        """Record a finished command; ``kind`` is OpenCL's number of it, or a word. ``name`` is the kernel of a launch,
        ``launch`` its number."""
        if not self.folder or (isinstance(kind, int) and kind not in KINDS):
            return
        times = event.profile if event is not None else None
        queue = self.queue(event.command_queue) if event is not None and event.command_queue else None
        with self._lock:
            self.commands.append(
                model.Command(
                    number=len(self.commands),
                    kind=KINDS[kind] if isinstance(kind, int) else kind,
                    queue=queue,
                    name=name,
                    launch=launch,
                    bytes=bytes,
                    queued_ns=float(times.queued if times else 0),
                    submit_ns=float(times.submit if times else 0),
                    start_ns=float(times.start if times else 0),
                    end_ns=float(times.end if times else 0),
                    host_s=time.monotonic() - self.began,
                )
            )

    def queue(self, queue: "CommandQueue") -> int:
        """The number of a queue, in the order of their first commands."""
        with self._lock:
            if queue not in self._queues:
                self._queues[queue] = next(self._queue_count)
            return self._queues[queue]

    def program(self, program: "Program") -> _ProgramRecord:
        """The record of a built program; a later build of it is a program of its own."""
        key = program._compiled
        with self._lock:
            if key not in self._records:
                self.board = program.context.device.board
                kept, interface = key if self.folder else None, key.interface
                self._records[key] = _ProgramRecord(
                    len(self._programs), program.source, interface.kernels, interface.probe, kept
                )
                self._programs.append(self._records[key])
            return self._records[key]

    def begin(self, program: "Program", kernel: str) -> None:
        """A kernel of the program is about to start: note what the autorun kernels have counted."""
        if self.folder and (probe := program._system.probe) is not None:
            record = self.program(program)
            record.snapshots[kernel] = {one.name: Snapshot.of(probe, one.layout) for one in record.autorun}

    def launch(self, program: "Program", run: Run, event: "BoardEvent", finished: "Event") -> None:
        """Record a finished launch, and what the program's autorun kernels did since it began."""
        if not self.wanted:
            return
        with self._lock:
            self.statistics.append(present(finished.stats).to_dict() | {"start_ns": finished.profile.start})
            if self.folder:
                name = event.kernel.name
                self._launched[name] += 1
                if self.kernel in ("", name) and (self._launched[name] - 1) % self.every == 0:
                    self._launch(program, run, event, finished)
                else:
                    self.program(program).snapshots.pop(name, None)
                    self.command("launch", finished, name=name)

    def emulated(self, finished: "Event") -> None:
        """Record a finished launch on the emulator: its times and figures, with the wall time that it took."""
        if self.wanted:
            with self._lock:
                self.statistics.append(present(finished.stats).to_dict() | {"start_ns": finished.profile.start})

    def _launch(self, program: "Program", run: Run, event: "BoardEvent", finished: "Event") -> None:
        record, number, kernel = self.program(program), len(self.launches), event.kernel
        self.command("launch", finished, name=kernel.name, launch=number)
        times = finished.profile
        measured = Measured(
            layout=kernel.layout,
            counters=run.counters,
            begin=run.begin,
            start_ns=times.start,
            end_ns=times.end,
            program=record.number,
            queue=self.queue(present(event.command_queue)),
            global_size=tuple(event.space.global_size),
            local_size=tuple(event.space.local_size),
            units=record.units_of(kernel),
            waits=run.waits,
            samples=run.samples,
            levels=run.levels,
            banks=_banks(program._system.built, run.banks, times.end - times.start),
        )
        self._add(record, measured)
        snapshots, probe = record.snapshots.pop(kernel.name, {}), program._system.probe
        if probe is None:  # the simulator was given up
            return
        record.replays = probe.replays()
        for part in kernel.layout.parts:
            observed, units = Snapshot.of(probe, part), record.sections(part.kernel)
            beside = replace(measured, part=True, of=number, units=units, samples=(), banks=(), **vars(observed))
            self._add(record, replace(beside, layout=part))
        for other in record.autorun:
            if other.name in snapshots:
                now = Snapshot.of(probe, other.layout)
                record.last[other.name] = now, times.end
                observed = now.since(other.layout, snapshots[other.name])
                self._add_capture(record, other, observed, (times.start, times.end), begin=run.begin, of=number)

    def capture(
        self, program: "Program", kernel: KernelInterface, observed: Snapshot, times: tuple[float, float]
    ) -> None:
        """Record what an autorun kernel did between two captures of the host, at ``times`` in ns."""
        if self.folder:
            with self._lock:
                number = len(self.launches)
                self._add_capture(self.program(program), kernel, observed, times)
                if len(self.launches) > number:
                    self.command("capture", None, name=kernel.name, launch=number)

    def _add_capture(
        self,
        record: _ProgramRecord,
        kernel: KernelInterface,
        observed: Snapshot,
        times: tuple[float, float],
        begin: int = 0,
        of: int | None = None,
    ) -> None:
        """Record what was ``observed`` of an autorun kernel between two ``times`` in ns: in launch number ``of``, which
        began in cycle ``begin``, or apart from launches."""
        measured = Measured(
            layout=kernel.layout,
            counters=observed.counters,
            begin=begin,
            start_ns=times[0],
            end_ns=times[1],
            program=record.number,
            of=of,
            capture=True,
            units=record.units_of(kernel),
            waits=observed.waits,
            levels=observed.levels,
        )
        if measured.counters[CYCLES]:
            self._add(record, measured)

    def end(self) -> None:
        """At the end of the process: record what each autorun kernel did in the whole run."""
        with self._lock:
            for record in self._programs:
                for kernel in record.autorun:
                    if kernel.name in record.last:
                        now, end_ns = record.last[kernel.name]
                        self._add_capture(record, kernel, now.since(kernel.layout, None), (0.0, end_ns))

    def _add(self, record: _ProgramRecord, measured: Measured) -> None:
        layouts = {one.kernel: one for kernel in record.kernels for one in (kernel.layout, *kernel.layout.parts)}
        launch = launch_of(measured, len(self.launches), layouts)
        roof = memory_roof(present(self.board), launch.accesses, launch.banks)
        if roof is not None:
            launch = replace(launch, roof_bytes_per_ns=roof[0], roof_by=roof[1])
        numbers = sum(len(column.values) for samples in launch.samples for column in samples.columns)
        if self._sampled + numbers > MOST_SAMPLES:
            launch, numbers = replace(launch, samples=()), 0
            self.unsampled += 1
        self._sampled += numbers
        self.launches.append(launch)

    def _recorded(self) -> str:
        """Which launches were recorded, in words; "" for all."""
        only = f"of kernel {self.kernel} only" if self.kernel else ""
        some = f"one of {self.every}" if self.every > 1 else ""
        return f"recorded are launches {', '.join(filter(None, (only, some)))}" if only or some else ""

    def compiled(self, program: int) -> "Compiled":
        """What was built as program number ``program``; there is one only if a profile is to be written."""
        return present(self._programs[program].compiled)

    def profile(self, command: tuple[str, ...]) -> model.Profile | None:
        """Everything so far; None if no program was built for a board."""
        if self.board is None:
            return None
        period = self.board.clock.period_ns
        depths = tuple(channel_depth(one.number, replay) for one in self._programs for replay in one.replays)
        return model.Profile(
            schema=model.SCHEMA,
            command=command,
            board=self.board.name,
            clock_mhz=self.board.clock.kernel_mhz,
            memories=tuple(
                model.Memory(one.name, one.kind, len(one.banks), one.shared_peak(period)) for one in self.board.memories
            ),
            programs=tuple(
                model.Program(
                    one.number,
                    one.source,
                    tuple(layout.kernel for kernel in one.kernels for layout in (kernel.layout, *kernel.layout.parts)),
                    tuple(kernel.name for kernel in one.kernels if kernel.autorun),
                    _copies(one),
                )
                for one in self._programs
            ),
            kernels=kernels_of(self.launches, depths),
            launches=tuple(self.launches),
            commands=tuple(self.commands),
            recorded=self._recorded(),
            depths=depths,
        )


def _copies(program: _ProgramRecord) -> tuple[tuple[str, ...], ...]:
    # what it needs of the compiler takes a second to import
    from hls.report.copies import group_copies

    groups = group_copies(program.compiled.kernels) if program.compiled is not None else ()
    return tuple(group.names for group in groups if len(group.names) > 1)


def _banks(board: Board, counts: Sequence[BankStatistics], duration_ns: float) -> tuple[model.Bank, ...]:
    """The records of all banks of a board's memories, which have their numbers in order."""
    memories = [memory for memory in board.memories for _ in memory.banks]
    return tuple(
        model.Bank(k, memory.name, _busy(memory, bank, duration_ns), **vars(bank))
        for k, (memory, bank) in enumerate(zip(memories, counts))
    )


def _busy(memory: Memory, bank: BankStatistics, duration_ns: float) -> float | None:
    """The share of time in which data moves: on the data bus of DRAM, on the busier port of static memory."""
    if memory.timing is None or not duration_ns:
        return None
    if isinstance(memory.timing, DramTiming):
        moving = (bank.reads + bank.writes) * memory.timing.burst_ns
    else:
        moving = max(bank.bytes_read, bank.bytes_written) / memory.word_bytes * memory.timing.word_ns
    return moving / duration_ns


TIMELINE = Timeline()
