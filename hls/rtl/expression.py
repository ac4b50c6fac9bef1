"""Pure operations that are combinational: from operand signals to an Amaranth expression.

Every value is an unsigned bit pattern of its type's width; arrays are concatenated elements, element 0 lowest.
"""

from functools import reduce
from operator import and_

from amaranth import Array, C, Cat, Const, Mux, Value

from ..analysis.bits.wiring import cut_order
from ..ir import Attr, FloatType, Op
from ..ir.values import float_to_bits

__all__ = ["combinational", "constant"]


def constant(op: Op, width: int) -> Value:
    """The bits of a ``const`` operation."""
    return C(_bits(op.attrs[Attr.VALUE], op.result.type), width)


def _bits(value, type) -> int:
    if isinstance(type, FloatType):
        return float_to_bits(value, type.bits)
    if isinstance(value, tuple):
        return sum(_bits(v, type.element) << k * type.element.bits for k, v in enumerate(value))
    return int(value) & (1 << type.bits) - 1


def _shift(fn):
    """A shift that uses only as many bits of the amount as matter: shifts by the width or more give zeros (or the
    sign)."""

    def build(op, a, amount):
        bits = len(a)
        needed = (bits - 1).bit_length()
        over = amount[needed:].any() if len(amount) > needed else C(0)
        if bits & bits - 1:
            over = over | (amount[:needed] >= bits)
        return fn(a, amount[:needed], over)

    return build


def _shl(a, amount, over):
    return Mux(over, 0, (a << amount)[: len(a)])


def _lshr(a, amount, over):
    return Mux(over, 0, a >> amount)


def _ashr(a, amount, over):
    sign = a[-1].replicate(len(a))
    return Mux(over, sign, (a.as_signed() >> amount)[: len(a)])


def _extract(op, array, index):
    type = op.operands[0].type
    if isinstance(index, Const):
        return (
            array.word_select(index.value, type.element.bits) if index.value < type.length else C(0, type.element.bits)
        )
    elements = [array.word_select(k, type.element.bits) for k in range(type.length)]
    if isinstance(index, Const):
        return elements[index.value] if index.value < type.length else C(0, type.element.bits)
    if index.shape().width < 64 and type.length == 1 << len(index):
        return Array(elements)[index]
    return Mux(index < type.length, Array(elements)[index[: max(1, (type.length - 1).bit_length())]], 0)


def _insert(op, array, index, value):
    type = op.operands[0].type
    bits = type.element.bits
    return Cat(Mux(index == k, value, array.word_select(k, bits)) for k in range(type.length))


def _extend(op, a):
    bits = op.result.type.bits
    return Cat(a, a[-1].replicate(bits - len(a))) if op.opcode == "sext" else a


def _order(op, a, b):
    """Compares only the upper bits where a constant has zeros below them, and builds no carry chain where it is enough
    that all of them are equal: optimizations that not every synthesis tool finds."""
    signed = op.opcode[0] == "s"
    cut = cut_order(op)
    if cut is None:
        a, b = (a.as_signed(), b.as_signed()) if signed else (a, b)
        return a < b if op.opcode[2] == "t" else a <= b
    top = (a if cut.below else b)[cut.zeros :]
    if len(top) == 1:
        return top if signed is cut.below else ~top
    negative = top[-1] if signed else C(0)
    if not cut.edge:
        less = (top.as_signed() if signed else top) < cut.first
    elif cut.first == 1:
        less = negative | ~top.any()
    else:
        less = (negative if signed else C(1)) & ~top.all()
    return less if cut.below else ~less


def _lut(op, *operands):
    """The sum of the products for which the table has a 1."""
    found = Const(0, op.result.type.bits)
    for minterm in range(1 << len(operands)):
        if op.attrs[Attr.TABLE] >> minterm & 1:
            product = [x if minterm >> k & 1 else ~x for k, x in enumerate(operands)]
            found |= reduce(and_, product)
    return found


_BUILD = {
    "add": lambda op, a, b: (a + b)[: len(a)],
    "sub": lambda op, a, b: (a - b)[: len(a)],
    "mul": lambda op, a, b: (a * b)[: len(a)],
    "and": lambda op, a, b: a & b,
    "or": lambda op, a, b: a | b,
    "xor": lambda op, a, b: a ^ b,
    "lut": _lut,
    "shl": _shift(_shl),
    "lshr": _shift(_lshr),
    "ashr": _shift(_ashr),
    "eq": lambda op, a, b: a == b,
    "ne": lambda op, a, b: a != b,
    "ult": _order,
    "ule": _order,
    "slt": _order,
    "sle": _order,
    "zext": _extend,
    "sext": _extend,
    "trunc": lambda op, a: a[: op.result.type.bits],
    "bitcast": lambda op, a: a,
    "fneg": lambda op, a: Cat(a[:-1], ~a[-1]),
    "fabs": lambda op, a: Cat(a[:-1], Const(0, 1)),
    "select": lambda op, c, a, b: Mux(c, a, b),
    "array": lambda op, *elements: Cat(*elements),
    "extract": _extract,
    "insert": _insert,
    "token": lambda op, *_: Const(0, 0),
}


def combinational(op: Op, operands: list[Value]) -> Value:
    """The operation's result for these operand signals."""
    return _BUILD[op.opcode](op, *operands)
