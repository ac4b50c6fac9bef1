"""Products with 1 and -1 as changes of the sign (peephole rules).

A factor that is 1 or -1, by constants or by a choice between them, costs no multiplier: IEEE 754 products with it are
exact, and only differ from a change of the sign bit where the other factor is a NaN, as arithmetic returns the
canonical one. So that NaN is selected behind the change of sign, unless arithmetic takes the value, which does the same
again.
"""

import math

from ...ir import Attr, Builder, Op, Value
from ...ir.rewrite import literal

__all__ = ["product_with_sign", "with_plain_operands"]


def product_with_sign(op: Op, b: Builder) -> Value | None:
    """x · s of an ``fmul``, for s that is 1 or -1; None if no factor is, or if the product flushes."""
    if op.attrs.get(Attr.FLUSH_DENORMALS):
        return None
    for x, sign in (op.operands, op.operands[::-1]):
        if _is_sign(sign) and _selects(sign):
            changed = _signed(x, sign, b)
            return b.value("select", b.value("feq", x, x), changed, b.const(math.nan, x.type))
    return None


def with_plain_operands(op: Op, b: Builder) -> Value | None:
    """The same operation on operands before their NaNs were made canonical; None if no operand is of that kind. For
    operations that return the canonical NaN for every NaN."""
    plain = [_before_canonical(value) for value in op.operands]
    if plain == op.operands:
        return None
    return b.value(op.opcode, *plain, attrs=dict(op.attrs))


def _is_sign(value: Value) -> bool:
    """Whether the value is 1 or -1 for certain."""
    op = value.op
    if op is not None and op.opcode == "select":
        return all(_is_sign(arm) for arm in op.operands[1:])
    return literal(value) in (1.0, -1.0)


def _selects(sign: Value) -> bool:
    """Whether -1 is among the values: products with 1 alone have a rule of their own."""
    op = sign.op
    return (op is not None and op.opcode == "select") or literal(sign) == -1.0


def _signed(x: Value, sign: Value, b: Builder) -> Value:
    """``x``, negated where ``sign`` is -1."""
    op = sign.op
    if op is not None and op.opcode == "select":
        condition, yes, no = op.operands
        return b.value("select", condition, _signed(x, yes, b), _signed(x, no, b))
    return x if literal(sign) == 1.0 else b.value("fneg", x)


def _before_canonical(value: Value) -> Value:
    """y of ``x == x ? y : NaN``, where y is x with some sign, and so a NaN just where x is one."""
    op = value.op
    if op is None or op.opcode != "select":
        return value
    condition, y, other = op.operands
    test, number = condition.op, literal(other)
    if test is None or test.opcode != "feq" or test.operands[0] is not test.operands[1]:
        return value
    canonical = isinstance(number, float) and math.isnan(number)
    return y if canonical and _has_magnitude(y, test.operands[0]) else value


def _has_magnitude(y: Value, x: Value) -> bool:
    """Whether y is x or -x."""
    if y is x:
        return True
    op = y.op
    if op is not None and op.opcode == "fneg":
        return _has_magnitude(op.operands[0], x)
    return op is not None and op.opcode == "select" and all(_has_magnitude(arm, x) for arm in op.operands[1:])
