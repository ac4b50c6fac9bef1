"""Raw numbers: what the fields of a float mean, taken apart for calculation, and the rounder that packs them again.

The rounder's input
-------------------
Every operation hands over, as values of these names:

- ``sign``;
- ``scale`` (unsigned): the biased exponent of the significand's unit bit, less one;
- ``significand``, ``precision + 3`` bits: carry, unit, the mantissa, guard, sticky;
- ``nan``, ``infinite``, ``zero``: the result is this whatever the significand; the first that is set holds.

The significand is normalized (carry or unit is set) unless ``scale`` is zero, when it may be subnormal.
"""

from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.levels import MUX, adder, any_of
from rtl_lib.arith.pipelined import Step

from .format import FloatFormat

__all__ = ["UNPACK_LEVELS", "Fields", "rounding_steps", "split"]


@dataclass(frozen=True)
class Fields:
    """A float taken apart, as expressions."""

    sign: Value
    exponent: Value  #: biased; that of the least normal number for subnormals too
    significand: Value  #: with the hidden bit
    nan: Value
    infinite: Value
    zero: Value
    subnormal: Value  #: or zero


def split(wire, fmt: FloatFormat, bits):
    """Takes ``bits`` apart; ``wire`` as for :class:`rtl_lib.arith.pipelined.Step`."""
    mantissa, field = bits[:fmt.mantissa], bits[fmt.mantissa:-1]
    special, subnormal = wire(field.all(), "special"), wire(~field.any(), "subnormal")
    fraction = wire(mantissa.any(), "fraction")
    return Fields(
        sign=bits[-1], exponent=Cat(field[0] | subnormal, field[1:]), significand=Cat(mantissa, ~subnormal),
        nan=special & fraction, infinite=special & ~fraction, zero=subnormal & ~fraction, subnormal=subnormal)


#: depth of the flags that :func:`split` finds
UNPACK_LEVELS = any_of(23)


def rounding_steps(fmt):
    """The steps that round a raw result to nearest, ties to even, and return it as ``o``."""
    return (Step("round", MUX + 1 + adder(fmt.width), partial(_round, fmt)),
            Step("pack", any_of(fmt.exponent) + MUX, partial(_pack, fmt)))


def _round(fmt, wire, *, scale, significand):
    """Adds significand, round-up bit and scale in one go, so that carries move into the exponent by themselves.

    The unit bit adds one to ``scale``, which makes it the exponent of a normal number and leaves 0 for a subnormal
    one; a carry bit adds two.
    """
    carry, unit = significand[-1], significand[-2]
    mantissa = wire(Mux(carry, significand[3:-1], significand[2:-2]), "mantissa")
    guard = Mux(carry, significand[2], significand[1])
    sticky = significand[0] | (carry & significand[1])
    up = guard & (sticky | mantissa[0])
    return {"rounded": Cat(mantissa, unit & ~carry, carry) + Cat(Const(0, fmt.mantissa), scale) + up}


def _pack(fmt, wire, *, rounded, sign, nan, infinite, zero):
    overflow = rounded[fmt.mantissa:] >= fmt.top_exponent
    magnitude = Mux(zero, 0, rounded[:fmt.width - 1])
    magnitude = Mux(infinite | (overflow & ~zero), fmt.infinity(), magnitude)
    return {"o": Mux(nan, fmt.quiet_nan, Cat(magnitude[:fmt.width - 1], sign))}
