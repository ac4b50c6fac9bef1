"""Runs streams through AXI ports into the memory model."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hls.target.board import Board
from sim.cache import cached, content_key
from sim.errors import BuildError
from sim.programs import Programs
from sim.session import settings_text
from sim.toolchain import find_compiler

__all__ = ["WORD_BYTES", "BankCounts", "Measurement", "Stream", "measure", "partitioned"]

#: Bytes that a stream moves in a cycle.
WORD_BYTES = 64
SIM = Path(__file__).parents[1]
SOURCES = tuple(
    SIM / name
    for name in (
        "dram/channel.cpp",
        "runtime/axi_memory.cpp",
        "runtime/shared_memory.cpp",
        "runtime/settings.cpp",
        "traffic/kernel.cpp",
        "traffic/main.cpp",
    )
)
HEADERS = tuple(sorted(path for folder in ("dram", "runtime", "traffic") for path in (SIM / folder).glob("*.h")))
FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class Stream:
    """Words of array number ``array``, read or written, in order or at ``random``. Arrays are 1 GiB apart; without
    interleaving of banks, array k lies in bank k modulo their number."""

    write: bool
    array: int
    random: bool = False

    def __str__(self) -> str:
        letter = "w" if self.write else "r"
        return f"{letter.upper() if self.random else letter}{self.array}"


@dataclass(frozen=True)
class BankCounts:
    """Commands of one memory channel."""

    reads: int
    writes: int
    activates: int
    turnarounds: int


@dataclass(frozen=True)
class Measurement:
    """``rate`` in GB/s over all streams, and the counts of each bank."""

    rate: float
    cycles: int
    banks: tuple[BankCounts, ...]


def partitioned(board: Board) -> Board:
    """The board with banks at consecutive address ranges instead of interleaved ones."""
    return replace(board, memory=board.memory.partitioned())


def measure(board: Board, streams: Sequence[Stream], words: int, kernel_mhz: float | None = None) -> Measurement:
    """Run a kernel that uses a word of each stream in a cycle for ``words`` cycles' worth; its clock is the
    board's, or ``kernel_mhz``. Raises ToolMissing, BuildError."""
    mhz = kernel_mhz or board.clock.kernel_mhz
    with tempfile.NamedTemporaryFile("w", prefix="sluice-traffic-") as settings:
        settings.write(settings_text(board, mhz))
        settings.flush()
        command = [str(_program()), settings.name, str(words), *map(str, streams)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    cycles, *counts = map(int, done.stdout.split())
    rate = len(streams) * words * WORD_BYTES / (cycles * 1000.0 / mhz)
    fields = len(BankCounts.__dataclass_fields__)
    return Measurement(
        rate, cycles, tuple(BankCounts(*counts[at : at + fields]) for at in range(0, len(counts), fields))
    )


def _program() -> Path:
    compiler = find_compiler()
    key = content_key([compiler.identity, *FLAGS, *(path.read_text() for path in (*SOURCES, *HEADERS))])

    def make(folder: Path) -> None:
        command = [compiler.path, *FLAGS, *map(str, SOURCES), "-o", str(folder / "traffic")]
        with Programs() as programs:
            done = programs.run(command, environment={**os.environ, "TMPDIR": str(folder)})
        if done.returncode:
            raise BuildError(f"compiling the traffic generator failed: {done.stderr[-300:]}", done.stderr)

    return cached("traffic", key, "traffic", make)
