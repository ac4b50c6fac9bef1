"""A compiled system, loaded into a simulated board: starts kernels and reads what they measured."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hls.profile.layout import CYCLES
from hls.rtl.interface import KernelInterface, SystemInterface
from hls.target.board import Board
from rtl_lib.axi import register_map as at

from .build import build
from .errors import SimulationError
from .session import Session
from .shared import Fault, SharedMemory
from .wired import run_by_wires

__all__ = ["LoadedSystem", "Run", "TraceRequest"]

WORD = (1 << 32) - 1
#: Cycles between two looks at a running kernel: it must have issued something or moved a word in between.
PATIENCE = 2_000_000


@dataclass(frozen=True)
class TraceRequest:
    """A waveform of the cycles [start, start + cycles) after the first kernel's start."""

    path: Path
    start: int = 0
    cycles: int = 20_000
    signals: str = "handshakes"  #: or "all"


@dataclass(frozen=True)
class Run:
    """One finished kernel run. ``counters`` has every counter by name and the cycles under ``CYCLES``."""

    cycles: int
    counters: Mapping[str, int]
    status: int  #: the kernel's error bits
    fault: Fault | None  #: the first access that the memory refused
    elapsed: int  #: cycles of the simulation, register accesses included
    seconds: float  #: of wall time that the simulation took


@dataclass
class LoadedSystem:
    """A system's simulator, built and started at the first run."""

    verilog: Mapping[str, str]
    interface: SystemInterface
    board: Board
    memory: SharedMemory
    seed: int = 0  #: of random stalls, 0 for none
    trace: TraceRequest | None = None
    progress: Callable[[str], None] = lambda step: None
    hasty: bool = False  #: the simulator is for few cycles: compile it quickly
    _session: Session | None = field(default=None, init=False)
    _traced: bool = field(default=False, init=False)

    @property
    def session(self) -> Session:
        """The running simulator."""
        if self._session is None:
            signals = self.trace.signals if self.trace else "none"
            simulator = build(self.verilog, self.interface.top, signals, self.progress, self.hasty)
            self._session = Session(simulator.executable, self.board, self.memory, self.interface.clock_mhz)
            self._session.reset(self.seed)
        return self._session

    def run(self, kernel: KernelInterface, arguments: Mapping[str, int], launch: Mapping[str, int]) -> Run:
        """Run ``kernel`` to its end with raw register values by name.

        Raises SimulationError when it makes no progress any more, or its registers do not answer.
        """
        session = self.session
        before, started = session.cycle(), time.perf_counter()
        if self.trace and not self._traced:
            session.trace(self.trace.path, before + self.trace.start, self.trace.cycles)
            self._traced = True
        counters, status = (self._by_wires if self.interface.control == "wires" else self._by_registers)(
            kernel, arguments, launch)
        return Run(counters[CYCLES], counters, status, self.memory.take_fault(), session.cycle() - before,
                   time.perf_counter() - started)

    def _by_wires(self, kernel, arguments, launch) -> tuple[dict[str, int], int]:
        launched = {name: launch[name] for name in kernel.launch}
        limit = int(os.environ.get("SLUICE_MAX_CYCLES") or 1000 * PATIENCE)
        return {CYCLES: run_by_wires(self.session, kernel, {**arguments, **launched}, limit)}, 0

    def _by_registers(self, kernel, arguments, launch) -> tuple[dict[str, int], int]:
        session = self.session
        registers = [(kernel.base + at.INTERRUPT, 1)]
        for argument in kernel.arguments:
            registers += _slot(kernel.base + argument.offset, arguments[argument.name], argument.bytes)
        for name, offset in kernel.launch.items():
            registers += _slot(kernel.base + offset, launch[name])
        session.write([*registers, (kernel.base + at.CONTROL, at.START)])
        self._wait(kernel)
        counters = self._counters(kernel)
        status = session.read([kernel.base + at.STATUS])[0]
        session.write([(kernel.base + at.CONTROL, at.DONE)])
        return counters, status

    def close(self) -> None:
        """End the simulator; the next run starts a new one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _wait(self, kernel: KernelInterface) -> None:
        limit = int(os.environ.get("SLUICE_MAX_CYCLES") or 1 << 62)
        seen, waited = None, 0
        while True:
            interrupts, _ = self.session.run(min(PATIENCE, limit - waited), 1 << kernel.index)
            if interrupts >> kernel.index & 1:
                return
            waited += min(PATIENCE, limit - waited)
            if waited >= limit:
                self.close()
                raise SimulationError(f"kernel {kernel.name} has not finished after SLUICE_MAX_CYCLES = {limit} cycles")
            counters = self._counters(kernel)
            moved = [counters[name] for name in _progress(kernel)]
            if moved and moved == seen:
                waiting = _longest_wait(kernel, counters)
                self.close()
                raise SimulationError(f"kernel {kernel.name} has stopped: for {PATIENCE:,} cycles no loop issued and no "
                                      f"memory access was accepted{waiting}")
            seen = moved

    def _counters(self, kernel: KernelInterface) -> dict[str, int]:
        """Every counter. Low words come before high ones: reading a low word holds the high one."""
        places = {CYCLES: at.CYCLES} | {counter.name: counter.offset for counter in kernel.counters}
        words = self.session.read([kernel.base + offset + half for offset in places.values() for half in (0, 4)])
        return {name: low | high << 32 for name, low, high in zip(places, words[::2], words[1::2], strict=True)}


def _slot(offset: int, value: int, size: int = at.SLOT) -> list[tuple[int, int]]:
    """The register writes of a value of ``size`` bytes; a short one fills its slot."""
    return [(offset + k, value >> 8 * k & WORD) for k in range(0, -(-max(size, at.SLOT) // 4) * 4, 4)]


def _progress(kernel: KernelInterface) -> list[str]:
    """The counters that stand still only when the kernel does."""
    present = {counter.name for counter in kernel.counters}
    owners = [*kernel.layout.loops, *kernel.layout.accesses]
    moving = [counter.name for owner in owners for counter in owner.counters() if counter.kind in ("issued", "accepted")]
    return [name for name in moving if name in present]


def _longest_wait(kernel: KernelInterface, counters: Mapping[str, int]) -> str:
    """Where the most cycles went, as the end of a sentence."""
    accounts = [(counters[counter.name], account) for account in kernel.layout.accounts
                for counter in account.counters() if counter.name in counters]
    if not accounts:
        return ""
    cycles, account = max(accounts, key=lambda pair: pair[0])
    place = f" (line {account.line})" if account.line else ""
    return f"; most cycles went to: {account.cause}{place}, {cycles:,}"
