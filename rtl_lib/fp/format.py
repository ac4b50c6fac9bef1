"""IEEE 754 binary formats: their layout, and exact conversion to and from rational numbers.

All reference models of floating point are based on :meth:`FloatFormat.value` and :meth:`FloatFormat.round`, which share
nothing with the hardware.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, trunc

__all__ = ["BINARY16", "BINARY32", "BINARY64", "ROUNDINGS", "FloatFormat", "round_rational"]

#: to nearest with ties to even, toward zero, up, down, and to nearest with ties away from zero
ROUNDINGS = ("even", "zero", "up", "down", "away")


def round_rational(value: Fraction, rounding: str) -> int:
    """A rational number rounded to an integer; ``rounding`` is one of :data:`ROUNDINGS`."""
    if rounding == "even":
        return round(value)  # Python rounds halves to even
    if rounding == "away":
        nearest = floor(abs(value) + Fraction(1, 2))
        return -nearest if value < 0 else nearest
    integral: dict[str, Callable[[Fraction], int]] = {"zero": trunc, "up": ceil, "down": floor}
    return integral[rounding](value)


@dataclass(frozen=True)
class FloatFormat:
    """A format with ``exponent`` bits of biased exponent and ``mantissa`` stored bits of significand.

    Without ``subnormals`` the bits of a subnormal number mean a zero of the same sign, and a result that would round to
    a subnormal number is that zero.
    """

    exponent: int
    mantissa: int
    subnormals: bool = True

    def __post_init__(self) -> None:
        if self.exponent < 3 or self.mantissa < 2:
            raise ValueError(f"a float needs 3 exponent bits and 2 mantissa bits at least: {self}")

    @property
    def width(self) -> int:
        """Bits of the whole number."""
        return 1 + self.exponent + self.mantissa

    @property
    def precision(self) -> int:
        """Bits of the significand, the hidden one included."""
        return self.mantissa + 1

    @property
    def bias(self) -> int:
        """What is added to a number's exponent to store it: 127 for single precision."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def top_exponent(self) -> int:
        """The exponent field of infinities and NaNs: all ones."""
        return (1 << self.exponent) - 1

    @property
    def quiet_nan(self) -> int:
        """Bits of the one NaN that operations return."""
        return (self.top_exponent << self.mantissa) | (1 << (self.mantissa - 1))

    def infinity(self, negative: bool = False) -> int:
        """Bits of an infinity."""
        return self.zero(negative) | (self.top_exponent << self.mantissa)

    def zero(self, negative: bool = False) -> int:
        """Bits of a zero."""
        return int(negative) << (self.width - 1)

    def negative(self, bits: int) -> bool:
        """Whether the sign bit is set."""
        return bool(bits >> (self.width - 1) & 1)

    def _magnitude(self, bits: int) -> int:
        return bits & ~self.zero(True)

    def is_nan(self, bits: int) -> bool:
        """Whether ``bits`` are a NaN, quiet or signaling."""
        return self._magnitude(bits) > self.infinity()

    def is_infinite(self, bits: int) -> bool:
        """Whether ``bits`` are an infinity of either sign."""
        return self._magnitude(bits) == self.infinity()

    def is_zero(self, bits: int) -> bool:
        """Whether ``bits`` mean a zero of either sign: subnormal numbers too if the format has none."""
        return self._magnitude(bits) < (1 if self.subnormals else 1 << self.mantissa)

    def value(self, bits: int) -> Fraction:
        """The finite number that ``bits`` stand for, as a Fraction; ValueError for infinities and NaNs."""
        field = self._magnitude(bits) >> self.mantissa
        if field == self.top_exponent:
            raise ValueError(f"{bits:#x} is not a finite number")
        if self.is_zero(bits):
            return Fraction(0)
        significand = bits & ((1 << self.mantissa) - 1) | (int(field > 0) << self.mantissa)
        magnitude = significand * Fraction(2) ** (max(field, 1) - self.bias - self.mantissa)
        return -magnitude if self.negative(bits) else magnitude

    @property
    def largest(self) -> int:
        """Bits of the largest finite number."""
        return self.infinity() - 1

    def round(self, value: Fraction | int, negative_zero: bool = False, rounding: str = "even") -> int:
        """Bits of the number that the rational ``value`` is rounded to; ``negative_zero`` signs an exact zero."""
        if value == 0:
            return self.zero(negative_zero)
        magnitude = abs(Fraction(value))
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        exponent -= magnitude < Fraction(2) ** exponent
        scale = max(exponent, 1 - self.bias) - self.mantissa
        steps = abs(round_rational(value / Fraction(2) ** scale, rounding))
        # Counted in units of the last place, numbers of increasing exponent follow each other like integers.
        bits = steps + ((scale + self.mantissa + self.bias - 1) << self.mantissa)
        if not self.subnormals and bits < 1 << self.mantissa:
            return self.zero(value < 0)
        inward = rounding == "zero" or rounding == ("up" if value < 0 else "down")
        return self.zero(value < 0) | min(bits, self.largest if inward else self.infinity())


BINARY16 = FloatFormat(5, 10)
BINARY32 = FloatFormat(8, 23)
BINARY64 = FloatFormat(11, 52)
