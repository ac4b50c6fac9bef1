"""Writes coefficients.h, double_coefficients.h and native_coefficients.h: the constants of the mathematical functions,
each polynomial with the error it leaves.

Run ``python -m hls.mathlib.coefficients`` after a change; it needs mpmath. A polynomial interpolates at Chebyshev
nodes, which is within a factor of two of the best one; its coefficients are then rounded to fixed point, and the error
of the rounded polynomial is measured on a grid. What the evaluation in fixed point adds is below a unit of the last
place of the coefficients for each step; the error of the functions as a whole is measured over all arguments, see
docs/arithmetic.md.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpmath import mp, mpf

mp.prec = 400
GRID = 2000


@dataclass(frozen=True)
class Polynomial:
    """``function`` on ``low``..``high`` as a polynomial of ``degree``; coefficient k has ``bits`` bits below the
    point."""

    name: str
    function: Callable
    low: float
    high: float
    degree: int
    bits: int | tuple[int, ...]  #: one for all coefficients, or one for each
    what: str
    fixed: tuple[int, ...] = ()  #: coefficients known beforehand, from the lowest on, as integers of ``bits`` bits

    def coefficients(self) -> list[int]:
        """Rounded coefficients, lowest first."""
        nodes = self.degree + 1 - len(self.fixed)
        points = [self._point(mp.cos(mp.pi * (2 * k + 1) / (2 * nodes))) for k in range(nodes)]
        rows = [[x**k for k in range(len(self.fixed), self.degree + 1)] for x in points]
        known = [self._value(self.fixed, x) for x in points]
        values = [self.function(x) - part for x, part in zip(points, known, strict=True)]
        solved = mp.lu_solve(mp.matrix(rows), mp.matrix(values))
        return [*self.fixed, *(int(mp.nint(c * 2 ** self.places(len(self.fixed) + k))) for k, c in enumerate(solved))]

    def places(self, k: int) -> int:
        """Bits below the point of coefficient ``k``."""
        return self.bits if isinstance(self.bits, int) else self.bits[k]

    def _value(self, coefficients, x):
        return sum(mpf(c) / 2 ** self.places(k) * x**k for k, c in enumerate(coefficients))

    def error(self, coefficients: list[int]) -> mpf:
        """The largest absolute error on the grid."""
        return max(
            abs(self._value(coefficients, x) - self.function(x))
            for x in (self._point(mpf(k) / GRID * 2 - 1) for k in range(GRID + 1))
        )

    def _point(self, t):
        return (mpf(self.low) + self.high) / 2 + t * (mpf(self.high) - self.low) / 2

    def lines(self) -> list[str]:
        """Lines of OpenCL C: a comment with domain, bits and error, and a macro for each coefficient."""
        coefficients = self.coefficients()
        error = float(mp.log(self.error(coefficients), 2))
        bits = ", ".join(map(str, [self.bits] if isinstance(self.bits, int) else self.bits))
        head = f"// {self.what}: {self.low} to {self.high}, {bits} bits below the point, error 2^{error:.1f}"
        return [head, *(f"#define {self.name}_{k} {_literal(c)}" for k, c in enumerate(coefficients))]


def _literal(number: int) -> str:
    if -(1 << 31) <= number < 1 << 31:
        return f"{number}" if number >= 0 else f"({number})"
    if 0 <= number < 1 << 32:
        return f"{number}u"
    return f"{number}L" if number < 1 << 63 else f"{number}UL"


def quotient(f: Callable[[mpf], mpf], limit: mpf) -> Callable[[mpf], mpf]:
    """x -> f(x) / x, with its limit at 0."""
    return lambda x: f(x) / x if x else mpf(limit)


def of_root(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """z -> f(x) / x for x^2 = z, where f(x) / x is 1 (or, for erf, 2 / sqrt(pi)) at 0."""
    limit = mp.diff(f, 0)
    return lambda z: quotient(f, limit)(mp.sqrt(z))


def scaled_erfc(x: mpf) -> mpf:
    """erfc(x) * exp(x^2), which has no exponential left to approximate."""
    return mp.erfc(x) * mp.exp(x * x)


def gamma_rest(y: mpf) -> mpf:
    """log(gamma(y)) / ((y - 1) * (y - 2)), which has no pole at 1 and 2."""
    limits = {1: mp.euler, 2: 1 - mp.euler}
    return limits[int(y)] if y in limits else mp.loggamma(y) / ((y - 1) * (y - 2))


def stirling_rest(z: mpf) -> mpf:
    """r(y) * y for y = 1 / sqrt(z): what Stirling's formula leaves of log(gamma(y)) (Abramowitz and Stegun 6.1.41)."""
    if not z:
        return mpf(1) / 12
    y = 1 / mp.sqrt(z)
    return (mp.loggamma(y) - (y - mpf(1) / 2) * mp.log(y) + y - mp.log(2 * mp.pi) / 2) * y


POLYNOMIALS = (
    Polynomial("EXP2", lambda x: mpf(2) ** x, 0, 1, 6, 30, "2^x", (1 << 30,)),
    Polynomial("SIN", of_root(mp.sin), 0, 0.617, 3, 30, "sin(x) / x in x^2", (1 << 30,)),
    Polynomial("COS", lambda z: mp.cos(mp.sqrt(z)), 0, 0.617, 4, 30, "cos(x) in x^2", (1 << 30,)),
    Polynomial("EXPM1", quotient(mp.expm1, 1), -0.5, 0.7, 6, 30, "(e^x - 1) / x"),
    Polynomial("SINH", of_root(mp.sinh), 0, 1, 4, 30, "sinh(x) / x in x^2"),
    Polynomial("TANH", of_root(mp.tanh), 0, 0.3025, 5, 30, "tanh(x) / x in x^2"),
    Polynomial("ASINH", of_root(mp.asinh), 0, 0.25, 5, 30, "asinh(x) / x in x^2"),
    Polynomial("ASIN", of_root(mp.asin), 0, 0.25, 6, 30, "asin(x) / x in x^2"),
    Polynomial("ATAN", of_root(mp.atan), 0, 0.1717, 5, 30, "atan(x) / x in x^2"),
    Polynomial("ERF", of_root(mp.erf), 0, 1, 8, 30, "erf(x) / x in x^2"),
    Polynomial(
        "ERFC",
        lambda s: scaled_erfc(4 * (1 + s) / (1 - s)) * 8 / (1 - s),
        -0.8,
        0.5,
        9,
        29,
        "erfc(x) * e^(x^2) * (x + 4) in (x - 4) / (x + 4)",
    ),
    Polynomial(
        "STIRLING",
        stirling_rest,
        0,
        0.1112,
        3,
        30,
        "what Stirling's formula leaves of log(gamma(y)), times y, in 1 / y^2",
    ),
    Polynomial("LOG1P", quotient(mp.log1p, 1), -0.0166, 0.0166, 4, 30, "log(1 + x) / x", (1 << 30,)),
    Polynomial(
        "LOG2P", quotient(lambda x: mp.log1p(x) / mp.log(2), 1 / mp.log(2)), -0.0166, 0.0166, 4, 30, "log2(1 + x) / x"
    ),
)


def gamma_tables(name: str, parts: int, degree: int, bits: int) -> list[str]:
    """The polynomials for ``parts`` equal parts of 1..3, each in how far along its part y is; one table for each
    coefficient."""
    pieces = [
        Polynomial("", lambda u, k=k: gamma_rest(1 + 2 * (k + mpf(u)) / parts), 0, 1, degree, bits, "")
        for k in range(parts)
    ]
    rows = [piece.coefficients() for piece in pieces]
    error = max(piece.error(row) for piece, row in zip(pieces, rows, strict=True))
    return [
        (
            f"// log(gamma(y)) / ((y - 1) * (y - 2)) in {name} of 1..3, {bits} bits below the point, error "
            f"2^{float(mp.log(error, 2)):.1f}"
        ),
        *(_table(f"GAMMA_{k}", [_long(row[k], bits) for row in rows]) for k in range(degree + 1)),
    ]


def _long(number: int, bits: int) -> int | str:
    return number if bits < 32 else f"{number}L"


#: name -> (value, bits below the point)
CONSTANTS = {
    "LOG2_E_16": (1 / mp.log(2), 16),
    "LOG2_E_31": (1 / mp.log(2), 31),
    "LN_2_40": (mp.log(2), 40),
    "LOG2_10_16": (mp.log(10, 2), 16),
    "LOG2_10_31": (mp.log(10, 2), 31),
    "LOG10_2_40": (mp.log(2, 10), 40),
    "LN_2_56": (mp.log(2), 56),
    "PI_2_31": (mp.pi / 2, 31),
    "PI_30": (mp.pi, 30),
    "LN_PI_56": (mp.log(mp.pi), 56),
    "LOG2_PI_55": (mp.log(mp.pi, 2), 55),
    "LOG2_E_55": (1 / mp.log(2), 55),
    "STIRLING_BASE_30": (mp.log(2 * mp.pi) / 2 - mpf(1) / 2, 30),
}


def log_tables() -> list[str]:
    """For 64 intervals of 1..2, above sqrt(2) halved: a reciprocal of 8 bits, and minus its logarithm."""
    reciprocals = []
    for k in range(64):
        middle = 1 + (mpf(k) + mpf(1) / 2) / 64
        middle = middle / 2 if k >= LOG_SPLIT else middle
        reciprocal = 256 if k in (0, 63) else int(mp.nint(256 / middle))
        reciprocals.append(reciprocal)
    logarithms = {base: [int(mp.nint(-mp.log(mpf(r) / 256, base) * 2**40)) for r in reciprocals] for base in (mp.e, 2)}
    return [
        (
            "// reciprocals of the middles of 64 intervals of 1..2 (of half of that from LOG_SPLIT on), 8 bits below "
            "the point"
        ),
        f"#define LOG_SPLIT {LOG_SPLIT}",
        _table("LOG_RECIPROCALS", reciprocals),
        "// minus their logarithms to the bases e and 2, 40 bits below the point",
        _table("LOG_VALUES", logarithms[mp.e]),
        _table("LOG2_VALUES", logarithms[2]),
    ]


LOG_SPLIT = 27


def _table(name: str, numbers: Sequence[int | str]) -> str:
    rows = [", ".join(map(str, numbers[k : k + 8])) for k in range(0, len(numbers), 8)]
    return f"#define {name} {{ \\\n    " + ", \\\n    ".join(rows) + " }"


def two_over_pi(words: int, bits: int) -> list[str]:
    """Words of 2/pi after the point, as many as the largest number of a format needs."""
    with mp.workprec(bits * words + 64):
        number = int(mp.floor(2 / mp.pi * mpf(2) ** (bits * words)))
    suffix = "u" if bits == 32 else "UL"
    digits = [f"0x{number >> bits * (words - 1 - k) & (1 << bits) - 1:0{bits // 4}x}{suffix}" for k in range(words)]
    return [
        f"// 2/pi, words of {bits} bits; the point is behind the first",
        _table("TWO_OVER_PI", [f"0{suffix}", *digits]),
    ]


def _constants(table: dict) -> list[str]:
    return [
        "// constants; the number at the end says how many bits are below the point",
        *(f"#define {name} {_literal(int(mp.nint(value * 2**bits)))}" for name, (value, bits) in table.items()),
    ]


# -- double

_MIXED = (62, 62, 62, 53, 53, 53)

DOUBLE_POLYNOMIALS = (
    Polynomial(
        "EXP", lambda v: quotient(mp.expm1, 1)(v / 64), 0, 0.694, 5, _MIXED, "(e^(v / 64) - 1) * 64 / v", (1 << 62,)
    ),
    Polynomial(
        "LOG2P",
        quotient(lambda x: mp.log1p(x) / mp.log(2), 1 / mp.log(2)),
        -0.0056,
        0.00782,
        7,
        (62, 62, 62, 62, 32, 32, 32, 32),
        "log2(1 + x) / x",
    ),
    Polynomial("SIN", of_root(mp.sin), 0, 0.61686, 7, 62, "sin(x) / x in x^2", (1 << 62,)),
    Polynomial("COS", lambda z: mp.cos(mp.sqrt(z)), 0, 0.61686, 7, 62, "cos(x) in x^2", (1 << 62,)),
    Polynomial("SINPI", of_root(lambda x: mp.sin(mp.pi * x)), 0, 0.25, 10, 60, "sin(pi * x) / x in x^2"),
    Polynomial("ERF", of_root(mp.erf), 0, 1, 14, 62, "erf(x) / x in x^2"),
    Polynomial(
        "ERFC",
        lambda s: scaled_erfc(4 * (1 + s) / (1 - s)) * 8 / (1 - s),
        -0.8,
        0.7455,
        22,
        61,
        "erfc(x) * e^(x^2) * (x + 4) in (x - 4) / (x + 4)",
    ),
    Polynomial(
        "STIRLING",
        stirling_rest,
        0,
        0.1112,
        11,
        62,
        "what Stirling's formula leaves of log(gamma(y)), times y, in 1 / y^2",
    ),
)

DOUBLE_CONSTANTS = {
    "LN_2_64": (mp.log(2), 64),
    "LOG10_2_64": (mp.log(2, 10), 64),
    "LN_10_62": (mp.log(10), 62),
    "PI_2_63": (mp.pi / 2, 63),
    "LOG2_E_61": (1 / mp.log(2), 61),
}


def _units() -> list[str]:
    """The logarithms of 2^(1/64): the upper bits are cut off, not rounded, as the lower ones follow. Factors are cut
    off, too."""
    lines = [
        (
            "// log(2^(1/64)) to the bases e and 10: 64 bits below the point, and 32 more; the reciprocal, 24 bits "
            "below the point"
        )
    ]
    for name, unit in (("EXP", mp.log(2) / 64), ("EXP10", mp.log(2, 10) / 64)):
        whole = int(mp.floor(unit * mpf(2) ** 96))
        lines += [
            f"#define {name}_UNIT_64 {_literal(whole >> 32)}",
            f"#define {name}_UNIT_LOW {_literal(whole & 0xFFFFFFFF)}",
            f"#define {name}_FACTOR_24 {int(mp.floor(2**24 / unit))}L",
        ]
    return lines


def double_tables() -> list[str]:
    """2^(k / 64); and as :func:`log_tables` for 128 intervals, with reciprocals of 9 bits. How small a logarithm may
    be, together with what is added to it, says how many bits more of it count: the upper byte of LOG_MORE; the lower
    one are those bits."""
    reciprocals = []
    for k in range(128):
        middle = (1 + (mpf(k) + mpf(1) / 2) / 128) / (2 if k >= DOUBLE_LOG_SPLIT else 1)
        reciprocals.append(512 if k in (0, 127) else int(mp.nint(512 / middle)))
    logarithms = [int(mp.floor(-mp.log(mpf(r) / 512, 2) * 2**71 + mpf(1) / 2)) for r in reciprocals]
    spare = [min(4, int(mp.floor(-mp.log(abs(mpf(each)) / 2**71 + mpf(2) ** -6, 2)))) for each in logarithms]
    return [
        "// 2^(k / 64), 62 bits below the point",
        _table("EXP_POWERS", [int(mp.nint(mpf(2) ** (62 + mpf(k) / 64))) for k in range(64)]),
        (
            "// reciprocals of the middles of 128 intervals of 1..2 (of half of that from LOG_SPLIT on), 9 bits below "
            "the point"
        ),
        f"#define LOG_SPLIT {DOUBLE_LOG_SPLIT}",
        _table("LOG_RECIPROCALS", reciprocals),
        (
            "// minus their logarithms to the base 2, 63 bits below the point; 8 bits more, and 256 times how many of "
            "them count"
        ),
        _table("LOG_VALUES", [f"{each >> 8}L" for each in logarithms]),
        _table("LOG_MORE", [256 * places + (each & 255) for places, each in zip(spare, logarithms, strict=True)]),
    ]


DOUBLE_LOG_SPLIT = 53


def arc_table() -> list[str]:
    """atan(k / 64) as bits of doubles."""
    arcs = [struct.unpack("<Q", struct.pack("<d", float(mp.atan(mpf(k) / 64))))[0] for k in range(65)]
    return ["// the bits of atan(k / 64)", _table("ATAN_VALUES", [f"{bits:#x}UL" for bits in arcs])]


def _text(polynomials, constants, *tables: list[str]) -> str:
    lines = ["// Written by hls/mathlib/coefficients.py; do not edit."]
    lines += [line for polynomial in polynomials for line in polynomial.lines()]
    return "\n".join([*lines, *_constants(constants), *(line for table in tables for line in table)]) + "\n"


# -- native_ and half_


@dataclass(frozen=True)
class Lines:
    """``function`` on ``count`` intervals from ``low`` on, each ``step`` wide: its value at the start, and how far it
    moves, 16 bits below the point. All lines rise, or all fall. What follows ``count`` up to ``size`` is never asked
    for."""

    name: str
    function: Callable
    low: float
    step: Callable[[int], float]  #: width of an interval, by its index
    count: int
    what: str
    size: int = 0

    def ends(self) -> Iterator[tuple[mpf, mpf]]:
        """Start and end of each interval, from the lowest on."""
        start = mpf(self.low)
        for k in range(self.count):
            yield start, start + self.step(k)
            start += self.step(k)

    def lines(self) -> list[str]:
        """Lines of OpenCL C: a comment with the error, and the table with start and slope of each interval in one
        word."""
        words, error = [], mpf(0)
        for start, end in self.ends():
            first, last, middle = self.function(start), self.function(end), self.function((start + end) / 2)
            bow = (middle - (first + last) / 2) / 2  # moved so that it is as far off in the middle as at the ends
            base, move = int(mp.nint((first + bow) * 2**16)), int(mp.nint(abs(last - first) * 2**16))
            words.append(base << 13 | move)
            error = max(error, abs(bow) + mpf(2) ** -16)
        words += [0] * (self.size - self.count)
        return [
            f"// {self.what}: start << 13 | move, 16 bits below the point, error 2^{float(mp.log(error, 2)):.1f}",
            _table(self.name, [f"{word}u" for word in words]),
        ]


def _even(width):
    return lambda k: mpf(width)


def _of_square(f):
    """w -> f(r) for r^2 = w, or its limit at 0."""
    return lambda w: f(mp.sqrt(w) if w else mpf(2) ** -100)


def _logarithm(base: mpf) -> Callable[[mpf], mpf]:
    """x -> log(1 + x) / x to a base."""
    return quotient(lambda x: mp.log1p(x) / mp.log(base), 1 / mp.log(base))


NATIVE_LINES = (
    Lines("NATIVE_EXP2", lambda x: mpf(2) ** x, 0, _even(1 / 32), 32, "2^x on 0..1"),
    *(
        Lines(name, _logarithm(base), -0.25, _even(1 / 64), 48, f"log(1 + x) / x to the base {text} on -1/4..1/2", 64)
        for name, base, text in (("NATIVE_LOG2", 2, "2"), ("NATIVE_LN", mp.e, "e"), ("NATIVE_LOG10", 10, "10"))
    ),
    Lines(
        "NATIVE_SINE",
        _of_square(lambda r: mp.sin(mp.pi / 2 * r) / r),
        0,
        _even(1 / 64),
        16,
        "sin(pi/2 * r) / r in r^2 on 0..1/4",
    ),
    Lines(
        "NATIVE_COSINE",
        _of_square(lambda r: mp.cos(mp.pi / 2 * r)),
        0,
        _even(1 / 64),
        16,
        "cos(pi/2 * r) in r^2 on 0..1/4",
    ),
    Lines("NATIVE_RECIP", lambda x: 1 / x, 1, _even(1 / 32), 32, "1 / x on 1..2"),
    Lines("NATIVE_ROOT", mp.sqrt, 1, lambda k: mpf(1 + k // 32) / 32, 64, "sqrt(x) on 1..4"),
    Lines("NATIVE_RSQRT", lambda x: 1 / mp.sqrt(x), 1, lambda k: mpf(1 + k // 32) / 32, 64, "1 / sqrt(x) on 1..4"),
)

NATIVE_CONSTANTS = {
    "NATIVE_LOG2_E_22": (1 / mp.log(2), 22),
    "NATIVE_LOG2_10_22": (mp.log(10, 2), 22),
    "NATIVE_LN_2_24": (mp.log(2), 24),
    "NATIVE_LOG10_2_24": (mp.log(2, 10), 24),
}


def native_angle() -> list[str]:
    """The constants of the native sine and cosine: 2/pi in words."""
    number = int(mp.floor(2 / mp.pi * mpf(2) ** 64))
    return [
        "// 2/pi: its first 32 bits behind the point, and the next 32",
        f"#define TWO_OVER_PI_HIGH {number >> 32}u",
        f"#define TWO_OVER_PI_LOW {number & 0xFFFFFFFF}u",
    ]


def headers() -> dict[str, str]:
    """The headers by name."""
    return {
        "coefficients.h": _text(
            POLYNOMIALS, CONSTANTS, log_tables(), gamma_tables("quarters", 8, 6, 30), two_over_pi(7, 32)
        ),
        "native_coefficients.h": _text(NATIVE_LINES, NATIVE_CONSTANTS, native_angle()),
        "double_coefficients.h": _text(
            DOUBLE_POLYNOMIALS,
            DOUBLE_CONSTANTS,
            _units(),
            double_tables(),
            gamma_tables("eighths", 16, 11, 62),
            two_over_pi(21, 64),
            arc_table(),
        ),
    }


if __name__ == "__main__":
    for name, text in headers().items():
        Path(__file__).with_name(name).write_text(text)
