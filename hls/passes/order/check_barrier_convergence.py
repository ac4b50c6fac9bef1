"""Barrier convergence check: barriers that not all work-items of a group reach are refused, or warned of if
unproven."""

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
    """Barrier convergence check (divergence analysis). Before and after: a flat kernel without `if`. It gets the
    attribute ``promised`` if convergence of some barriers cannot be proven and is the program's responsibility;
    ``warn`` gets a warning for each. Raises CompileError for barriers that not all work-items reach.
    """

    warn: Callable[[Diagnostic], None] | None = None

    name = "check-barrier-convergence"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.DISPATCHED})

    def run(self, function: Function) -> Function:
        """A copy with the attribute ``promised``, or the function itself if all barriers converge. Raises
        CompileError where one certainly does not."""
        if function.attrs.get(Attr.PROMISED) or not check_barriers(function, self.warn):
            return function
        result = clone_function(function)
        result.attrs[Attr.PROMISED] = True
        return result
