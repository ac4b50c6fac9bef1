"""Trip counts are written down before loop control is rewritten for speed."""

from dataclasses import dataclass

from ...analysis.induction.trip_count import count_trips
from ...analysis.loops.loop_tree import Loop, LoopTree
from ...ir import Attr, Function, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["AnnotateTripCounts"]


@dataclass(frozen=True)
class AnnotateTripCounts(FunctionPass):
    """After: loops that run a constant number of times whenever they are entered have it as attribute
    ``trip_count``."""

    name = "annotate-trip-counts"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        tree = LoopTree(result)
        for op in walk(result.body):
            if op.opcode == "loop" and (count := _count(tree.loops[op])) is not None:
                op.attrs[Attr.TRIP_COUNT] = count
        return result


def _count(loop: Loop) -> int | None:
    """The trip count: short loops are counted, of long ones it is computed where nothing but a counter ends them."""
    trips = count_trips(loop.op)
    if trips is not None:
        return trips.count if trips.exact else None
    alone = loop.again.op is not None and loop.again.op.opcode in ("slt", "ult")
    return loop.most_trips if alone else None
