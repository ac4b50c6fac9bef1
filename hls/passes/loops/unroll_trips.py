"""Trip counts as unrolling needs them."""

from ...analysis.induction.trip_count import Trips, count_trips
from ...analysis.loops.loop_tree import Loop
from ...ir import Op

__all__ = ["few_trips", "once", "trips_to_unroll"]


def trips_to_unroll(op: Op) -> Trips | None:
    """The trip count of a loop, or an upper bound; also of one that is too long to evaluate."""
    trips = count_trips(op)
    if trips is not None:
        return trips
    most = Loop(op, None).most_trips
    return Trips(most, False) if most is not None else None


def once(op: Op) -> Trips | None:
    """The trip count of a loop that has exactly one iteration, also around other loops; None for all others."""
    trips = count_trips(op, 1)
    return trips if trips is not None and trips.exact and trips.count == 1 else None


def few_trips(op: Op, limit: int) -> Trips | None:
    """As :func:`trips_to_unroll`, or None if there are more than ``limit``: a long loop is not evaluated to its end."""
    trips = count_trips(op, limit)
    if trips is not None:
        return trips
    most = Loop(op, None).most_trips
    return trips_to_unroll(op) if most is not None and most <= limit else None
