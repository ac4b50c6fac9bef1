"""The built-in functions of OpenCL C 1.2 on numbers, as its specification lists them, and every call of them that a
program may make.

A row is a result, a name and parameters, each one of: ``g`` the generic type; ``e`` its element; ``i`` int, ``j`` the
signed integer as wide as the element, ``u`` the unsigned one, ``w`` the one twice as wide and ``n`` the unsigned one
half as wide, each with as many components as ``g``; ``t`` what a comparison gives; ``I`` int, alone; ``*`` before a
type makes it a pointer.
"""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["FLOATS", "INTEGERS", "LENGTHS", "Call", "calls"]

INTEGERS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
FLOATS = {"float": 32, "double": 64, "half": 16}
LENGTHS = (1, 2, 3, 4, 8, 16)

_UNARY = (
    "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf exp exp2 exp10 expm1 "
    "fabs floor lgamma log "
    "log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc degrees radians sign"
)
_BINARY = "atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder max min step"
_TERNARY = "fma mad clamp mix smoothstep"
_FEWER_BITS = "cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan"

#: of numbers of every floating format
_MATH = [
    *(f"g {name} g" for name in _UNARY.split()),
    *(f"g {name} g g" for name in _BINARY.split()),
    *(f"g {name} g g g" for name in _TERNARY.split()),
    "g fmax g e",
    "g fmin g e",
    "g max g e",
    "g min g e",
    "g clamp g e e",
    "g mix g g e",
    "g step e g",
    "g smoothstep e e g",
    "g fract g *g",
    "g modf g *g",
    "g sincos g *g",
    "g frexp g *i",
    "g lgamma_r g *i",
    "g remquo g g *i",
    "i ilogb g",
    "g ldexp g i",
    "g ldexp g I",
    "g pown g i",
    "g rootn g i",
    "g nan u",
    *(
        f"t {name} g g"
        for name in [
            "isequal",
            "isnotequal",
            "isgreater",
            "isgreaterequal",
            "isless",
            "islessequal",
            "islessgreater",
            "isordered",
            "isunordered",
        ]
    ),
    *(f"t {name} g" for name in ["isfinite", "isinf", "isnan", "isnormal", "signbit"]),
    "g bitselect g g g",
    "g select g g j",
    "g select g g u",
]
#: of float alone
_FLOAT = [
    *(f"g {kind}_{name} g" for kind in ("half", "native") for name in _FEWER_BITS.split()),
    *(f"g {kind}_{name} g g" for kind in ("half", "native") for name in ("powr", "divide")),
]
#: of vectors with up to four components, of every floating format
_SPACE = ["e dot g g", "e length g", "e distance g g", "g normalize g"]
_FAST = ["e fast_length g", "e fast_distance g g", "g fast_normalize g"]  #: of float alone
_INTEGER = [
    "u abs g",
    "u abs_diff g g",
    *(f"g {name} g g" for name in ["add_sat", "hadd", "rhadd", "max", "min", "mul_hi", "rotate", "sub_sat"]),
    "g clamp g g g",
    "g clamp g e e",
    "g max g e",
    "g min g e",
    "g mad_hi g g g",
    "g mad_sat g g g",
    "g clz g",
    "g popcount g",
    "g bitselect g g g",
    "g select g g j",
    "g select g g u",
]
_SIGNED = {"int", "long", "char", "short"}
_OF_BITS = {8: "char", 16: "short", 32: "int", 64: "long"}


@dataclass(frozen=True)
class Call:
    """One function on certain types: those of its parameters, of what its pointer leads to (the last, if any) and of
    its result."""

    name: str
    parameters: tuple[str, ...]
    pointer: str | None
    result: str


def _types(element: str, length: int) -> dict[str, str]:
    """What the letters of a row stand for."""
    bits = (INTEGERS | FLOATS)[element]
    lanes = "" if length == 1 else str(length)
    test = _OF_BITS[bits] if lanes else "int"
    wide = ("" if element in _SIGNED else "u") + _OF_BITS.get(2 * bits, "")
    return {
        "g": element + lanes,
        "e": element,
        "i": "int" + lanes,
        "I": "int",
        "j": _OF_BITS[bits] + lanes,
        "u": f"u{_OF_BITS[bits]}{lanes}",
        "t": test + lanes,
        "w": wide + lanes,
    }


def _of(row: str, types: dict[str, str]) -> Call:
    result, name, *parameters = row.split()
    pointer = types[parameters.pop()[1:]] if parameters[-1].startswith("*") else None
    return Call(name, tuple(types[p] for p in parameters), pointer, types[result])


def _rows(element: str, length: int) -> list[str]:
    if element in FLOATS:
        rows = list(_MATH) + (_FLOAT if element == "float" else [])
        if length <= 4:
            rows += _SPACE + (_FAST if element == "float" else [])
        return rows + (["g cross g g"] if length in (3, 4) else [])
    rows = list(_INTEGER)
    rows += ["t any g", "t all g"] if element in _SIGNED else []
    rows += ["w upsample g u"] if INTEGERS[element] < 64 else []
    return rows + (["g mul24 g g", "g mad24 g g g"] if INTEGERS[element] == 32 else [])


def calls(element: str, length: int) -> Iterator[Call]:
    """Every call for the generic type of this element and length, each only once."""
    types = _types(element, length)
    found = (
        _of(row, types | ({"t": "int"} if row.split()[1] in ("any", "all") else {})) for row in _rows(element, length)
    )
    yield from dict.fromkeys(found)
