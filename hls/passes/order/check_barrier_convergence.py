"""Barriers that all work-items of a group must reach: refused, known to be reached, or promised."""

from collections.abc import Callable
from dataclasses import dataclass

from ...analysis.workgroup.barrier_convergence import check_barriers
from ...diag import Diagnostic
from ...ir import Attr, Function
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["CheckBarrierConvergence"]


@dataclass(frozen=True)
class CheckBarrierConvergence(FunctionPass):
    """Before and after: a flat kernel without `if`. It gets the attribute ``promised`` where it has barriers of which
    only the program knows that all work-items of a group reach them; ``warn`` gets a warning for each. Raises
    CompileError where they do not.
    """

    warn: Callable[[Diagnostic], None] | None = None

    name = "check-barrier-convergence"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.DISPATCHED})

    def run(self, function: Function) -> Function:
        if function.attrs.get(Attr.PROMISED) or not check_barriers(function, self.warn):
            return function
        result = clone_function(function)
        result.attrs[Attr.PROMISED] = True
        return result
