"""Trip counts are written down before loop control is rewritten for speed."""

from dataclasses import dataclass

from ..analysis.trips import count_trips
from ..ir import Function, walk
from ..ir.clone import clone_function

__all__ = ["RecordTrips"]


@dataclass(frozen=True)
class RecordTrips:
    """After: loops that run a constant number of times whenever they are entered have it as attribute ``trip_count``."""

    name = "record-trips"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        for op in walk(result.body):
            if op.opcode == "loop":
                trips = count_trips(op)
                if trips is not None and trips.exact:
                    op.attrs["trip_count"] = trips.count
        return result
