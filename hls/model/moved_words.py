"""The words of memory that one access of a schedule moves, by the strides of its address in the loops around it.

With t_k iterations in a loop of level k (0 is the innermost) and s_k bytes from one to the next, an access that no
level moves by a word or more shares words between iterations: level k multiplies the distinct words W by
max(1, t_k min(1, |s_k| / word)), so W_k = W_(k-1) max(1, ...). Of the t_k W_(k-1) words that a pass of level k
visits, W_k are new ones, and the others are met again after W_(k-1) words. A stride that is not known counts as a word.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..analysis.memory.strides import AccessPattern
from ..planning.memory import Access
from .runs import RunCounts
from .workload import AccessRuns, Histogram, Place, Range

__all__ = ["Moved", "moved_words", "runs_of"]


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
class Moved:
    """Executions of an access, the distinct ``words`` and ``rows`` it touches, how often it stays in the ``same`` word,
    and how often it is back in a word after so many others."""

    count: float
    words: float
    rows: float
    same: float
    reuse: Mapping[int, int]


def moved_words(pattern: AccessPattern, counts: RunCounts, word: int, row_bytes: int) -> Moved:
    """What an access moves, level by level from the innermost loop on, in words of ``word`` bytes and rows of
    ``row_bytes``."""
    levels = [_Level(max(counts.loop(loop).trips, 1.0), step.amount) for loop, step in pattern.steps]
    if not levels:
        return Moved(1.0, 1.0, 1.0, 0.0, {})
    innermost = counts.loop(pattern.steps[0][0])
    words, rows = levels[0].words(word, 1.0), levels[0].words(row_bytes, 1.0)
    passes = innermost.entered
    same, reuse = innermost.iterations - passes * words, Counter[int]()
    for level, (loop, _) in zip(levels[1:], pattern.steps[1:], strict=True):
        passes = counts.loop(loop).entered
        distinct = level.words(word, words)
        again = passes * (level.trips * words - distinct)
        if words <= 1.0:
            same += again
        else:
            reuse[math.ceil(words)] += round(again)
        words, rows = distinct, level.words(row_bytes, rows)
    return Moved(innermost.iterations, words, rows, max(same, 0.0), reuse)


def _begun(amount: float) -> int:
    """Words or rows of which a part counts whole, as memory moves whole ones; to a millionth, for sums of shares."""
    return math.ceil(round(amount, 6))


def runs_of(place: Place, kind: str, access: Access, moved: Sequence[Moved]) -> AccessRuns:
    """The accesses of one place of the source that ``moved`` so much, in the form in which a workload tells it."""
    reuse = sum((Counter(one.reuse) for one in moved), Counter[int]())
    words, count = _begun(sum(one.words for one in moved)), round(sum(one.count for one in moved))
    return AccessRuns(
        place=place,
        loop=None,
        kind=kind,
        buffer=access.memory,
        several=False,
        bytes=access.bytes,
        count=count,
        words=words,
        rows=_begun(sum(one.rows for one in moved)),
        same_word=count - _begun(count - sum(one.same for one in moved)),
        cold=words,
        misses=0,
        crossing=0,
        reuse=Histogram(tuple(Range(distance, distance, count) for distance, count in sorted(reuse.items()))),
        strides=(),
        conflicts=Histogram(),
        steady=0,
    )
