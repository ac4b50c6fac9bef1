"""Trip-count annotation, before passes rewrite loop control for speed."""

from dataclasses import dataclass

from ...analysis.induction.trip_count import count_trips
from ...analysis.loops.loop_tree import Loop, LoopTree
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
        tree = LoopTree(result)
        for op in walk(result.body):
            if op.opcode == "loop" and (count := _count(tree.loops[op])) is not None:
                op.attrs[Attr.TRIP_COUNT] = count
        return result


def _count(loop: Loop) -> int | None:
    """The trip count: of a short loop by evaluation, of a long one in closed form if only a counter ends it."""
    trips = count_trips(loop.op)
    if trips is not None:
        return trips.count if trips.exact else None
    alone = loop.again.op is not None and loop.again.op.opcode in ("slt", "ult")
    return loop.most_trips if alone else None
