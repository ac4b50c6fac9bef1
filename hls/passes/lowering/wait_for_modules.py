"""Calls of RTL functions whose modules wait: operations of unknown latency."""

from dataclasses import dataclass

from ...ir import Attr, Builder, Function, Op, Value, walk
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ..manager import Form, FunctionPass

__all__ = ["WaitForModules"]


@dataclass(frozen=True)
class WaitForModules(FunctionPass):
    """Waiting for modules. Before: flat code, which passes move and merge as that of any pure operation. After: each
    `rtl` whose module waits by ready and valid is an `rtl_wait`, which ends its level."""

    name = "wait-for-modules"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """The function with `rtl_wait`."""
        if not any(_waits(op) for op in walk(function.body)):
            return function
        result = clone_function(function)

        def visit(op: Op, b: Builder) -> list[Value] | None:
            return [b.value("rtl_wait", *op.operands, result=op.result.type, attrs=op.attrs)] if _waits(op) else None

        rewrite(result.body, visit)
        return result


def _waits(op: Op) -> bool:
    return op.opcode == "rtl" and Attr.RTL_WAITS in op.attrs
