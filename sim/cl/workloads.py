"""Workloads of the launches on the emulator: files in the folder $SLUICE_WORKLOAD, one for each launch that ends."""

import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hls.emulate import Memories
from hls.ir.launch import IndexSpace
from hls.model.workload import SCHEMA, ArgumentGiven, Workload, source_hash, write_workload
from hls.options import AS_WRITTEN, BuildOptions, Options
from hls.target.board import Board, DramTiming
from sim.emulator import Emulator, Started

__all__ = ["Observation", "Source", "WorkloadFolder", "memories_of"]


def memories_of(board: Board) -> Memories:
    """The words and rows of the board's default memory; a memory without rows has one for each word."""
    memory = board.memory
    rows = memory.timing.row_bytes if isinstance(memory.timing, DramTiming) else memory.word_bytes
    return Memories(memory.word_bytes, rows)


@dataclass(frozen=True)
class Source:
    """A program's text: the ``name`` of its main file in messages, a hash of all files and of the defines, and the
    options that it was built with."""

    name: str
    hash: str
    build: BuildOptions = AS_WRITTEN

    @classmethod
    def of(cls, name: str, sources: Mapping[str, str], options: Options) -> "Source":
        """The source of a program with those files, by name."""
        return cls(name, source_hash(name, sources, options.defines), BuildOptions.of(options))


class WorkloadFolder:
    """The folder of this process, and the launches of which it will get a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._written = 0

    @classmethod
    def wanted(cls) -> "WorkloadFolder | None":
        """The folder that $SLUICE_WORKLOAD names; None if it names none."""
        with _MAKING:
            path = os.environ.get("SLUICE_WORKLOAD")
            return _FOLDERS.setdefault(path, cls(Path(path))) if path else None

    def write(self, workload: Workload) -> None:
        """Write the next file: ``000-NAME.json.gz``, counted over all launches. Raises OSError."""
        with self._lock:
            number, self._written = self._written, self._written + 1
        self.path.mkdir(parents=True, exist_ok=True)
        write_workload(workload, self.path / f"{number:03}-{workload.kernel}.json.gz")


_FOLDERS: dict[str, WorkloadFolder] = {}
_MAKING = threading.Lock()


class Observation:
    """A launch that is counted: what it was given, kept until it ends."""

    def __init__(
        self, kernel: str, buffers: Mapping[str, "np.ndarray | int"], scalars: Mapping[str, object], space: IndexSpace
    ) -> None:
        self.kernel, self.space = kernel, space
        sizes = {name: value if isinstance(value, int) else value.nbytes for name, value in buffers.items()}
        given = [ArgumentGiven(name, size) for name, size in sizes.items()]
        self.arguments = (*given, *(ArgumentGiven(name, 0, str(value)) for name, value in scalars.items()))
        digest = hashlib.sha256(repr((self.arguments, space)).encode())
        for value in buffers.values():
            if isinstance(value, np.ndarray):
                digest.update(np.ascontiguousarray(value).view(np.uint8).data)
        self.inputs_hash = digest.hexdigest()

    def workload(self, emulator: Emulator, started: Started, board: Board, source: Source) -> Workload:
        """What the launch did, now that it has ended."""
        observed, memories, space = emulator.observed(started, source.name), memories_of(board), self.space
        return Workload(
            SCHEMA,
            self.kernel,
            board.name,
            memories.word_bytes,
            memories.row_bytes,
            source.hash,
            self.inputs_hash,
            tuple(space.global_size[: space.work_dim]),
            tuple(space.local_size[: space.work_dim]),
            self.arguments,
            observed.loops,
            observed.branches,
            observed.accesses,
            observed.channels,
            source.build,
        )
