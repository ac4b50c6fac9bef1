"""Built-in functions that operate on a vector as a whole: reductions, shuffles, selections.

``emit`` gets the builder, the lanes of each argument (a scalar has one), the arguments' types and the result's type; it
returns as many lanes as the result has.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from math import inf

from ..ir import Builder, FloatType, IntType, Value
from . import types as ct
from .builtins_parts import FRACTION

__all__ = ["VECTOR_BUILTINS", "VectorRow"]

_Lanes = tuple[Value, ...]


@dataclass(frozen=True)
class VectorRow:
    """``rule`` maps the argument types to (parameter types, result type), or returns a message when they do not fit."""

    name: str
    arity: int
    rule: Callable
    emit: Callable[[Builder, list[_Lanes], list[ct.CType], ct.CType], _Lanes]


def _set(types):
    """any, all: test the highest bit of each component."""
    return (tuple(types), ct.INT) if ct.integer(ct.element_of(types[0])) else "takes integers"


def _widened(*types: ct.CType) -> tuple[ct.CType, ...]:
    """The types with the vector among them in place of scalars, which a call converts to it."""
    wide = next((t for t in types if isinstance(t, ct.Vector)), None)
    return types if wide is None else tuple(wide if ct.arithmetic(t) else t for t in types)


def _two_points(types):
    a, b = _widened(*types)
    if a != b or not isinstance(ct.element_of(a), ct.Float) or getattr(a, "length", 1) > 4:
        return f"takes two float vectors of up to four components, not '{types[0]}' and '{types[1]}'"
    return (a, b), ct.element_of(a)


def _one_point(types):
    fitted = _two_points([types[0], types[0]])
    return fitted if isinstance(fitted, str) else ((types[0],), fitted[1])


def _direction(types):
    fitted = _one_point(types)
    return fitted if isinstance(fitted, str) else ((types[0],), types[0])


def _space(types):
    a, b = types
    if a != b or not isinstance(a, ct.Vector) or a.length not in (3, 4) or not isinstance(a.element, ct.Float):
        return f"takes two float3 or two float4, not '{a}' and '{b}'"
    return (a, b), a


def _shuffle(types):
    *sources, mask = types
    kinds = {t for t in sources}
    if len(kinds) != 1 or not all(isinstance(t, ct.Vector) and t.length != 3 for t in types):
        return "takes vectors of 2, 4, 8 or 16 components, the mask last"
    element = mask.element
    if not ct.integer(element) or element.signed or element.size != sources[0].element.size:
        return f"takes a mask of unsigned integers as wide as the components, not '{mask}'"
    return tuple(types), ct.Vector(sources[0].element, mask.length)


def _vector_select(types):
    a, b = _widened(*types[:2])
    c, wide = types[2], a if isinstance(a, ct.Vector) else types[2]
    if (
        not (a == b == wide)
        or not isinstance(c, ct.Vector)
        or c.length != wide.length
        or not ct.integer(c.element)
        or c.element.size != wide.element.size
    ):
        given = ", ".join(f"'{t}'" for t in types)
        return f"takes two equal vectors and one of integers as wide, not {given}"
    return (a, b, c), a


def _top_bit(b: Builder, x: Value) -> Value:
    return b.value("slt", x, b.const(0, x.type))


def _reduced(opcode: str):
    def emit(b, lanes, types, result):
        bits = [_top_bit(b, x) for x in lanes[0]]
        found = bits[0]
        for bit in bits[1:]:
            found = b.value(opcode, found, bit)
        return (b.value("zext", found, result=ct.ir_type(result)),)

    return emit


def _dot(b, lanes, types, result):
    total = None
    for x, y in zip(*lanes):
        product = b.value("fmul", x, y)
        total = product if total is None else b.value("fadd", total, product)
    return (total,)


def _fast_length(b, lanes, types, result):
    (x,) = lanes
    if len(x) == 1:
        return (b.value("fabs", x[0]),)
    return (b.value("fsqrt", *_dot(b, [x, x], types, result)),)


class _Scaled:
    """Components multiplied by the power of two that brings the largest one near 1, so that no square overflows and
    none that counts underflows; ``unit`` is the inverse of that power."""

    def __init__(self, b: Builder, x: _Lanes) -> None:
        self.b, self.type = b, IntType(x[0].type.bits)
        fraction, self.bias = FRACTION[self.type.bits], (1 << self.type.bits - FRACTION[self.type.bits] - 2) - 1
        sizes = [b.value("bitcast", b.value("fabs", one), result=self.type) for one in x]
        largest = sizes[0]
        for size in sizes[1:]:
            largest = _larger(b, largest, size)
        field = b.value("lshr", largest, self._const(fraction))
        least, most = self._const(1), self._const(2 * self.bias - 1)
        field = b.value("select", b.value("ult", field, least), least, field)
        field = b.value("select", b.value("ult", most, field), most, field)
        inverse = b.value("sub", self._const(2 * self.bias), field)
        scale, self.unit = (
            b.value("bitcast", b.value("shl", exponent, self._const(fraction)), result=x[0].type)
            for exponent in (inverse, field)
        )
        self.lanes = tuple(b.value("fmul", one, scale) for one in x)
        self.infinite = b.value("eq", largest, self._const((2 * self.bias + 1) << fraction))

    def negative(self, x: Value) -> Value:
        """Whether the sign of a component is set, also that of a zero."""
        return self.b.value("slt", self.b.value("bitcast", x, result=self.type), self._const(0))

    def _const(self, value: int) -> Value:
        return self.b.const(value, self.type)


def _length(b, lanes, types, result):
    (x,) = lanes
    if len(x) == 1:
        return _fast_length(b, lanes, types, result)
    if x[0].type.bits == 32:
        return (_block_length(b, x),)
    if x[0].type.bits == 16:  # the square of any half is a float
        wide = tuple(b.value("fresize", one, result=FloatType(32)) for one in x)
        return (b.value("fresize", *_fast_length(b, [wide], types, result), result=x[0].type),)
    scaled = _Scaled(b, x)
    (size,) = _fast_length(b, [scaled.lanes], types, result)
    return (b.value("fmul", size, scaled.unit),)


def _larger(b: Builder, x: Value, y: Value) -> Value:
    return b.value("select", b.value("ult", x, y), y, x)


def _smaller(b: Builder, x: Value, y: Value) -> Value:
    return b.value("select", b.value("ult", x, y), x, y)


#: bits that a significand of :func:`_block_length` has below those of its format
_GUARD = 3


def _block_length(b: Builder, x: _Lanes) -> Value:
    """The length of up to four floats, as block floating-point: the significands are shifted right to the
    exponent of the largest one, so that the sum of their squares is one of integers, which neither overflows nor
    underflows.

    Bits are lost only of a component below 2^-3 of the largest one, so the sum is off by less than 2^-26 of it:
    the result is within 1 ULP, as sum and root are rounded once each. Subnormal components need no normalization.
    """
    kind, whole, wide = FloatType(32), IntType(32), IntType(64)
    fraction, least, most = FRACTION[32], b.const(1, whole), b.const(254, whole)
    shift = b.const(fraction, whole)
    sizes = [b.value("bitcast", b.value("fabs", one), result=whole) for one in x]
    largest = reduce(partial(_larger, b), sizes)
    block = _smaller(b, _larger(b, b.value("lshr", largest, shift), least), most)
    squares = []
    for size in sizes:
        exponent = b.value("lshr", size, shift)
        hidden = b.value("select", b.value("eq", exponent, b.const(0, whole)), b.const(0, whole), b.const(1, whole))
        kept = b.value("and", size, b.const((1 << fraction) - 1, whole))
        significand = b.value("or", kept, b.value("shl", hidden, shift))
        away = b.value("sub", block, _larger(b, exponent, least))
        away = _smaller(b, away, b.const(31, whole))  # of an infinity it is negative, and the sum is not used
        aligned = b.value("lshr", b.value("shl", significand, b.const(_GUARD, whole)), away)
        term = b.value("zext", aligned, result=wide)
        squares.append(b.value("mul", term, term))
    total = reduce(lambda one, other: b.value("add", one, other), squares)
    root = b.value("bitcast", b.value("fsqrt", b.value("uitofp", total, result=kind)), result=whole)
    # in units of the block: normal, as it lies between 2^-26 and 8 if it is not 0
    root = b.value("sub", root, b.const(fraction + _GUARD << fraction, whole))
    zero = b.value("eq", largest, b.const(0, whole))
    root = b.value("bitcast", b.value("select", zero, largest, root), result=kind)
    found = b.value("fmul", root, b.value("bitcast", b.value("shl", block, shift), result=kind))
    special = b.value("ult", b.const((255 << fraction) - 1, whole), largest)  # NaN if there is one, or infinite
    return b.value("select", special, b.value("bitcast", largest, result=kind), found)


def _difference(length):
    def emit(b, lanes, types, result):
        return length(b, [tuple(b.value("fsub", x, y) for x, y in zip(*lanes))], types, result)

    return emit


def _fast_normalize(b, lanes, types, result):
    """A zero vector is returned unchanged."""
    (size,) = _fast_length(b, lanes, types, result)
    zero = b.value("feq", size, b.const(0.0, size.type))
    size = b.value("select", zero, b.const(1.0, size.type), size)
    return tuple(b.value("fdiv", x, size) for x in lanes[0])


def _normalize(b, lanes, types, result):
    """With infinite components it is that of 1 with their signs in their place, and of 0 with theirs for the others
    (OpenCL C 7.5.1)."""
    scaled, ends = _Scaled(b, lanes[0]), []
    one, zero = (b.const(value, lanes[0][0].type) for value in (1.0, 0.0))
    for x in lanes[0]:
        size = b.value("select", b.value("feq", b.value("fabs", x), b.const(inf, x.type)), one, zero)
        ends.append(b.value("select", scaled.negative(x), b.value("fneg", size), size))
    chosen = tuple(b.value("select", scaled.infinite, end, x) for end, x in zip(ends, scaled.lanes, strict=True))
    return _fast_normalize(b, [chosen], types, result)


def _cross(b, lanes, types, result):
    x, y = lanes
    out = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        out.append(b.value("fsub", b.value("fmul", x[i], y[j]), b.value("fmul", x[j], y[i])))
    return (*out, b.const(0.0, x[0].type))[: len(x)]


def _picked(b, lanes, types, result):
    """Selects from the lanes of all sources; the last argument holds the indices, of which only the low bits count."""
    *sources, masks = lanes
    all_lanes = [lane for source in sources for lane in source]
    out = []
    for index in masks:
        index = b.value("and", index, b.const(len(all_lanes) - 1, index.type))
        out.append(b.value("extract", b.value("array", *all_lanes), index))
    return tuple(out)


def _chosen(b, lanes, types, result):
    return tuple(b.value("select", _top_bit(b, c), y, x) for x, y, c in zip(*lanes))


_ROWS = (
    VectorRow("any", 1, _set, _reduced("or")),
    VectorRow("all", 1, _set, _reduced("and")),
    VectorRow("dot", 2, _two_points, _dot),
    VectorRow("cross", 2, _space, _cross),
    VectorRow("length", 1, _one_point, _length),
    VectorRow("distance", 2, _two_points, _difference(_length)),
    VectorRow("normalize", 1, _direction, _normalize),
    VectorRow("fast_length", 1, _one_point, _fast_length),
    VectorRow("fast_distance", 2, _two_points, _difference(_fast_length)),
    VectorRow("fast_normalize", 1, _direction, _fast_normalize),
    VectorRow("shuffle", 2, _shuffle, _picked),
    VectorRow("shuffle2", 3, _shuffle, _picked),
    VectorRow("select", 3, _vector_select, _chosen),
)

VECTOR_BUILTINS: dict[str, VectorRow] = {row.name: row for row in _ROWS}
