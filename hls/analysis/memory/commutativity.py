"""Commutativity of accesses: those of different work-items, and atomic operations on global memory that commute."""

from ...ir import Attr, Function, Op, memory_name, moved_type, walk

__all__ = ["Commutativity"]

#: operations that leave the same contents in memory in any order among each other
_COMMUTING = ({"add", "sub"}, {"and"}, {"or"}, {"xor"}, {"umin"}, {"umax"}, {"smin"}, {"smax"})


class Commutativity:
    """Tests which accesses of a function may execute in any order.

    Plain accesses of two lanes may, as these are two work-items: only a barrier orders them, by its own tokens. So may
    atomic operations of two lanes, each of which the memory's unit executes indivisibly; and those that commute, if
    their results are unused.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.used = {value for op in walk(function.body) for value in op.operands}

    def between(self, first: Op, second: Op) -> bool:
        """Whether two operations, or one in two iterations, need no order."""
        lanes = [op.attrs.get(Attr.LANE) for op in (first, second)]
        other_items = None not in lanes and lanes[0] != lanes[1]
        if other_items and all(op.opcode in ("load", "store") for op in (first, second)):
            return True
        if not all(self._is_global_atomic(op) for op in (first, second)):
            return False
        if other_items:
            return True
        together = {first.attrs[Attr.FN], second.attrs[Attr.FN]}
        if together == {"read"}:
            return True
        # else a carry of one could end in the middle of the other
        same_place = moved_type(first).bytes == moved_type(second).bytes
        return (
            same_place
            and any(together <= kind for kind in _COMMUTING)
            and not self.used.intersection((*first.results, *second.results))
        )

    def _is_global_atomic(self, op: Op) -> bool:
        return op.opcode == "atomic" and self.function.memories[memory_name(op)].space == "global"
