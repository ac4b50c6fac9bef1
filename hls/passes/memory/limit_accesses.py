"""A kernel with more accesses of global memory than anybody builds is refused before it costs anything."""

from dataclasses import dataclass

from ...diag import CompileError
from ...ir import Function, Op, walk
from ...ir.accesses import memory_name
from ...ir.launch import units_of
from ...limits import Limits, exceeded
from ..manager import Form, FunctionPass

__all__ = ["LimitAccesses"]


@dataclass(frozen=True)
class LimitAccesses(FunctionPass):
    """After: the function as it was, with at most ``max_accesses`` accesses of global memory in all compute units.
    Neighbours are joined by now, and what comes behind takes time as the square of the number: it asks of each two
    whether they may meet.

    Raises CompileError for more.
    """

    max_accesses: int = Limits.accesses

    name = "limit-accesses"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """The same function."""
        found = [op for op in walk(function.body) if _is_global(op, function)]
        units = units_of(function)
        if units * len(found) > self.max_accesses:
            many = f"{len(found):,} places" + (f" and has {units} compute units" if units > 1 else "")
            raise CompileError.at(
                found[0].span or function.span,
                f"kernel {function.name} accesses global memory at {many}, each of which is hardware of its own; "
                f"the limit is {self.max_accesses:,}",
                f"unroll less, or access neighbours, which become one wide access; {exceeded('accesses')}",
            )
        return function


def _is_global(op: Op, function: Function) -> bool:
    if op.opcode not in ("load", "store", "atomic"):
        return False
    memory = function.memories.get(memory_name(op))
    return memory is not None and not memory.onchip
