"""Comparisons with a round number look at the upper bits alone."""

from dataclasses import dataclass

from ..ir import Builder, Function, IntType, Op, Value
from ..ir.clone import clone_function
from ..ir.rewrite import constant, rewrite
from ..ir.values import signed

__all__ = ["TopBits"]

_COMPARES = frozenset({"ult", "ule", "slt", "sle"})


@dataclass(frozen=True)
class TopBits:
    """Before: flat. After: what an integer is compared with has no zeros at its low end, and no number is compared with 0 to see its sign.

    ``x < 48`` is ``x >> 4 < 3``, whose carries are so much shorter, and ``x < 0`` the sign bit itself, which takes no time at all.
    """

    name = "top-bits"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        return result if rewrite(result.body, _shortened) else function


def _shortened(op: Op, b: Builder) -> list[Value] | None:
    if op.opcode not in _COMPARES:
        return None
    x, y = op.operands
    number, is_strict = (constant(y), op.opcode[2] == "t") if constant(x) is None else (constant(x), op.opcode[2] != "t")
    if number is None or None not in (constant(x), constant(y)):
        return None
    is_below, is_signed, bits = constant(x) is None, op.opcode[0] == "s", x.type.bits
    first = (signed(number, bits) if is_signed else number) + (not is_strict)  # of the numbers that are not below
    zeros = min((first & -first).bit_length() - 1, bits - 1) if first else bits - 1
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if not zeros or not lowest < first <= highest:
        return None
    return [_compared(b, x if is_below else y, zeros, first >> zeros, is_signed, is_below)]


def _compared(b: Builder, x: Value, zeros: int, first: int, is_signed: bool, is_below: bool) -> Value:
    """Whether ``x >> zeros`` is less than ``first``, or is not."""
    type = IntType(x.type.bits - zeros)
    top = b.value("trunc", b.value("lshr", x, b.const(zeros, x.type)), result=type)
    if type.bits == 1:
        return top if is_below == is_signed else b.value("xor", top, b.true())
    if first == 1 and not is_signed:
        return b.value("eq" if is_below else "ne", top, b.const(0, type))
    limit, less = b.const(first, type), "s" if is_signed else "u"
    return b.value(less + "lt", top, limit) if is_below else b.value(less + "le", limit, top)
