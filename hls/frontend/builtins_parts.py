"""The parts of a float: the results of ``fract``, ``modf`` and ``frexp``, each as a function with one result, exact in
every format; and the sign result of ``lgamma_r``.

Programs cannot call these, as their names contain a dot. :mod:`.check_math` expresses the calls that programs make in
terms of them.
"""

import math

from ..ir import BOOL, I32, Attr, Builder, IntType, Value
from . import types as ct
from .builtins_math import LibraryCall, floating

__all__ = ["FRACTION", "PARTS"]

#: bits of a format -> bits of its fraction
FRACTION = {16: 10, 32: 23, 64: 52}


def _sized(b: Builder, size: Value, sign: Value) -> Value:
    """A non-negative value with the sign of another."""
    bits = IntType(size.type.bits)
    top = b.value("and", b.value("bitcast", sign, result=bits), b.const(1 << bits.bits - 1, bits))
    return b.value("bitcast", b.value("or", b.value("bitcast", size, result=bits), top), result=size.type)


def _is_infinite(b: Builder, x: Value) -> Value:
    return b.value("feq", b.value("fabs", x), b.const(math.inf, x.type))


def _modf(b, v, t):
    """The fraction after the point, with the sign of x; 0 for an infinity."""
    (x,) = v
    size = b.value("fabs", x)
    rest = b.value("fsub", size, b.value("fintegral", size, attrs={Attr.ROUNDING: "zero"}))
    return _sized(b, b.value("select", _is_infinite(b, x), b.const(0.0, x.type), rest), x)


def _fract(b, v, t):
    """x - floor(x), and less than 1; for an infinity or a zero, a zero with its sign."""
    (x,) = v
    most = b.const(1 - 2.0 ** -(FRACTION[x.type.bits] + 1), x.type)
    zero = b.const(0.0, x.type)
    rest = b.value("fsub", x, b.value("fintegral", x, attrs={Attr.ROUNDING: "down"}))
    rest = b.value("select", b.value("flt", most, rest), most, rest)
    special = b.value("or", _is_infinite(b, x), b.value("feq", x, zero))
    return b.value("select", special, _sized(b, zero, x), rest)


class _Parts:
    """Exponent and fraction of a float; a subnormal one is normalized first. ``odd``: it is zero, infinite or NaN."""

    def __init__(self, b: Builder, x: Value) -> None:
        self.b, self.type = b, IntType(x.type.bits)
        self.fraction = FRACTION[x.type.bits]
        self.bias = (1 << x.type.bits - self.fraction - 2) - 1
        size = b.value("fabs", x)
        small = b.value("flt", size, b.const(2.0 ** (1 - self.bias), x.type))
        larger = b.value("fmul", x, b.const(2.0 ** (self.fraction + 1), x.type))
        self.bits = b.value("bitcast", b.value("select", small, larger, x), result=self.type)
        finite = b.value("flt", size, b.const(math.inf, x.type))
        number = b.value("and", finite, b.value("fne", x, b.const(0.0, x.type)))
        self.odd = b.value("xor", number, b.const(1, BOOL))
        self.lift = b.value("select", small, b.const(self.fraction + 1, I32), b.const(0, I32))

    def const(self, value: int) -> Value:
        return self.b.const(value, self.type)


def _exponent(b, v, t):
    """The exponent of the power of two above |x|: |x| is 0.5 to 1 times that power."""
    p = _Parts(b, v[0])
    field = b.value("and", b.value("lshr", p.bits, p.const(p.fraction)), p.const(2 * p.bias + 1))
    wide = field if field.type == I32 else b.value("zext" if field.type.bits < 32 else "trunc", field, result=I32)
    found = b.value("sub", b.value("sub", wide, b.const(p.bias - 1, I32)), p.lift)
    return b.value("select", p.odd, b.const(0, I32), found)


def _mantissa(b, v, t):
    """x divided by that power."""
    p = _Parts(b, v[0])
    field = (2 * p.bias + 1) << p.fraction
    kept = b.value("and", p.bits, p.const(~field))
    half = b.value("bitcast", b.value("or", kept, p.const((p.bias - 1) << p.fraction)), result=v[0].type)
    return b.value("select", p.odd, v[0], half)


def _one(types):
    return (floating(types),), floating(types)


#: (name, number of arguments, rule, emit): the fields of a :class:`hls.frontend.builtins.BuiltinRow`
PARTS = (
    ("modf.part", 1, _one, _modf),
    ("fract.part", 1, _one, _fract),
    ("frexp.mantissa", 1, _one, _mantissa),
    ("frexp.exponent", 1, lambda types: ((floating(types),), ct.INT), _exponent),
    ("lgamma.sign", 1, LibraryCall("_gamma_sign").rule, LibraryCall("_gamma_sign")),
)
