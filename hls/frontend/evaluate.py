"""The value of a constant expression: lowered to IR like any other, then evaluated with the op table's meanings."""

from math import isnan
from typing import Any

from ..ir import Attr, Function, Region, evaluate
from ..narrow import instance
from . import tree as tt
from . import types as ct
from .builtins import BUILTINS
from .builtins_math import LibraryCall
from .builtins_vector import VECTOR_BUILTINS
from .layout import encoded, leaves
from .lower_values import ValueLowering, lanes
from .storage import Storage

__all__ = ["constant", "constant_data", "table_of"]

_PARTS = (
    tt.Const,
    tt.Unary,
    tt.Binary,
    tt.Compare,
    tt.Logical,
    tt.Convert,
    tt.ConvertExactly,
    tt.Conditional,
    tt.Build,
    tt.UnionOf,
    tt.Reinterpret,
)


def constant(e: tt.Expr) -> tt.Const | None:
    """The expression as a constant of its type, or None if it is not a constant number."""
    if isinstance(e, tt.Const):
        return e
    if not ct.arithmetic(e.type) or not _foldable(e):
        return None
    return tt.Const(e.type, e.span, _computed(e)[0])


def constant_data(t: ct.CType, initial: tuple[tuple[int, tt.Expr], ...]) -> bytes:
    """The bytes of a constant variable; raises ValueError(expression) for a value that is not constant."""
    data = bytearray(t.size)
    places = leaves(t)
    for first, e in initial:
        if isinstance(e.type, ct.Void | ct.Pointer) or not _foldable(e):
            raise ValueError(e)
        for k, value in enumerate(_computed(e)):
            offset, scalar = places[first + k]
            data[offset : offset + scalar.size] = encoded(value, scalar)
    return bytes(data)


def table_of(s: tt.Declare) -> bytes | None:
    """The bytes of a local array that is declared const with constant values, which makes it a table; None for other
    variables."""
    if not s.variable.const or not isinstance(s.variable.type, ct.Array) or s.initial is None or s.variable.volatile:
        return None
    try:
        return constant_data(s.variable.type, s.initial)
    except ValueError:
        return None


def _computed(e: tt.Expr) -> list[Any]:
    """The scalars of a foldable expression."""
    if isinstance(e, tt.Const):
        return [e.value]
    if (negated := _negated(e)) is not None:
        return [negated]
    region = Region()
    lowering = ValueLowering(Storage(Function("constant", "helper"), {}), region)
    results = lanes(lowering.value(e))
    values = {}
    for op in region.ops:
        if op.opcode == "const":
            values[op.result] = op.attrs[Attr.VALUE]
        else:
            operands = [values[v] for v in op.operands]
            values[op.result] = evaluate(op.opcode, operands, [v.type for v in op.operands], op.result.type, op.attrs)
    return [values[v] for v in results]


def _negated(e: tt.Expr) -> int | float | None:
    """The value of a number with a minus before it, of which tables have thousands; None for all else. The sign of a
    NaN is up to the operation."""
    if not isinstance(e, tt.Unary) or e.operator != "-":
        return None
    if not isinstance(e.operand, tt.Const) or e.type != e.operand.type:
        return None
    value = e.operand.value
    if isinstance(value, float):
        return None if isnan(value) else -value
    return -value & (1 << instance(e.type, ct.Int).bits) - 1


def _foldable(e: tt.Expr) -> bool:
    if isinstance(e, tt.Const):
        return True
    if isinstance(e, tt.Builtin):
        if e.name in VECTOR_BUILTINS and e.name not in BUILTINS:
            return all(map(_foldable, e.arguments))
        known = e.name in BUILTINS and not isinstance(BUILTINS[e.name].emit, LibraryCall)
        return known and all(map(_foldable, e.arguments))
    return (
        isinstance(e, _PARTS)
        and not isinstance(e.type, ct.Pointer | ct.Void)
        and all(isinstance(part, tt.Expr) and _foldable(part) for part in tt.children(e))
    )
