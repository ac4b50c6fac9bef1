"""Arithmetic that rounds exactly once, in every format and rounding mode, on plain Python numbers."""

import math
from collections.abc import Callable
from fractions import Fraction

from .values import float_to_bits, round_float

__all__ = [
    "GUARD",
    "ROUNDINGS",
    "flushed",
    "fma",
    "fused_sum",
    "integral",
    "of_decimal",
    "resize",
    "rounded",
    "sqrt",
    "to_integer",
]

#: functions that round a rational number to an integer, by the value of an operation's attribute ``rounding``
ROUNDINGS: dict[str, Callable[[Fraction], int]] = {
    "even": round,  # Python rounds halves to even
    "zero": math.trunc,
    "up": math.ceil,
    "down": math.floor,
    "away": lambda x: math.floor(x + Fraction(1, 2)) if x >= 0 else math.ceil(x - Fraction(1, 2)),
}

#: bits below the last one of the greatest term that a fused sum keeps
GUARD = 4

#: width -> (bits of the significand, exponent of the smallest number, exponent of the largest one)
_LAYOUT = {16: (11, -24, 15), 32: (24, -149, 127), 64: (53, -1074, 1023)}


def rounded(x: Fraction | int, bits: int, rounding: str = "even") -> float:
    """The rational ``x`` as a float of ``bits`` bits; an exact zero has no sign."""
    if x == 0:
        return 0.0
    x = Fraction(x)
    precision, lowest, highest = _LAYOUT[bits]
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent -= abs(x) < Fraction(2) ** exponent
    unit = max(exponent - precision + 1, lowest)
    steps = abs(ROUNDINGS[rounding](x / Fraction(2) ** unit))
    sign = -1.0 if x < 0 else 1.0
    if steps.bit_length() + unit <= highest + 1:
        return sign * math.ldexp(steps, unit)
    inward = rounding == "zero" or rounding == ("up" if x < 0 else "down")
    return sign * (math.ldexp((1 << precision) - 1, highest - precision + 1) if inward else math.inf)


def of_decimal(text: str, bits: int) -> float:
    """The decimal number as a float of ``bits`` bits, ties to even."""
    near = float(text)
    if bits == 64:
        return near
    # the number is less than one step of doubles away from ``near``: it rounds as that does, unless a tie is as close
    below, above = (round_float(math.nextafter(near, end), bits) for end in (-math.inf, math.inf))
    return round_float(near, bits) if below == above else rounded(Fraction(text), bits)


def flushed(x: float, bits: int) -> float:
    """``x``, or a zero of its sign if it is subnormal in the format of ``bits`` bits."""
    precision, lowest, _ = _LAYOUT[bits]
    return math.copysign(0.0, x) if abs(x) < math.ldexp(1.0, lowest + precision - 1) else x


def resize(x: float, bits: int, rounding: str = "even") -> float:
    """``x`` in the format of ``bits`` bits."""
    if rounding == "even" or x == 0 or not math.isfinite(x):
        return round_float(x, bits)
    return rounded(Fraction(x), bits, rounding)


def integral(x: float, rounding: str) -> float:
    """``x`` rounded to an integral value, with the sign of ``x``."""
    if not math.isfinite(x) or abs(x) >= 2.0**52:
        return x
    return math.copysign(ROUNDINGS[rounding](Fraction(x)), x)


def to_integer(x: float, bits: int, is_signed: bool, rounding: str = "zero") -> int:
    """``x`` as an integer, saturating and 0 for a NaN, as an unsigned pattern of ``bits`` bits."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return (high if x > 0 else low) & (1 << bits) - 1
    number = int(x) if rounding == "zero" else ROUNDINGS[rounding](Fraction(x))
    return max(low, min(high, number)) & (1 << bits) - 1


def sqrt(x: float, bits: int) -> float:
    """The square root; rounding a double again is exact (see ``round_float``)."""
    if x < 0:
        return math.nan
    return round_float(math.sqrt(x), bits) if x < math.inf else x


def fma(a: float, b: float, c: float, bits: int) -> float:
    """``a * b + c`` with one rounding."""
    product = a * b
    if not (math.isfinite(a) and math.isfinite(b)):
        return product + c
    if not math.isfinite(c):
        return c
    if bits == 64:
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        return rounded(exact, 64) if exact else (product + c if a == 0 or b == 0 else 0.0)
    # The product is exact in double. The sum is rounded to odd, so that rounding it again gives the correctly rounded
    # exact sum.
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    if error and not float_to_bits(total, 64) & 1:
        total = math.nextafter(total, math.copysign(math.inf, error))
    return round_float(total, bits)


def fused_sum(terms: tuple[str, ...], values: tuple[float, ...], bits: int) -> float:
    """The sum of products and numbers with one rounding at the end.

    ``terms`` gives sign and kind of each: see "fsum" in :mod:`.optable`. The unit of a product is the last bit of the
    product of the significands. All terms are truncated, in magnitude, :data:`GUARD` bits below the unit of the
    greatest; the truncated terms are added exactly.
    """
    given = iter(values)
    factors = [(-1.0 if term[0] == "-" else 1.0, next(given), next(given) if "*" in term else 1.0) for term in terms]
    if not all(map(math.isfinite, values)):
        # a product of finite numbers may overflow, but does not count next to an infinity
        return sum(sign * a * b if not (math.isfinite(a) and math.isfinite(b)) else 0.0 for sign, a, b in factors)
    precision, lowest, _ = _LAYOUT[bits]
    parts = [(sign, _taken_apart(a, precision, lowest), _taken_apart(b, precision, lowest)) for sign, a, b in factors]
    least = lowest - precision + 1
    unit = max([least, *(a[1] + b[1] for _, a, b in parts if a[0] and b[0])]) - GUARD
    total = sum(int(sign) * _cut(a[0] * b[0], a[1] + b[1] - unit) for sign, a, b in parts)
    if total:
        return rounded(Fraction(total) * Fraction(2) ** unit, bits)
    all_zero = all(a == 0 or b == 0 for _, a, b in factors)
    return (
        -0.0
        if all_zero
        and all(math.copysign(1, sign) * math.copysign(1, a) * math.copysign(1, b) < 0 for sign, a, b in factors)
        else 0.0
    )


def _taken_apart(x: float, precision: int, lowest: int) -> tuple[int, int]:
    """(significand, exponent of its last bit) in a format whose smallest number is 2^lowest."""
    unit = max(math.frexp(x)[1] - precision, lowest)
    return int(math.ldexp(x, -unit)) if unit > -1022 else int(Fraction(x) / Fraction(2) ** unit), unit


def _cut(product: int, left: int) -> int:
    size = abs(product) << left if left >= 0 else abs(product) >> -left
    return -size if product < 0 else size
