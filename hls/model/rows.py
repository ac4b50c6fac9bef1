"""How long invocations of unequal lengths take side by side."""

import heapq
import random
from collections.abc import Sequence

from .extremes import Extreme

__all__ = ["time_of_rows"]

#: invocations that are followed, and orders in which they come: enough for a mean within some percent
FOLLOWED, ORDERS = 2000, 8


def time_of_rows(
    spread: Sequence[tuple[float, float]], count: float, slots: float, order: Extreme = Extreme.LIKELY
) -> float:
    """The time of ``count`` invocations in so many ``slots``, where each goes into the slot that is free first; no
    others follow. ``spread`` are pairs of a length and the share of the invocations that have it.

    In the best ``order`` of the invocations the slots end together, in the worst the longest comes last, when all slots
    are free at the same time. The likely time is the mean of some orders, always the same ones.
    """
    places = max(1, min(round(slots), round(count)))
    followed = max(places, min(round(count), FOLLOWED))
    lengths = _lengths(spread, followed)
    whole, longest = sum(length * share for length, share in spread) * count, lengths[-1]
    if order is Extreme.LEAST:
        return max(whole / places, longest)
    if order is Extreme.MOST:
        return whole / places + longest * (1 - 1 / places)
    drawn, last = random.Random(0), 0.0
    for _ in range(ORDERS):
        drawn.shuffle(lengths)
        busy = [0.0] * places
        for length in lengths:
            heapq.heapreplace(busy, busy[0] + length)
        last += max(busy) / ORDERS
    return last + max(0.0, whole - sum(lengths)) / places


def _lengths(spread: Sequence[tuple[float, float]], count: int) -> list[float]:
    """So many lengths, the shortest first, as the shares say."""
    found, passed = list[float](), 0.0
    for length, share in sorted(spread):
        passed += share
        found += [length] * (round(passed * count) - len(found))
    return found + [max(spread)[0]] * (count - len(found))
