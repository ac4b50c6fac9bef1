"""Trip-count annotation, before passes rewrite loop control for speed."""

from dataclasses import dataclass

from ...analysis.induction.trip_count import count_trips
from ...ir import Attr, Function, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["AnnotateTripCounts"]


@dataclass(frozen=True)
class AnnotateTripCounts(FunctionPass):
    """Trip-count annotation. Before: flat; loop control is that of the source. After: a loop that runs the same
    constant number of iterations in every invocation has it as attribute ``trip_count``."""

    name = "annotate-trip-counts"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which every loop of known constant trip count has the attribute."""
        result = clone_function(function)
        for op in walk(result.body):
            trips = count_trips(op) if op.opcode == "loop" else None
            if trips is not None and trips.exact:
                op.attrs[Attr.TRIP_COUNT] = trips.count
        return result
