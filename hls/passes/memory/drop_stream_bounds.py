"""Removes stream bounds from loads whose units do not read ahead."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ...ir import Function, Op, walk
from ...ir.accesses import last_of_run
from ...ir.clone import clone_function
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["DropStreamBounds"]


@dataclass(frozen=True)
class DropStreamBounds(FunctionPass):
    """Removal of unused stream bounds. Before: the units of accesses are chosen. After: ``loads`` (None: all loads) of
    the transformed function have no bound of their run: their units do not read ahead."""

    loads: AbstractSet[Op] | None = None

    name = "drop-stream-bounds"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy without the bounds of ``loads``, which are operations of the given function;
        without any bound if it is None."""
        result = clone_function(function)
        for old, new in zip(walk(function.body), walk(result.body), strict=True):
            if last_of_run(old) is not None and (self.loads is None or old in self.loads):
                new.operands.remove(present(last_of_run(new)))
        return result
