"""The built-in functions on floats that are one IR operation of their own, or that need more than a few.

Those that are one operation work in every format. The others are written in OpenCL C, in :mod:`hls.mathlib`, for float
and for double. A half is computed in float, which has more than twice its digits, where that gives the same
result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from ..ir import Attr, FloatType, Value
from ..mathlib import FUNCTIONS, HALVES, SIGNATURES, Signature
from . import types as ct

__all__ = ["MATH", "LibraryCall", "floating"]


def floating(types: Sequence[ct.CType]) -> ct.Float:
    """The float type in which an operation on these types is computed."""
    t = reduce(ct.common, types)
    return t if isinstance(t, ct.Float) else ct.FLOAT


def _every_format(types):
    widest = floating(types)
    return (widest,) * len(types), widest


def _operation(opcode: str, **attrs):
    return lambda b, v, t: b.value(opcode, *v, attrs=attrs)


#: argument type of ``nan`` -> result type
_AS_WIDE: dict[ct.CType, ct.Float] = {ct.SHORT: ct.HALF, ct.USHORT: ct.HALF, ct.LONG: ct.DOUBLE, ct.ULONG: ct.DOUBLE}
_FLOATS = ("half", "float", "double")


@dataclass(frozen=True)
class LibraryCall:
    """Emits a call of a library function; :mod:`hls.frontend.library` adds its body."""

    name: str

    def rule(self, types: Sequence[ct.CType]) -> tuple[tuple[ct.CType, ...], ct.CType] | str:
        """See :class:`hls.frontend.builtins.BuiltinRow`."""
        signature = _named(self.name)
        mine = [given for given, wanted in zip(types, signature.parameters) if wanted == "float"]
        t = floating(mine) if mine else _AS_WIDE.get(types[0], ct.FLOAT)
        if t == ct.HALF:
            signature = HALVES.get(self.name, signature)
        if t == ct.DOUBLE:
            signature = _named(self.name, "math_double__")
        if not all(ct.integer(given) for given, wanted in zip(types, signature.parameters) if wanted not in _FLOATS):
            return f"takes ({', '.join(signature.parameters)})"
        kinds = {**ct.SCALARS, "float": t}  # a half is accepted where the signature says float
        return tuple(kinds[name] for name in signature.parameters), kinds[signature.result]

    def __call__(self, b, v: list[Value], t: ct.CType) -> Value:
        """Append the call to the builder ``b``. ``v`` are the arguments, ``t`` the type of the first; functions
        without a version for half compute in float. Returns the result."""
        if t in (ct.HALF, ct.USHORT) and self.name in HALVES:
            return _call(b, HALVES[self.name], v)
        signature = _named(self.name, "math_double__" if t in (ct.DOUBLE, ct.ULONG) else "math__")
        half, single = FloatType(16), FloatType(32)
        narrow = any(x.type == half for x in v)
        v = [b.value("fresize", x, result=single) if x.type == half else x for x in v]
        value = _call(b, signature, v)
        return b.value("fresize", value, result=half) if narrow and value.type == single else value


def _call(b, signature: Signature, v: list[Value]) -> Value:
    return b.value("call", *v, result=ct.ir_type(ct.SCALARS[signature.result]), attrs={Attr.CALLEE: signature.function})


def _named(name: str, floating: str = "math__") -> Signature:
    """The function of this name of float, or of another format by its prefix; it may be internal to the library."""
    return FUNCTIONS[f"{floating}{name}"]


_OPERATIONS = [
    ("fma", 3, _every_format, _operation("fma")),
    ("sqrt", 1, _every_format, _operation("fsqrt")),
    *(
        (name, 1, _every_format, _operation("fintegral", rounding=mode))
        for name, mode in (("floor", "down"), ("ceil", "up"), ("trunc", "zero"), ("rint", "even"), ("round", "away"))
    ),
]


def _reciprocal(b, v, t):
    return b.value("fdiv", b.const(1.0, v[0].type), v[0])


@dataclass(frozen=True)
class _FewerBits:
    """Emits the smaller, less precise function for float, ``NAME`` of "native_NAME" and "half_NAME"; for other formats
    it emits ``plain``."""

    name: str
    plain: Callable

    def __call__(self, b, v: list[Value], t: ct.CType) -> Value:
        return _call(b, _named(f"_native_{self.name}"), v) if t == ct.FLOAT else self.plain(b, v, t)


_FEWER_BITS = [
    ("sqrt", 1, _every_format, _operation("fsqrt")),
    ("recip", 1, _every_format, _reciprocal),
    ("divide", 2, _every_format, _operation("fdiv")),
]
_FEWER_BITS += [
    (name, 1, LibraryCall(name).rule, LibraryCall(name))
    for name in ("cos", "exp", "exp2", "exp10", "log", "log2", "log10", "rsqrt", "sin", "tan")
]
for kind in ("native", "half"):
    _OPERATIONS += [(f"{kind}_{name}", arity, rule, _FewerBits(name, emit)) for name, arity, rule, emit in _FEWER_BITS]

#: other names of functions: a power needs an equally precise logarithm in either variant
_ALIASES = {f"{kind}_powr": "powr" for kind in ("native", "half")}

#: (name, number of arguments, rule, emit): the fields of a :class:`hls.frontend.builtins.BuiltinRow`
MATH = (
    *_OPERATIONS,
    *(
        (name, len(SIGNATURES[plain].parameters), LibraryCall(plain).rule, LibraryCall(plain))
        for name, plain in {**{name: name for name in SIGNATURES}, **_ALIASES}.items()
    ),
)
