"""Denormal flushing (FTZ/DAZ) for -cl-denorms-are-zero: subnormal numbers count as zeros where support costs logic."""

from dataclasses import dataclass

from ...ir import Attr, FloatType, Function, Op, has, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["FlushDenormals", "flush_of"]


@dataclass(frozen=True)
class FlushDenormals(FunctionPass):
    """Denormal flushing (FTZ/DAZ). Before: the IR as the frontend made it. After: sums, products, quotients and square
    roots of float and double have the attribute ``flush``: subnormal operands and results are zeros of the same sign.

    Comparisons, conversions and bit operations are unchanged, and half keeps its few subnormal numbers. The accuracy
    bounds of the library's functions hold only if all of these operations flush.
    """

    name = "flush-denormals"
    forbids = frozenset({Form.INLINED})

    def run(self, function: Function) -> Function:
        """A copy in which operations on float and double that support it are marked; half is never flushed."""
        if function.attrs.get(Attr.LIBRARY):
            return function
        result = clone_function(function)
        for op in walk(result.body):
            if has(op, "flushes") and isinstance(op.result.type, FloatType) and op.result.type.bits > 16:
                op.attrs[Attr.FLUSH_DENORMALS] = True
        return result


def flush_of(op: Op) -> dict[str, bool]:
    """The flush attribute for an operation that replaces a part of ``op``."""
    return {Attr.FLUSH_DENORMALS: True} if op.attrs.get(Attr.FLUSH_DENORMALS) else {}
