"""The counts of a finished launch, as the library gives them (``hls/emulate/observe.h``): numbers to records."""

import ctypes
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hls.diag import Span
from hls.emulate import CACHES, MOST_LEVELS, AccessPlace, BranchPlace, ChannelPlace, LoopPlace, Observed, ProgramText
from hls.model.workload import AccessRuns, BranchRuns, ChannelRuns, Histogram, LoopRuns, Place, Range, Stride
from hls.narrow import present

__all__ = ["Observation", "observation_of"]

_Row = LoopPlace | BranchPlace | AccessPlace | ChannelPlace


@dataclass(frozen=True)
class Observation:
    """What a launch did, by place."""

    loops: tuple[LoopRuns, ...]
    branches: tuple[BranchRuns, ...]
    accesses: tuple[AccessRuns, ...]
    channels: tuple[ChannelRuns, ...]


def observation_of(library: ctypes.CDLL, program: ProgramText, kernel: str, number: int, main: str) -> Observation:
    """What the launch ``number`` of a kernel did, which is forgotten in the library. The file ``main`` has an empty
    name in places."""
    room = library.sluice_observed(number, None, 0)
    numbers = (ctypes.c_uint64 * room)()
    library.sluice_observed(number, numbers, room)
    library.sluice_forget_observed(number)
    return _Reader(program, kernel, main, iter(numbers)).read()


class _Reader:
    """Reads the numbers in the order in which ``sluice_observed`` writes them, and keeps the places of one kernel."""

    def __init__(self, program: ProgramText, kernel: str, main: str, numbers: Iterator[int]) -> None:
        self.program, self.kernel, self.main, self.numbers = program, kernel, main, numbers
        self.tables: Observed = present(program.observed)
        self.loops = self._places(self.tables.loops)

    def read(self) -> Observation:
        tables = self.tables
        loops = [self._loop(k) for k in range(len(tables.loops))]
        branches = [
            BranchRuns(place, self._around(row.loop), next(self.numbers), next(self.numbers))
            for place, row in zip(self._places(tables.branches), tables.branches)
        ]
        accesses = [self._access(place, row) for place, row in zip(self._places(tables.accesses), tables.accesses)]
        channels = [
            ChannelRuns(place, self._around(row.loop), row.channel, row.writes, next(self.numbers), next(self.numbers))
            for place, row in zip(self._places(tables.channels), tables.channels)
        ]
        return Observation(
            tuple(run for run, row in zip(loops, tables.loops) if row.function == self.kernel),
            tuple(run for run, row in zip(branches, tables.branches) if row.function == self.kernel),
            tuple(run for run, row in zip(accesses, tables.accesses) if row.function == self.kernel and run.count),
            tuple(run for run, row in zip(channels, tables.channels) if row.function == self.kernel),
        )

    def _places(self, rows: Sequence[_Row]) -> list[Place]:
        """The places of rows, numbered where they are equal. IR without places, as in tests, counts as line 0."""
        seen: Counter[tuple[object, ...]] = Counter()
        found = []
        for row in rows:
            span = row.span or Span("", 0)
            file = "" if span.file == self.main else span.file
            key = (row.function, file, span.line, span.column, getattr(row, "kind", ""))
            found.append(Place(file, span.line, span.column, seen[key]))
            seen[key] += 1
        return found

    def _around(self, loop: int | None) -> Place | None:
        return None if loop is None else self.loops[loop]

    def _loop(self, number: int) -> LoopRuns:
        around = self._around(self.tables.loops[number].around)
        return LoopRuns(self.loops[number], around, next(self.numbers), self._histogram())

    def _access(self, place: Place, row: AccessPlace) -> AccessRuns:
        count, memory, others, words, rows, same, cold, misses, crossing = (next(self.numbers) for _ in range(9))
        found = [next(self.numbers) for _ in range(CACHES)]
        strides = [self._histogram() for _ in range(MOST_LEVELS)]
        return AccessRuns(
            place,
            self._around(row.loop),
            row.kind,
            self.program.memories[memory].name,
            others != 0,
            row.bytes,
            count,
            words,
            rows,
            same,
            cold,
            misses,
            crossing,
            Histogram(tuple(Range(1 << k, 1 << k, n) for k, n in enumerate(found) if n)),
            tuple(Stride(self._around(level), bytes) for level, bytes in zip(row.levels, strides)),
            self._histogram(),
            next(self.numbers),
        )

    def _histogram(self) -> Histogram:
        exact = {_signed(next(self.numbers)): next(self.numbers) for _ in range(next(self.numbers))}
        ranges = [Range(value, value, count) for value, count in exact.items()]
        for _ in range(next(self.numbers)):
            below, bits, count = next(self.numbers), next(self.numbers), next(self.numbers)
            low, high = 1 << bits, (2 << bits) - 1
            ranges.append(Range(-high, -low, count) if below else Range(low if bits else 0, high, count))
        return Histogram(tuple(sorted(ranges, key=lambda one: (one.low, one.high))))


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
