"""Limit check: refuses kernels with excessively many barriers before costly passes."""

from dataclasses import dataclass

from ...diag import Code, CompileError
from ...ir import Function, walk
from ...limits import Limits, exceeded
from ..manager import FunctionPass

__all__ = ["LimitBarriers"]


@dataclass(frozen=True)
class LimitBarriers(FunctionPass):
    """Limit check. Before: loops have been unrolled, and barriers that order nothing are gone. After: the unchanged
    function, with at most ``most`` barriers: at each, a memory holds the work-items of a group that wait.

    Raises CompileError for more.
    """

    most: int = Limits.barriers

    name = "limit-barriers"

    def run(self, function: Function) -> Function:
        """The same function."""
        found = [op for op in walk(function.body) if op.opcode == "barrier"]
        if len(found) > self.most:
            raise CompileError.at(
                found[self.most].span or function.span,
                f"kernel {function.name} has {len(found):,} barriers, each of which holds all work-items of a group; "
                f"the limit is {self.most:,}",
                f"unroll less, or write a loop; {exceeded('barriers')}",
                code=Code.BUDGET,
            )
        return function
