"""Integer built-in functions as IR: each function appends its operations to a builder and returns the result.

All take (builder, argument values, type of the first argument).
"""

from collections.abc import Sequence

from ..ir import I64, Attr, Builder, IntType, Value
from . import types as ct

__all__ = [
    "abs_diff",
    "absolute",
    "add_sat",
    "bitselect",
    "clamp_to",
    "clz",
    "ctz",
    "hadd",
    "mad_hi",
    "mad_sat",
    "mul_hi",
    "popcount",
    "rhadd",
    "rotate",
    "sub_sat",
    "upsample",
]


def _number(b: Builder, n: int, like: Value) -> Value:
    return b.const(n, like.type)


def _shift_right(b: Builder, x: Value, n: int, signed: bool) -> Value:
    return b.value("ashr" if signed else "lshr", x, _number(b, n, x))


def _negative(b: Builder, x: Value) -> Value:
    return b.value("slt", x, _number(b, 0, x))


def absolute(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """|x| of ``t``; the unsigned type holds that of the least number, too."""
    (x,) = v
    return b.value("select", _negative(b, x), b.value("sub", _number(b, 0, x), x), x) if t.signed else x


def abs_diff(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """The result has the unsigned type, which always holds the true distance."""
    x, y = v
    less = b.value("slt" if t.signed else "ult", x, y)
    return b.value("select", less, _wrapped(b, "sub", y, x), _wrapped(b, "sub", x, y))


def hadd(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """(x + y) >> 1 without the sum's overflow: common bits, and half of those that differ."""
    x, y = v
    return b.value("add", b.value("and", x, y), _shift_right(b, b.value("xor", x, y), 1, t.signed))


def rhadd(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """(x + y + 1) >> 1, without overflow."""
    x, y = v
    return b.value("sub", b.value("or", x, y), _shift_right(b, b.value("xor", x, y), 1, t.signed))


def _bound(b: Builder, negative: Value, like: Value) -> Value:
    """The lowest number of the signed type where ``negative``, else the highest."""
    lowest = 1 << like.type.bits - 1
    return b.value("select", negative, _number(b, lowest, like), _number(b, lowest - 1, like))


def _wrapped(b: Builder, opcode: str, x: Value, y: Value) -> Value:
    """A sum that wraps around, also where it is signed."""
    return b.value(opcode, x, y, attrs={Attr.WRAPS: True} if x.type.bits >= 32 else {})


def add_sat(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """x + y; the nearest number of the type where the sum is outside of it."""
    x, y = v
    total = _wrapped(b, "add", x, y)
    if not t.signed:
        return b.value("select", b.value("ult", total, x), _number(b, -1, x), total)
    over = _negative(b, b.value("and", b.value("xor", x, total), b.value("xor", y, total)))
    return b.value("select", over, _bound(b, _negative(b, x), x), total)


def sub_sat(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """x - y; the nearest number of the type where the difference is outside of it."""
    x, y = v
    rest = _wrapped(b, "sub", x, y)
    if not t.signed:
        return b.value("select", b.value("ult", x, y), _number(b, 0, x), rest)
    over = _negative(b, b.value("and", b.value("xor", x, y), b.value("xor", x, rest)))
    return b.value("select", over, _bound(b, _negative(b, x), x), rest)


def clamp_to(b: Builder, x: Value, signed: bool, target: ct.Int) -> Value:
    """The integer ``x`` as the nearest number of the type ``target``, as a value of its width."""
    bits, wide = target.bits, x.type.bits
    low = -(1 << bits - 1) if target.signed else 0
    high = (1 << bits - target.signed) - 1
    least, most = (-(1 << wide - 1), (1 << wide - 1) - 1) if signed else (0, (1 << wide) - 1)
    less = "slt" if signed else "ult"
    if low > least:
        x = b.value("select", b.value(less, x, _number(b, low, x)), _number(b, low, x), x)
    if high < most:
        x = b.value("select", b.value(less, _number(b, high, x), x), _number(b, high, x), x)
    if bits == wide:
        return x
    grow = "sext" if signed else "zext"
    return b.value("trunc" if bits < wide else grow, x, result=IntType(bits))


def _wide_product(b, x, y, signed: bool) -> Value:
    grow, wide = "sext" if signed else "zext", IntType(2 * x.type.bits)
    return b.value("mul", b.value(grow, x, result=wide), b.value(grow, y, result=wide))


def _high_unsigned(b: Builder, x: Value, y: Value) -> Value:
    """The upper 64 bits of a product of 64-bit numbers, from products of their halves."""
    half, low = b.const(32, I64), b.const(0xFFFFFFFF, I64)
    (x0, x1), (y0, y1) = ((b.value("and", v, low), b.value("lshr", v, half)) for v in (x, y))
    first = b.value("lshr", b.value("mul", x0, y0), half)
    middle = b.value("add", b.value("mul", x1, y0), first)
    other = b.value("add", b.value("mul", x0, y1), b.value("and", middle, low))
    upper = b.value("add", b.value("mul", x1, y1), b.value("lshr", middle, half))
    return b.value("add", upper, b.value("lshr", other, half))


def mul_hi(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """The upper half of the product, which has twice the bits."""
    x, y = v
    bits = x.type.bits
    if bits < 64:
        product = _wide_product(b, x, y, t.signed)
        return b.value("trunc", b.value("lshr", product, _number(b, bits, product)), result=x.type)
    high = _high_unsigned(b, x, y)
    if t.signed:  # a negative factor, read as unsigned, is 2**64 too large
        for one, other in ((x, y), (y, x)):
            high = b.value("sub", high, b.value("select", _negative(b, one), other, _number(b, 0, other)))
    return high


def mad_hi(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """``mul_hi(x, y) + z``, modulo the type."""
    return _wrapped(b, "add", mul_hi(b, v[:2], t), v[2])


def mad_sat(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """x * y + z; the nearest number of the type where that is outside of it."""
    x, y, z = v
    if x.type.bits < 64:
        product = _wide_product(b, x, y, t.signed)
        total = b.value("add", product, b.value("sext" if t.signed else "zext", z, result=product.type))
        return clamp_to(b, total, t.signed, t)
    low, high = _wrapped(b, "mul", x, y), mul_hi(b, [x, y], t)
    total = _wrapped(b, "add", low, z)
    carry = b.value("zext", b.value("ult", total, z), result=I64)
    sign = _shift_right(b, z, 63, True) if t.signed else _number(b, 0, z)
    high = b.value("add", b.value("add", high, sign), carry)
    if not t.signed:
        return b.value("select", b.value("eq", high, _number(b, 0, high)), total, _number(b, -1, x))
    fits = b.value("eq", high, _shift_right(b, total, 63, True))
    return b.value("select", fits, total, _bound(b, _negative(b, high), x))


def rotate(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """The bits of x moved up by n places; those that leave the top come in below."""
    x, n = v
    width = x.type.bits
    mask = _number(b, width - 1, x)
    back = b.value("and", b.value("sub", _number(b, 0, x), n), mask)
    return b.value("or", b.value("shl", x, b.value("and", n, mask)), b.value("lshr", x, back))


def popcount(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """Sums of neighbouring fields of 1, 2, 4... bits."""
    (x,) = v
    width = 1
    while width < x.type.bits:
        mask = sum(((1 << width) - 1) << k for k in range(0, x.type.bits, 2 * width))
        fields = (x, b.value("lshr", x, _number(b, width, x)))
        x = b.value("add", *(b.value("and", f, _number(b, mask, x)) for f in fields))
        width *= 2
    return x


def clz(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """Shifts left by halves of the width as long as only zeros are shifted out; the remainder has its top bit set, or
    is 0."""
    (x,) = v
    count, step = _number(b, 0, x), x.type.bits // 2
    while step:
        empty = b.value("eq", b.value("lshr", x, _number(b, x.type.bits - step, x)), _number(b, 0, x))
        x = b.value("select", empty, b.value("shl", x, _number(b, step, x)), x)
        count = b.value("or", count, b.value("select", empty, _number(b, step, x), _number(b, 0, x)))
        step //= 2
    top = b.value("lshr", x, _number(b, x.type.bits - 1, x))
    return b.value("add", count, b.value("xor", top, _number(b, 1, x)))


def ctz(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """The bits of x - 1 that are 1 where x is 0 are those below the lowest 1 of x; all bits if x is 0."""
    (x,) = v
    ones = _number(b, (1 << x.type.bits) - 1, x)
    return popcount(b, [b.value("and", b.value("xor", x, ones), b.value("add", x, ones))], t)


def upsample(b: Builder, v: Sequence[Value], t: ct.Int) -> Value:
    """A number of twice the bits: ``high`` above ``low``."""
    high, low = v
    wide = IntType(2 * high.type.bits)
    high, low = (b.value("zext", x, result=wide) for x in (high, low))
    return b.value("or", b.value("shl", high, _number(b, wide.bits // 2, high)), low)


def bitselect(b: Builder, v: Sequence[Value], t: ct.CType) -> Value:
    """Bits of the second argument where the third has ones, else of the first."""
    source = v[0].type
    if not isinstance(source, IntType):
        v = [b.value("bitcast", x, result=IntType(source.bits)) for x in v]
    x, y, mask = v
    mixed = b.value("xor", x, b.value("and", b.value("xor", x, y), mask))
    return mixed if mixed.type == source else b.value("bitcast", mixed, result=source)
