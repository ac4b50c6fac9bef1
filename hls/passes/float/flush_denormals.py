"""With -cl-denorms-are-zero subnormal numbers count as zeros wherever hardware for them would be large."""

from dataclasses import dataclass

from ...ir import Attr, FloatType, Function, Op, has, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["FlushDenormals", "flush_of"]


@dataclass(frozen=True)
class FlushDenormals(FunctionPass):
    """Before: as the frontend made it. After: sums, products, quotients and square roots of float and double have the
    attribute ``flush``: subnormal operands and results are zeros of their sign.

    Comparisons, conversions and all that only looks at bits take numbers as they are, and half keeps its few small
    numbers. The library's functions stay within their bounds only with all of them.
    """

    name = "flush-denormals"
    forbids = frozenset({Form.INLINED})

    def run(self, function: Function) -> Function:
        if function.attrs.get(Attr.LIBRARY):
            return function
        result = clone_function(function)
        for op in walk(result.body):
            if has(op, "flushes") and isinstance(op.result.type, FloatType) and op.result.type.bits > 16:
                op.attrs[Attr.FLUSH_DENORMALS] = True
        return result


def flush_of(op: Op) -> dict[str, bool]:
    """The attribute for an operation that does a part of what ``op`` did."""
    return {Attr.FLUSH_DENORMALS: True} if op.attrs.get(Attr.FLUSH_DENORMALS) else {}
