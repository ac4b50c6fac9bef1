"""The value of a constant expression: lowered to IR like any other, then computed with the op table's meanings."""

from ..ir import Function, Region, evaluate
from . import tree as tt
from . import types as ct
from .builtins import BUILTINS, WORK_ITEM
from .builtins_math import LibraryCall
from .lower_values import ValueLowering
from .storage import Storage

__all__ = ["constant"]

_PARTS = (tt.Const, tt.Unary, tt.Binary, tt.Compare, tt.Logical, tt.Convert, tt.Conditional)


def constant(e: tt.Expr) -> tt.Const | None:
    """The expression as a constant of its type, or None if it is not constant."""
    if isinstance(e, tt.Const):
        return e
    if not _foldable(e) or isinstance(e.type, (ct.Void, ct.Pointer)):
        return None
    region = Region()
    lowering = ValueLowering(Storage(Function("constant", "helper"), {}), region)
    result = lowering.value(e)
    values = {}
    for op in region.ops:
        if op.opcode == "const":
            values[op.result] = op.attrs["value"]
        else:
            operands = [values[v] for v in op.operands]
            values[op.result] = evaluate(op.opcode, operands, [v.type for v in op.operands], op.result.type, op.attrs)
    return tt.Const(e.type, e.span, values[result])


def _foldable(e: tt.Expr) -> bool:
    if isinstance(e, tt.Builtin):
        known = e.name not in WORK_ITEM and not isinstance(BUILTINS[e.name].emit, LibraryCall)
        return known and all(map(_foldable, e.arguments))
    return isinstance(e, _PARTS) and all(_foldable(c) for c in vars(e).values() if isinstance(c, tt.Expr))
