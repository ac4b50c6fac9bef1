"""The host's end of a running simulation: starts the simulator process and sends it commands."""

import os
import socket
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Self

from hls.target.board import Board, DramTiming, Memory, PortTiming

from .errors import SimulationError
from .programs import Programs
from .shared import SharedMemory

__all__ = ["BankStatistics", "Session", "settings_text"]

ALL = (1 << 64) - 1


@dataclass(frozen=True)
class BankStatistics:
    """Counts of one memory channel since the simulator started."""

    bytes_read: int
    bytes_written: int
    reads: int  #: DRAM column commands
    writes: int
    activates: int
    precharges: int
    refreshes: int
    turnarounds: int

    def __sub__(self, before: "BankStatistics") -> "BankStatistics":
        """The counts since ``before``."""
        names = [one.name for one in fields(self)]
        return BankStatistics(**{name: getattr(self, name) - getattr(before, name) for name in names})


def settings_text(board: Board, kernel_mhz: float | None = None) -> str:
    """The board parameters that the simulator needs, as lines of ``key value``."""
    mhz = kernel_mhz or board.clock.kernel_mhz
    values: dict[str, float] = {"kernel_mhz": mhz, "memories": len(board.memories)}
    for k, memory in enumerate(board.memories):
        values |= {f"memory{k}.{key}": value for key, value in _memory_facts(memory, mhz).items()}
    return "".join(f"{key} {value!r}\n" for key, value in values.items())


def _memory_facts(memory: Memory, kernel_mhz: float) -> dict[str, float]:
    facts: dict[str, float] = {
        "dram": int(isinstance(memory.timing, DramTiming)),
        "banks": len(memory.banks),
        "interleave_bytes": memory.interleave_bytes,
        "bank_bytes": memory.banks[0].bytes,
        "base": memory.base,
    }
    timing = memory.timing or PortTiming(word_ns=1000.0 / kernel_mhz, latency_ns=0.0)  # block RAM: a word a cycle
    return facts | {field.name: getattr(timing, field.name) for field in fields(timing)}


_open: "weakref.WeakSet[Session]" = weakref.WeakSet()


class Session:
    """One simulator process. It belongs to the process that started it: a forked child cannot use it. Between commands
    simulated time stands still.

    Registers are 32 bits wide, at byte addresses. Raises SimulationError when the process ends unexpectedly or the
    design does not respond; the message ends with the output of the process.
    """

    def __init__(self, executable: Path, board: Board, memory: SharedMemory, kernel_mhz: float | None = None) -> None:
        self.abandoned = False  #: whether it was ended in the middle of a command
        self._programs = Programs()
        self._log = os.fdopen(os.memfd_create("sluice-log"), "w+b")  # in memory: no file can be left behind
        host, simulator = socket.socketpair()
        with os.fdopen(os.memfd_create("sluice-settings"), "w+") as settings, simulator:
            settings.write(settings_text(board, kernel_mhz))
            settings.flush()
            fds = (simulator.fileno(), memory.contents_fd, memory.control_fd)
            command = [str(executable), f"/proc/self/fd/{settings.fileno()}", *map(str, fds)]
            self._process = self._programs.start(
                command,
                pass_fds=(settings.fileno(), *fds),
                stdout=self._log,
                stderr=self._log,
                stdin=subprocess.DEVNULL,
            )
        self._socket = host
        self._answers = host.makefile("r")
        _open.add(self)
        try:
            self._answer("starting")
        except SimulationError:
            self.close()
            raise

    def write(self, registers: Sequence[tuple[int, int]]) -> None:
        """Write (address, value) pairs in their order."""
        self._commands([f"write {address} {value & 0xFFFFFFFF}" for address, value in registers])

    def read(self, addresses: Sequence[int]) -> list[int]:
        """The values of the registers at these addresses, read in this order."""
        return [int(answer[0]) for answer in self._commands([f"read {address}" for address in addresses])]

    def run(self, cycles: int, interrupts: int = ALL) -> tuple[int, int]:
        """Run until one of ``interrupts`` (a mask) is high, at most ``cycles``: (interrupts that are high, cycle)."""
        high, cycle = self._commands([f"run {cycles} {interrupts}"])[0]
        return int(high), int(cycle)

    def set_wires(self, values: Mapping[str, int]) -> None:
        """Set inputs of a design that has wires instead of registers."""
        self._commands([f"wire {name} {value}" for name, value in values.items()])

    def run_until(self, name: str, cycles: int) -> tuple[bool, int]:
        """Run until the output ``name`` is high, at most ``cycles``: (whether it is, cycle)."""
        high, cycle = self._commands([f"until {name} {cycles}"])[0]
        return high == "1", int(cycle)

    def reset(self, seed: int = 0) -> None:
        """Reset the design; from then on ``seed`` selects random stalls (0: none). Memory contents stay."""
        self._commands([f"reset {seed}"])

    def restart(self) -> None:
        """Reset the design alone, in any state; responses of the memory that are in flight still arrive."""
        self._commands(["restart"])

    def cycle(self) -> int:
        """Cycles since the simulator started."""
        return int(self._commands(["cycle"])[0][0])

    def feed(self, stream: str, value_bytes: int, data: bytes) -> None:
        """Pass values of ``value_bytes`` each to a stream that the design reads; they wait until it takes them."""
        part = max(1, 8192 // value_bytes) * value_bytes
        self._commands(
            [f"feed {stream} {value_bytes} {data[at : at + part].hex()}" for at in range(0, len(data), part)]
        )

    def drain(self, stream: str, value_bytes: int) -> bytes:
        """The values that the design wrote to a stream since the last call."""
        text = self._commands([f"drain {stream} {value_bytes}"])[0][0]
        return b"" if text == "-" else bytes.fromhex(text)

    def idle(self, stream: str) -> int:
        """Cycles since the design last offered a value to a stream that it writes."""
        return int(self._commands([f"idle {stream}"])[0][0])

    def quiet(self) -> bool:
        """Whether no memory access is in flight."""
        return self._commands(["quiet"])[0][0] == "1"

    def trace(self, path: Path, start: int, cycles: int) -> None:
        """Write the waveform of the window [start, start + cycles) to ``path``; needs a build with tracing."""
        self._commands([f"trace {start} {cycles} {Path(path).absolute()}"])

    def end_trace(self) -> None:
        """Close the waveform before its window ends."""
        self._commands(["untrace"])

    def statistics(self, bank: int) -> BankStatistics:
        """Counts of one memory bank."""
        return BankStatistics(*map(int, self._commands([f"statistics {bank}"])[0]))

    def extend_probe(self, parts: Sequence[str]) -> None:
        """Say what the bits of the output ``probe`` are, in the words of the simulator's command of that name."""
        self._commands([f"probe {part}" for part in parts])

    def counts(self, unit: int) -> list[int]:
        """Of a unit of the probe: cycles, events, accounts, and of each channel end the level now, the highest and the
        sum over the cycles."""
        return [int(word) for word in self._commands([f"counts {unit}"])[0]]

    def since(self, unit: int) -> int:
        """The cycle from which on the account of a unit of the probe has been the same."""
        return int(self._commands([f"since {unit}"])[0][0])

    def held(self, unit: int) -> list[str]:
        """Triples ACCOUNT:HOLD:CYCLES of a unit of the probe."""
        return self._commands([f"held {unit}"])[0]

    def depths(self, replay: int) -> list[str]:
        """The number of values that passed a channel, then of several depths DEPTH:END:WRITER_WAITS:READER_WAITS."""
        return self._commands([f"depths {replay}"])[0]

    def blame(self, unit: int) -> list[str]:
        """ACCOUNT:ACCOUNT_OF_LAST:CYCLES:UNITS of a unit of the probe."""
        return self._commands([f"blame {unit}"])[0]

    def samples(self, unit: int, path: str) -> list[int]:
        """Write the samples of a unit to a file, as rows of 32-bit numbers; returns the first cycle, the length of an
        interval, that of the last one if it is unfinished, else 0, and the number of columns."""
        return [int(word) for word in self._commands([f"samples {unit} {path}"])[0]]

    @property
    def closed(self) -> bool:
        """Whether the simulator was ended, or belongs to another process."""
        return self._answers.closed

    def close(self) -> None:
        """End the simulator; safe to call twice."""
        if self._answers.closed:
            return
        if self._process.poll() is None:
            try:
                self._socket.sendall(b"quit\n")
                self._process.wait(timeout=20)
            except (OSError, subprocess.TimeoutExpired):
                pass  # it is ending by itself, or is ended now
        self._programs.end()
        self.leave()

    def leave(self) -> None:
        """Close this process's end, and leave the simulator running."""
        _open.discard(self)
        self._answers.close()
        self._socket.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _commands(self, lines: list[str]) -> list[list[str]]:
        """Send all lines, then collect an answer for each: one round trip for many register accesses. If that is
        interrupted, the simulator is ended: answers could no longer be matched to commands."""
        try:
            return self._exchange(lines)
        except SimulationError:
            raise
        except BaseException:
            self.abandoned = True
            self._programs.end()
            raise

    def _exchange(self, lines: list[str]) -> list[list[str]]:
        answers = []
        for start in range(0, len(lines), 256):  # few enough that neither end's socket fills up while both write
            chunk = lines[start : start + 256]
            try:
                self._socket.sendall("".join(line + "\n" for line in chunk).encode())
            except OSError as error:
                raise SimulationError(f"the simulator is gone: {self._last_words() or error}") from error
            answers += [self._answer(line) for line in chunk]
        return answers

    def _answer(self, command: str) -> list[str]:
        line = self._answers.readline()
        if not line:
            code = self._process.wait()
            raise SimulationError(f"the simulator ended with code {code} at `{command}`: {self._last_words()}")
        status, *words = line.split()
        if status != "ok":
            raise SimulationError(f"{' '.join(words)} (at `{command}`)")
        return words

    def _last_words(self) -> str:
        if self._log.closed:
            return ""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-2000:].strip()


def _leave_all() -> None:
    """In a child after a fork: a simulator would not see its host end while a child holds the socket, and the child's
    exit would end it."""
    for session in list(_open):
        session.leave()


os.register_at_fork(after_in_child=_leave_all)
