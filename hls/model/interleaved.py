"""The words that interleaved invocations of a loop move, and the waits of tokens behind each other at a unit."""

from .workload import AccessRuns, Histogram, Stride

__all__ = ["interleaved_words", "wait_in_order"]


def interleaved_words(runs: AccessRuns, inner: Stride, outer: Stride, interleaved: float, word: int) -> float:
    """How often an access goes to another word than at its execution before, if so many invocations of a loop take
    turns: ``inner`` is the stride of that loop, ``outer`` of the one around it, and ``word`` the bytes of a word.

    Of m executions in a row, m - 1 step from an invocation to the next one, and one from the last invocation back to
    the first, an iteration later. Two executions that are d bytes apart lie in two words with the probability
    min(1, |d| / word).
    """
    back = (interleaved - 1) * outer.bytes.mean
    return_trip, step = _apart(inner.bytes, back, word), _apart(outer.bytes, 0.0, word)
    return runs.count * ((interleaved - 1) * step + return_trip) / interleaved


def _apart(steps: Histogram, back: float, word: int) -> float:
    """The share of steps, each less ``back`` bytes, that lead to another word."""
    found = sum(one.count * min(1.0, abs((one.low + one.high) / 2 - back) / word) for one in steps.ranges)
    return found / steps.count if steps.count else 1.0


def wait_in_order(wait: float, share: float, interval: float) -> float:
    """The mean wait of tokens, one every ``interval`` cycles, at a unit that answers in order, if a ``share`` of them
    waits so many cycles from its own request on: the others wait behind these.

    A token of age a behind the last one that waits has wait - a interval cycles left; that age has the probability
    share (1 - share)^a.
    """
    found, left, odds = 0.0, wait, share
    while left > 0 and odds > 0:
        found += left * odds
        left, odds = left - interval, odds * (1 - share)
    return found
