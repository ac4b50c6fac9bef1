"""How fast a loop goes on whose loads meet stores of its iterations before, or whose stores fill a table."""

import math
import random
from collections.abc import Sequence

__all__ = ["pace_of_conflicts", "pace_of_table", "pace_of_table_and_bus"]

#: iterations that are drawn: enough for a mean within some percent
DRAWN = 2000
#: changes of the distance among these iterations from which on the drawn distances have the right shares
CHANGES = 200


def pace_of_conflicts(
    apart: Sequence[tuple[float, float]], steady: float, iterations: float, time: float, interval: float
) -> float:
    """Cycles between two iterations of a loop, on average. An iteration follows the one before after ``interval``
    cycles; if its load meets the store of d iterations before, no earlier than ``time`` cycles after that one.

    ``apart`` has pairs of d and how many of all ``iterations`` meet such a store; a share ``steady`` of these conflicts
    is at the distance of the iteration before. Waits overlap, and are not independent: a loop that waits gives other
    stores the time that they take. Where conflicts keep their distance for long, each distance has a pace of its own;
    elsewhere the conflicts are drawn at random, always the same ones, and the times followed.
    """
    drawn = random.Random(0)
    whole = sum(count for _, count in apart)
    conflict = min(1.0, whole / max(iterations, 1.0))
    if (1 - steady) * DRAWN < CHANGES:
        paces = sum(count * max(interval, time / max(distance, 1.0)) for distance, count in apart)
        return conflict * paces / whole + (1 - conflict) * interval
    distances, counts = [max(1, round(distance)) for distance, _ in apart], [count for _, count in apart]
    starts, last = [0.0], 0
    for k in range(1, DRAWN):
        start = starts[-1] + interval
        if drawn.random() < conflict:
            if not last or drawn.random() >= steady:
                (last,) = drawn.choices(distances, counts)
            if last <= k:
                start = max(start, starts[k - last] + time)
        else:
            last = 0
        starts.append(start)
    return starts[-1] / (DRAWN - 1)


def pace_of_table(time: float, entries: int, together: float) -> float:
    """Cycles from one store to the next as a table has room for so many ``entries``. A burst of stores that go
    ``together`` is sent when the first store of the next one comes, and all of it leaves a ``time`` later: from there
    to the store that takes the first entry are ``entries - together`` stores. A table that is full of one burst sends
    it as no other store comes, and then is empty."""
    full = 1 + time / entries
    return min(full, time / (entries - together)) if together < entries else full


def pace_of_table_and_bus(table: float, iterations: float, bus: float) -> float:
    """Cycles from one iteration to the next if the table alone allows one each ``table`` cycles, having room for the
    stores of so many ``iterations``, and the memory's bus one each ``bus`` cycles.

    Both together allow fewer than the slower one: stores that wait for the bus stay in the table. A closed network
    (mean value analysis): of N iterations in the table, X D are in the D = N ``table`` cycles without waiting, so that
    N - X D are at the bus, of which one that comes sees those of the other N - 1 iterations (Schweitzer). It takes
    ``bus`` (1 + (N - X D) (N - 1) / N) cycles there: X (D + that) = N.
    """
    if not bus or not table:
        return max(bus, table)
    delay = iterations * table / bus  # in multiples of the time on the bus, as 1 / X is below
    half = (delay + iterations) / 2
    return bus * (half + math.sqrt(half * half - delay * (iterations - 1))) / iterations
