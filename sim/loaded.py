"""A compiled system, loaded into a simulated board: starts kernels and reads their counters."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hls.profile.layout import CYCLES
from hls.profile.waits import Samples, UnitWaits
from hls.rtl.interface import KernelInterface, SystemInterface
from hls.sentence import enumerated
from hls.target.board import Board
from rtl_lib.axi import register_map as at

from .build import build
from .console import Console
from .device.line import DeviceError
from .device.session import DeviceSession
from .errors import SimulationError
from .probe import Probe
from .probe_enums import with_enums
from .progress import PATIENCE, Progress, read_counters
from .session import BankStatistics, Session
from .settings import number
from .shared import Fault, SharedMemory
from .start_registers import RESET_CYCLES, start_writes
from .waveform import begin_waveform
from .wired import run_by_wires

__all__ = ["ALL_CYCLES", "LoadedSystem", "Run", "Stopped", "TraceRequest"]


#: more cycles than any simulation runs
ALL_CYCLES = 1 << 62


class Stopped(SimulationError):
    """No running kernel will make progress by itself; the simulator is unchanged."""


@dataclass(frozen=True)
class TraceRequest:
    """A waveform of the cycles [start, start + cycles) after the first kernel's start."""

    path: Path
    start: int = 0
    cycles: int = ALL_CYCLES
    signals: str = "handshakes"  #: one of sim.tracing.TRACES but "none"
    source: str = ""  #: the program's text


@dataclass(frozen=True)
class Run:
    """One finished kernel run. ``counters`` has every counter by name and the cycles under ``CYCLES``."""

    cycles: int
    counters: Mapping[str, int]
    status: int  #: the kernel's error bits
    faults: tuple[Fault, ...]  #: the first access of each kind that the memory refused
    elapsed: int  #: cycles of the simulation, register accesses included
    seconds: float  #: of wall time that the simulation took
    begin: int = 0  #: cycle of the simulation before its first one
    waits: tuple[UnitWaits, ...] = ()  #: of its compute units, where the design has a probe
    samples: tuple[Samples, ...] = ()  #: of its compute units, where they were asked for
    levels: Mapping[str, int] = field(default_factory=dict)  #: sum over the cycles of what each channel held, by key
    banks: tuple[BankStatistics, ...] = ()  #: commands of each bank of memory meanwhile, where samples were asked for

    @property
    def fault(self) -> Fault | None:
        """The first access that the memory refused."""
        return self.faults[0] if self.faults else None


@dataclass(frozen=True)
class _Started:
    """A kernel that has been running since ``cycle`` of the simulation, at ``seconds`` of wall time."""

    kernel: KernelInterface
    cycle: int
    seconds: float
    banks: tuple[BankStatistics, ...] = ()


@dataclass
class LoadedSystem:
    """A system's simulator, built and started at the first run; with a ``link`` to hardware ("uart:PATH" or
    "eth:HOST") that instead, which must hold the design of this ``digest``."""

    verilog: Mapping[str, str]
    interface: SystemInterface
    board: Board
    memory: SharedMemory
    seed: int = 0  #: of random stalls, 0 for none
    trace: TraceRequest | None = None
    progress: Callable[[str], None] = lambda step: None
    hasty: bool = False  #: few cycles will be simulated: compile quickly
    intervals: int = 0  #: of each run for which samples are kept, at most
    link: str = ""
    digest: str = ""
    probe: Probe | None = field(default=None, init=False)
    _session: Session | None = field(default=None, init=False)
    _traced: bool = field(default=False, init=False)
    _cut: int | None = field(default=None, init=False)  #: the cycle in which the waveform ends, until that was reported
    _running: dict[str, "_Started"] = field(default_factory=dict, init=False)
    _ended: list[tuple[str, Run]] = field(default_factory=list, init=False)
    #: of the running kernels, since one of them started or ended
    _progress: Progress | None = field(default=None, init=False)
    _unseen: int = field(default=0, init=False)  #: cycles since its last look
    _before: int = field(default=0, init=False)  #: cycles of simulators that were closed
    _reached: int = field(default=0, init=False)  #: cycle of this one, at the last query

    @cached_property
    def _console(self) -> Console:
        return Console(self.interface)

    @property
    def session(self) -> Session:
        """The running simulator."""
        if self._session is not None and self._session.abandoned:
            self.close()
        if self._session is None:
            self._session, self.probe = self._started()
        return self._session

    def _started(self) -> tuple[Session, Probe | None]:
        """A simulator after a reset, and its probe. Both or none: an interrupt may come at any time, and a host program
        that catches it goes on."""
        if self.link:
            return self._linked(), None
        signals = self.trace.signals if self.trace else "none"
        verilog = with_enums(self.verilog, self.interface) if self.trace else self.verilog
        simulator = build(verilog, self.interface.top, signals, self.progress, self.hasty)
        session, probe = Session(simulator.executable, self.built, self.memory, self.interface.clock_mhz), None
        try:
            if self.interface.probe is not None:
                probe = Probe(session, self.interface.probe, self.interface.layouts, self.intervals)
            session.reset(self.seed)
        except BaseException:
            session.close()
            raise
        return session, probe

    def _linked(self) -> Session:
        """The board of hardware, after a reset of its kernels."""
        if self.seed:
            raise DeviceError("random stalls are for simulations: leave SLUICE_STALL_SEED or SLUICE_DEVICE unset")
        return DeviceSession(self.link, self.board, self.interface, self.digest, self.memory)

    def cycle(self) -> int:
        """Cycles that have passed so far, in all simulators of this system."""
        if self._session is not None:
            self._reached = self._session.cycle()
        return self._before + self._reached

    @property
    def age(self) -> int:
        """Cycles that the board has been running, since it was last started."""
        return RESET_CYCLES if self._session is None else self._session.cycle()

    @property
    def built(self) -> Board:
        """The board with the memories that the program uses, behind the ports and with the order of banks that it was
        built with."""
        by_name = {one.name: one for one in self.board.memories}
        first, *others = (
            replace(by_name[built.name].behind(built.banks), interleave_bytes=built.interleave_bytes)
            for built in self.interface.memories
        )
        return replace(self.board, memory=first, others=tuple(others))

    def run(self, kernel: KernelInterface, arguments: Mapping[str, int], launch: Mapping[str, int]) -> Run:
        """Run ``kernel`` to its end with raw register values by name; other started kernels run meanwhile.

        Raises SimulationError when no kernel makes progress any more, or registers do not respond.
        """
        self.start(kernel, arguments, launch)
        others = []
        while (found := self.advance())[0] != kernel.name:
            others.append(found)
        self._ended += others
        return found[1]

    def start(
        self, kernel: KernelInterface, arguments: Mapping[str, int], launch: Mapping[str, int], forget: bool = True
    ) -> None:
        """Start ``kernel``, which must not be running; time stands still until :meth:`advance`. Without ``forget`` the
        caller guarantees that constant memory is unchanged since the last kernel started."""
        if self.interface.control == "wires":
            self._ended.append((kernel.name, self._by_wires(kernel, arguments, launch)))
            return
        session = self.session
        before = session.cycle()
        self._begin_trace(before)
        session.write(start_writes(kernel, arguments, launch, forget))
        self._running[kernel.name] = _Started(kernel, before, time.perf_counter(), self._banks())
        self._progress = None

    @property
    def running(self) -> list[str]:
        """The kernels that were started and have not ended, or whose end :meth:`advance` has yet to return."""
        return [*self._running, *(name for name, _ in self._ended)]

    def advance(self) -> tuple[str, Run]:
        """Run until one of the started kernels ends: its name, and its run. Raises SimulationError as
        :meth:`run` does."""
        try:
            while (found := self.step(PATIENCE)) is None:
                pass
            return found
        except Stopped:
            self.close()
            raise

    def step(self, cycles: int) -> tuple[str, Run] | None:
        """Run at most so many cycles; returns the name and the run of the kernel that has ended, if one has. Raises
        Stopped when no running kernel will ever make progress by itself, and SimulationError when the simulator is
        lost, or a kernel takes more than $SLUICE_MAX_CYCLES."""
        if self._ended:
            return self._ended.pop(0)
        limit = number("SLUICE_MAX_CYCLES", 1 << 62)
        progress = self._progress or self._watch()
        before = self.session.cycle()
        first = min(started.cycle for started in self._running.values())
        cycles = max(1, min(cycles, progress.patience - self._unseen, first + limit - before))
        interrupts, now = self.session.run(cycles, sum(1 << started.kernel.index for started in self._running.values()))
        for started in self._running.values():
            if interrupts >> started.kernel.index & 1:
                return self._conclude(started)
        self._reached = now
        self._unseen += now - before
        late = [name for name, started in self._running.items() if now - started.cycle >= limit]
        if late:
            self.show_printed()
            self.close()
            raise SimulationError(
                f"kernel {enumerated(late)} has not finished after SLUICE_MAX_CYCLES = {limit} cycles"
            )
        if self._unseen >= progress.patience:
            self._unseen = 0
            if stopped := progress.look():
                raise Stopped(stopped)
        return None

    def _watch(self) -> Progress:
        """Begin to watch the progress of the running kernels."""
        kernels = [
            *(started.kernel for started in self._running.values()),
            *(k for k in self.interface.kernels if k.autorun),
        ]
        waveform = self.trace.path if self.trace else None
        self._progress, self._unseen = Progress(self.session, kernels, self.interface, self.probe, waveform), 0
        return self._progress

    def _conclude(self, started: "_Started") -> tuple[str, Run]:
        kernel, session = started.kernel, self.session
        counters = read_counters(session, kernel, self.probe)
        status = session.read([kernel.base + at.STATUS])[0]
        session.write([(kernel.base + at.CONTROL, at.DONE)])
        del self._running[kernel.name]
        self._progress = None
        self._tell_cut()
        return kernel.name, Run(
            counters[CYCLES],
            counters,
            status,
            self.memory.take_faults(),
            session.cycle() - started.cycle,
            time.perf_counter() - started.seconds,
            **self._observed(kernel, started.cycle, started.banks),
        )

    def _banks(self) -> tuple[BankStatistics, ...]:
        """The commands of each bank of memory so far, if samples are asked for."""
        return tuple(map(self.session.statistics, range(len(self.interface.axi)))) if self.intervals else ()

    def _observed(self, kernel: KernelInterface, begin: int, banks: tuple[BankStatistics, ...]) -> dict[str, Any]:
        """What the probe shows of the last run of a kernel, by the names of :class:`Run`."""
        found = {"begin": begin, "banks": tuple(now - before for now, before in zip(self._banks(), banks))}
        if self.probe is not None:
            found |= {"waits": self.probe.waits(kernel.layout), "levels": self.probe.level_sums(kernel.layout)}
            found |= {"samples": self.probe.samples(kernel.layout) if self.intervals else ()}
        return found

    def show_printed(self, ended: str | None = None) -> None:
        """Write to stdout what kernels have printed since the last call. All of it if the kernel ``ended`` has ended;
        the others go on for some cycles meanwhile."""
        if self._session is not None and not self._session.abandoned:
            self._console.show(self._session, ended)

    def forget(self) -> None:
        """After a reset of the design: discard the started kernels, which will never end."""
        self._running.clear()
        self._ended.clear()
        self._progress = None
        self._console.forget()

    def _begin_trace(self, now: int) -> None:
        """Request the waveform, at the first launch."""
        if self.trace and not self._traced:
            path = begin_waveform(self.trace.path, self.session, self.interface, self.trace.source)
            self.trace = replace(self.trace, path=path)
            self.session.trace(path, now + self.trace.start, self.trace.cycles)
            self._traced, self._cut = True, now + self.trace.start + self.trace.cycles

    def _tell_cut(self) -> None:
        """Report once that a launch ran beyond the waveform's window."""
        if self.trace is not None and self._cut is not None and self.session.cycle() > self._cut:
            print(
                f"sluice: {self.trace.path}: the trace window of {self.trace.cycles:,} cycles ended before the "
                "launches did; leave out --trace-window (SLUICE_TRACE_WINDOW) for all cycles",
                file=sys.stderr,
                flush=True,
            )
            self._cut = None

    def _by_wires(self, kernel: KernelInterface, arguments: Mapping[str, int], launch: Mapping[str, int]) -> Run:
        session = self.session
        before, started = session.cycle(), time.perf_counter()
        launched = {name: launch[name] for name in kernel.launch}
        limit, banks = number("SLUICE_MAX_CYCLES", 1000 * PATIENCE), self._banks()
        self._begin_trace(before)
        cycles = run_by_wires(session, kernel, {**arguments, **launched}, limit)
        self._tell_cut()
        counters = self.probe.counters(kernel.layout) if self.probe else {}
        return Run(
            cycles,
            counters | {CYCLES: cycles},
            0,
            self.memory.take_faults(),
            session.cycle() - before,
            time.perf_counter() - started,
            **self._observed(kernel, before, banks),
        )

    def close(self) -> None:
        """End the simulator; the next run starts a new one."""
        if self._session is not None:
            self._session.close()
            self._session = self.probe = None
            self._before, self._reached = self._before + self._reached, 0
        self.forget()
