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
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hls.narrow import present
from hls.profile import model
from hls.profile.build import Measured, launch_of, since
from hls.profile.layout import CYCLES, Layout
from hls.profile.probe import ProbeUnit
from hls.profile.summary import kernels_of
from hls.profile.waits import UnitWaits
from hls.rtl.interface import KernelInterface
from hls.target.board import Board
from sim.loaded import Run
from sim.probe import Probe

from .constants import command_type
from .roofs import memory_roof

if TYPE_CHECKING:
    from .board_runs import BoardEvent
    from .compiler import Compiled
    from .event import Event, Profile
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


@dataclass(frozen=True)
class _Snapshot:
    """What an autorun kernel has counted so far."""

    counters: dict[str, int]
    waits: tuple[UnitWaits, ...]
    levels: dict[str, int]

    @classmethod
    def of(cls, probe: Probe, layout: Layout) -> "_Snapshot":
        return cls(probe.counters(layout), probe.waits(layout), probe.level_sums(layout))


@dataclass
class _ProgramRecord:
    number: int
    source: str
    kernels: tuple[KernelInterface, ...]
    compiled: "Compiled | None" = None  #: kept for the report of what was built, if a profile is to be written
    #: by the name of a running kernel: those of the autorun kernels, by name, when it began
    snapshots: dict[str, dict[str, "_Snapshot"]] = field(default_factory=dict)

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
        key = program.compiled
        with self._lock:
            if key not in self._records:
                self.board = program.context.device.board
                kept = key if self.folder else None
                self._records[key] = _ProgramRecord(len(self._programs), program.source, key.interface.kernels, kept)
                self._programs.append(self._records[key])
            return self._records[key]

    def begin(self, program: "Program", kernel: str) -> None:
        """A kernel of the program is about to start: note what the autorun kernels have counted."""
        if self.folder and (probe := program.system.probe) is not None:
            record = self.program(program)
            record.snapshots[kernel] = {one.name: _Snapshot.of(probe, one.layout) for one in record.autorun}

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
            units=_units(program, kernel),
            waits=run.waits,
            samples=run.samples,
            levels=run.levels,
            banks=tuple(model.Bank(k, **vars(bank)) for k, bank in enumerate(run.banks)),
        )
        self._add(record, measured)
        snapshots, probe = record.snapshots.pop(kernel.name, {}), program.system.probe
        if probe is None:  # the simulator was given up
            return
        for other in record.autorun:
            if other.name in snapshots:
                now = _Snapshot.of(probe, other.layout)
                self._capture(record, program, other, number, run.begin, times, (snapshots[other.name], now))

    def _capture(
        self,
        record: _ProgramRecord,
        program: "Program",
        kernel: KernelInterface,
        of: int,
        begin: int,
        times: "Profile",
        snapshots: tuple[_Snapshot, _Snapshot],
    ) -> None:
        """Record what an autorun kernel did in launch number ``of``, which began in cycle ``begin``, between two
        ``snapshots``."""
        before, now = snapshots
        measured = Measured(
            layout=kernel.layout,
            counters=since(kernel.layout, before.counters, now.counters),
            begin=begin,
            start_ns=times.start,
            end_ns=times.end,
            program=record.number,
            of=of,
            units=_units(program, kernel),
            waits=[later.since(earlier) for later, earlier in zip(now.waits, before.waits, strict=True)],
            levels={key: total - before.levels[key] for key, total in now.levels.items()},
        )
        if measured.counters[CYCLES]:
            self._add(record, measured)

    def _add(self, record: _ProgramRecord, measured: Measured) -> None:
        layouts = {kernel.name: kernel.layout for kernel in record.kernels}
        launch = launch_of(measured, len(self.launches), layouts)
        roof = memory_roof(present(self.board), launch.accesses)
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
        return model.Profile(
            schema=model.SCHEMA,
            command=command,
            board=self.board.name,
            clock_mhz=self.board.clock.kernel_mhz,
            memories=tuple(
                model.Memory(one.name, one.kind, len(one.banks), one.peak_bytes_per_ns(period))
                for one in self.board.memories
            ),
            programs=tuple(
                model.Program(
                    one.number,
                    one.source,
                    tuple(kernel.name for kernel in one.kernels),
                    tuple(kernel.name for kernel in one.kernels if kernel.autorun),
                    _copies(one),
                )
                for one in self._programs
            ),
            kernels=kernels_of(self.launches),
            launches=tuple(self.launches),
            commands=tuple(self.commands),
            recorded=self._recorded(),
        )


def _copies(program: _ProgramRecord) -> tuple[tuple[str, ...], ...]:
    # what it needs of the compiler takes a second to import
    from hls.report.copies import group_copies

    groups = group_copies(program.compiled.kernels) if program.compiled is not None else ()
    return tuple(group.names for group in groups if len(group.names) > 1)


def _units(program: "Program", kernel: KernelInterface) -> tuple[ProbeUnit, ...]:
    map = program.compiled.interface.probe
    return () if map is None else tuple(map.units[k] for k in map.of_kernel(kernel.name))


TIMELINE = Timeline()
