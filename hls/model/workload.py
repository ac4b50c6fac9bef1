"""What one launch of a kernel does, in terms of its source: the input of the performance model.

A workload is collected once, on the emulator, and describes the program rather than the hardware: loops, conditions and
accesses are named by their places in the source, so that it holds for every way of unrolling or replicating them. It is
kept as a file of compressed JSON, one for each launch.
"""

import gzip
import hashlib
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..diag import Span
from ..options import AS_WRITTEN, BuildOptions
from ..records import plain, record_of

__all__ = [
    "SCHEMA",
    "AccessRuns",
    "ArgumentGiven",
    "BranchRuns",
    "ChannelRuns",
    "Histogram",
    "LoopRuns",
    "Place",
    "Range",
    "Stride",
    "Workload",
    "WorkloadError",
    "read_workload",
    "source_hash",
    "write_workload",
]

SCHEMA = 3


class WorkloadError(Exception):
    """A file that holds no workload, or one of another version; the text says what to do."""


@dataclass(frozen=True, order=True)
class Place:
    """A place in the source: the main file has an empty name, and column 0 is the whole line. ``copy`` counts places
    that are equal, as two calls of one helper function make them."""

    file: str
    line: int
    column: int
    copy: int = 0

    def is_at(self, span: Span, main: str) -> bool:
        """Whether it is the place of the span in a program whose main file is ``main``, whatever the copy."""
        file = "" if span.file == main else span.file
        return (self.file, self.line, self.column) == (file, span.line, span.column)


@dataclass(frozen=True)
class Range:
    """``count`` values from ``low`` to ``high``, both included."""

    low: int
    high: int
    count: int


@dataclass(frozen=True)
class Histogram:
    """How often values occurred: single ones (``low`` = ``high``), and ranges where there were too many to tell."""

    ranges: tuple[Range, ...] = ()

    @property
    def count(self) -> int:
        """The number of values."""
        return sum(one.count for one in self.ranges)

    @property
    def mean(self) -> float:
        """The mean value, with the middle of a range for each value in it; 0 if there is none."""
        return sum((one.low + one.high) / 2 * one.count for one in self.ranges) / self.count if self.count else 0.0

    def share(self, low: int, high: int) -> float:
        """The share of values from ``low`` to ``high``: a range that lies there in part counts in proportion."""
        found = 0.0
        for one in self.ranges:
            common = min(one.high, high) - max(one.low, low) + 1
            found += one.count * max(common, 0) / (one.high - one.low + 1)
        return found / self.count if self.count else 0.0


@dataclass(frozen=True)
class LoopRuns:
    """A loop. ``around`` is the loop that it stands in. ``trips`` are the iterations of each invocation: 0 for one that
    was not entered."""

    place: Place
    around: Place | None
    iterations: int
    trips: Histogram

    @property
    def invocations(self) -> int:
        """How often the loop was reached."""
        return self.trips.count


@dataclass(frozen=True)
class BranchRuns:
    """An ``if`` in the loop ``loop``: how often it was ``reached``, and its condition ``held``."""

    place: Place
    loop: Place | None
    reached: int
    held: int


@dataclass(frozen=True)
class Stride:
    """The bytes by which an access moves from one iteration of ``loop`` to the next, at the first execution in each.
    The loop None is the one over work-items."""

    loop: Place | None
    bytes: Histogram


@dataclass(frozen=True)
class AccessRuns:
    """An access to a buffer of the host. ``kind`` is "load", "store" or "atomic"; ``buffer`` is the kernel's parameter,
    and ``several`` says that the access also went to others.

    Words are those of the memory's port (``Workload.word_bytes``), rows what a DRAM bank keeps open
    (``Workload.row_bytes``); ``words`` and ``rows`` count distinct ones. Of all accesses, ``same_word`` go to the word
    of the access before, ``reuse`` of those left find their word in a direct-mapped cache of so many words but in no
    smaller one, ``misses`` in no cache that was tried, and ``cold`` are the first to theirs. ``crossing`` ones touch
    two words, and count in each.
    ``conflicts`` tells for loads of elements that the launch had stored how many iterations, of any loop, had begun
    since; ``steady`` of them as many as at the execution before.
    """

    place: Place
    loop: Place | None
    kind: str
    buffer: str
    several: bool
    bytes: int
    count: int
    words: int
    rows: int
    same_word: int
    cold: int
    misses: int
    crossing: int
    reuse: Histogram
    strides: tuple[Stride, ...]
    conflicts: Histogram
    steady: int


@dataclass(frozen=True)
class ChannelRuns:
    """A call on a channel in the loop ``loop``: ``calls``, of which ``done`` transferred a value."""

    place: Place
    loop: Place | None
    channel: str
    writes: bool
    calls: int
    done: int


@dataclass(frozen=True)
class ArgumentGiven:
    """An argument of the launch: the ``bytes`` of a buffer or a local memory, or the ``value`` of a scalar as text."""

    name: str
    bytes: int
    value: str | None = None


@dataclass(frozen=True)
class Workload:
    """One launch of ``kernel`` on ``board``. ``source_hash`` is of the program's files and defines, ``inputs_hash`` of
    the bytes of all arguments before the launch; ``build`` are the options of the program. ``global_size``
    and ``local_size`` are work-items by dimension."""

    schema: int
    kernel: str
    board: str
    word_bytes: int
    row_bytes: int
    source_hash: str
    inputs_hash: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: tuple[ArgumentGiven, ...]
    loops: tuple[LoopRuns, ...]
    branches: tuple[BranchRuns, ...]
    accesses: tuple[AccessRuns, ...]
    channels: tuple[ChannelRuns, ...]
    build: BuildOptions = AS_WRITTEN

    @property
    def work_items(self) -> int:
        """Work-items of the launch."""
        return math.prod(self.global_size)


def source_hash(main: str, sources: Mapping[str, str], defines: Mapping[str, str]) -> str:
    """A hash of a program's files, by name without folder, and of its defines. It does not depend on the name of the
    main file, so that a program of a host and its file have the same one; nor on the folder that a command is called
    in, from which the names of included files begin."""
    files = sorted(("" if file == main else Path(file).name, text) for file, text in sources.items())
    return hashlib.sha256(repr((files, sorted(defines.items()))).encode()).hexdigest()


def write_workload(workload: Workload, path: Path) -> None:
    """Write the file; the same workload always gives the same bytes. Raises OSError."""
    text = json.dumps(plain(workload), separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_workload(path: Path) -> Workload:
    """The workload in a file. Raises WorkloadError with what to do, also for a file that cannot be read."""
    advice = "collect it again with `sluice run --workload`"
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError):
        raise WorkloadError(f"{path}: not a workload, or damaged; {advice}") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise WorkloadError(f"{path}: {reason}; {advice}") from None
    found = data.get("schema") if isinstance(data, dict) else None
    if found != SCHEMA:
        raise WorkloadError(f"{path}: a workload of version {found}, where version {SCHEMA} is read; {advice}")
    try:
        return record_of(Workload, data)
    except ValueError as error:
        raise WorkloadError(f"{path}: {error}; {advice}") from None
