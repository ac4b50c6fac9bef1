"""Where accesses to global memory go if no run has told: as far as the strides of their addresses say.

With t_k iterations in a loop of level k (0 is the innermost) and s_k bytes from one to the next, an access that no
level moves by a word or more shares words between iterations: level k multiplies the distinct words W by
max(1, t_k min(1, |s_k| / word)), so W_k = W_(k-1) max(1, ...). Of the t_k W_(k-1) words that a pass of level k
visits, W_k are new ones, and the others are met again after W_(k-1) words. A stride that is not known counts as a word.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..analysis.memory.strides import AccessPattern, access_patterns
from ..diag import Span, at_line
from ..ir import Op
from .estimate import Planned
from .runs import RunCounts
from .workload import AccessRuns, Histogram, Place, Range

__all__ = ["AssumedAccesses"]


@dataclass(frozen=True)
class _Level:
    """A loop around an access: iterations of an invocation, and the bytes by which each moves the access (None:
    unknown)."""

    trips: float
    stride: int | None

    def words(self, word: int, inside: float) -> float:
        """Distinct words of a pass if an iteration has so many."""
        share = 1.0 if self.stride is None else min(1.0, abs(self.stride) / word)
        return inside * max(1.0, self.trips * share)


@dataclass(frozen=True)
class _Moved:
    """Executions of an access, the distinct ``words`` and ``rows`` it touches, how often it stays in the ``same`` word,
    and how often it is back in a word after so many others."""

    count: float
    words: float
    rows: float
    same: float
    reuse: Mapping[int, int]


class AssumedAccesses:
    """The accesses to global memory of one planned kernel; ``assumed`` says what is taken for granted of them."""

    def __init__(self, planned: Planned) -> None:
        self.planned = planned
        patterns = access_patterns(planned.function)
        self._patterns: dict[Op, AccessPattern] = {op: patterns[op] for op in planned.memory.outside}

    @property
    def assumed(self) -> tuple[str, ...]:
        """A sentence for each access whose addresses are not known, and for loads that may meet stores."""
        found = []
        for op, access in self.planned.memory.outside.items():
            steps = [step for _, step in self._patterns[op].steps]
            what = f"{access.direction} of {access.memory}{at_line(access.span)}"
            if any(not step.regular for step in steps):
                found.append(f"{what}: its addresses depend on data; each is in another word of memory")
            elif any(step.amount is None for step in steps):
                found.append(f"{what}: a stride that is known only at run time is a word of memory or more")
        if any(op in self._patterns for hazard in self.planned.memory.hazards.values() for op in hazard.loads):
            found.append("no load meets a store to its own address that is under way")
        return tuple(dict.fromkeys(found))

    def runs(self, counts: RunCounts, row_bytes: int) -> tuple[AccessRuns, ...]:
        """What the accesses of each place do with those counts of the loops."""
        places: dict[tuple[str, Span], list[Op]] = {}
        for op in self.planned.memory.outside:
            if op.span is not None and op.opcode in ("load", "store", "atomic"):
                places.setdefault((op.opcode, op.span), []).append(op)
        return tuple(self._of_place(*key, ops, counts, row_bytes) for key, ops in places.items())

    def _of_place(self, kind: str, span: Span, ops: list[Op], counts: RunCounts, row_bytes: int) -> AccessRuns:
        """What all accesses of the schedule at one place of the source do together."""
        moved = [self._moved(op, counts, row_bytes) for op in ops]
        access = self.planned.memory.accesses[ops[0]]
        reuse = sum((Counter(one.reuse) for one in moved), Counter[int]())
        return AccessRuns(
            place=Place("" if span.file == self.planned.main else span.file, span.line, span.column),
            loop=None,
            kind=kind,
            buffer=access.memory,
            several=False,
            bytes=access.bytes,
            count=round(sum(one.count for one in moved)),
            words=round(sum(one.words for one in moved)),
            rows=round(sum(one.rows for one in moved)),
            same_word=round(sum(one.same for one in moved)),
            cold=round(sum(one.words for one in moved)),
            misses=0,
            crossing=0,
            reuse=Histogram(tuple(Range(distance, distance, count) for distance, count in sorted(reuse.items()))),
            strides=(),
            conflicts=Histogram(),
        )

    def _moved(self, op: Op, counts: RunCounts, row_bytes: int) -> _Moved:
        """What one access of the schedule does, level by level from the innermost loop on."""
        around, word = self._patterns[op].steps, self.planned.memory.accesses[op].word_bytes
        levels = [_Level(max(counts.loop(loop).trips, 1.0), step.amount) for loop, step in around]
        if not around:
            return _Moved(1.0, 1.0, 1.0, 0.0, {})
        innermost = counts.loop(around[0][0])
        words, rows = levels[0].words(word, 1.0), levels[0].words(row_bytes, 1.0)
        passes = innermost.entered
        same, reuse = innermost.iterations - passes * words, Counter[int]()
        for level, (loop, _) in zip(levels[1:], around[1:], strict=True):
            passes = counts.loop(loop).entered
            distinct = level.words(word, words)
            again = passes * (level.trips * words - distinct)
            if words <= 1.0:
                same += again
            else:
                reuse[math.ceil(words)] += round(again)
            words, rows = distinct, level.words(row_bytes, rows)
        return _Moved(innermost.iterations, words, rows, max(same, 0.0), reuse)
