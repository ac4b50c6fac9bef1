"""The words that interleaved invocations of a loop move, and the waits of tokens behind each other at a unit."""

import math

from .workload import AccessRuns, Histogram, Stride

__all__ = ["interleaved_words", "share_apart", "wait_in_order"]

#: pieces of a word in the integral over distances; a share from which on it counts as constant, as it does after so
#: many iterations
PIECES, SETTLED, MOST_DRAWN = 16, 0.99, 200


def interleaved_words(
    runs: AccessRuns, inner: Stride, outer: Stride, interleaved: float, trips: float, word: int
) -> float:
    """How often an access goes to another word than at its execution before, if so many invocations of a loop, of so
    many ``trips``, take turns: ``inner`` is the stride of that loop, ``outer`` of the first executions in the one
    around it, and ``word`` the bytes of a word.

    Of m executions in a row, m - 1 step from an invocation to the next one, and one from the last invocation back to
    the first, an iteration later. Two executions that are d bytes apart lie in two words with the probability
    min(1, |d| / word). Two invocations begin one ``outer`` stride apart, and keep that distance if all ``inner``
    strides are equal. Others are those of data, and independent: after j iterations the distance has the variance of
    2 j of them.
    """
    back = (interleaved - 1) * outer.bytes.mean
    variance = _variance(inner.bytes)
    if variance:
        step = _mean_apart(outer.bytes.mean, variance, trips, word)
        return_trip = _mean_apart(inner.bytes.mean - back, variance, trips, word)
    else:
        return_trip, step = share_apart(inner.bytes, back, word), share_apart(outer.bytes, 0.0, word)
    return runs.count * ((interleaved - 1) * step + return_trip) / interleaved


def _variance(steps: Histogram) -> float:
    if not steps.count:
        return 0.0
    mean = steps.mean
    return sum(one.count * ((one.low + one.high) / 2 - mean) ** 2 for one in steps.ranges) / steps.count


def _mean_apart(distance: float, variance: float, trips: float, word: int) -> float:
    """The share of pairs of executions in two words, over the iterations of two invocations that begin a ``distance``
    apart: after j iterations, the distance is normal with 2 j times the ``variance``."""
    whole = max(1, round(trips))
    found = share = min(1.0, abs(distance) / word)
    for j in range(1, whole):
        if share > SETTLED or j > MOST_DRAWN:
            return (found + (whole - j) * share) / whole
        share = _normal_apart(distance, math.sqrt(2 * j * variance), word)
        found += share
    return found / whole


def _normal_apart(distance: float, spread: float, word: int) -> float:
    """The mean of min(1, |x| / word) of a normal x: the mean, over t from 0 to ``word``, of how often |x| exceeds t."""
    found = 0.0
    for k in range(PIECES):
        at = (k + 0.5) * word / PIECES
        found += 1 - (_below((at - distance) / spread) - _below((-at - distance) / spread))
    return found / PIECES


def _below(x: float) -> float:
    """How often a normal number of mean 0 and variance 1 is less."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


def share_apart(steps: Histogram, back: float, word: int) -> float:
    """The share of steps, each less ``back`` bytes, that lead to another word, or row, of so many bytes; 1 if there is
    no step."""
    found = sum(one.count * min(1.0, abs((one.low + one.high) / 2 - back) / word) for one in steps.ranges)
    return found / steps.count if steps.count else 1.0


def wait_in_order(wait: float, share: float, interval: float, together: float = math.inf) -> float:
    """The mean wait of tokens, one every ``interval`` cycles, at a unit that answers in order, if a ``share`` of them
    waits so many cycles from its own request on: the others wait behind these. Only so many ``together`` are under way.

    A token of age a behind the last one that waits has wait - a interval cycles left; that age has the probability
    share (1 - share)^a.
    """
    found, left, odds, age = 0.0, wait, share, 0
    while left > 0 and odds > 0 and age < together:
        found += left * odds * min(1.0, together - age)
        left, odds, age = left - interval, odds * (1 - share), age + 1
    return found
