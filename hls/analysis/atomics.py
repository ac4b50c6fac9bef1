"""Atomic operations on global memory whose order nobody can tell."""

from ..ir import Function, Op, memory_name, moved_type, walk

__all__ = ["LANE", "FreeOrder"]

#: attribute of an atomic operation of work-items side by side: the number of its lane
LANE = "lane"
#: operations that leave the same in memory in any order, among each other
_COMMUTING = ({"add", "sub"}, {"and"}, {"or"}, {"xor"}, {"umin"}, {"umax"}, {"smin"}, {"smax"})


class FreeOrder:
    """Answers which atomic operations of a function may be done in any order, as each is done at once as a whole by the unit that has the memory.

    Those of two lanes may, which are of two work-items; and those that commute, if nobody looks at what they give.
    """

    def __init__(self, function: Function):
        self.function = function
        self.used = {value for op in walk(function.body) for value in op.operands}

    def between(self, first: Op, second: Op) -> bool:
        """Whether two operations, or one in two iterations, need no order."""
        if not all(self._is_global_atomic(op) for op in (first, second)):
            return False
        lanes = [op.attrs.get(LANE) for op in (first, second)]
        if None not in lanes and lanes[0] != lanes[1]:
            return True
        together = {first.attrs["fn"], second.attrs["fn"]}
        same_place = moved_type(first).bytes == moved_type(second).bytes  # else a carry of the one may end in the middle of the other
        return same_place and any(together <= kind for kind in _COMMUTING) and not self.used.intersection((*first.results, *second.results))

    def _is_global_atomic(self, op: Op) -> bool:
        return op.opcode == "atomic" and self.function.memories[memory_name(op)].space == "global"
