"""Conversions between integers and floats."""

from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.bits import at_most, leading_zeros, shift_left
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.pipelined import PipelinedPart, Step

from .format import BINARY32, FloatFormat
from .raw import UNPACK_LEVELS, rounding_steps, split

__all__ = ["ConvertParams", "FloatToInt", "IntToFloat"]


@dataclass(frozen=True)
class ConvertParams:
    """The integer side has ``width`` bits, ``signed`` or not; the float side is of ``format``."""

    width: int
    signed: bool
    format: FloatFormat = BINARY32

    def __post_init__(self):
        if self.width < 2:
            raise ValueError(f"an integer to convert needs 2 bits or more, not {self.width}")


def _magnitude(params, wire, *, a):
    sign = a[-1] if params.signed else Const(0, 1)
    return {"magnitude": Mux(sign, -a, a)[:params.width], "sign": sign}


def _measure(params, wire, *, magnitude):
    return {"leading": leading_zeros(wire, magnitude), "zero": ~magnitude.any(), "nan": Const(0, 1), "infinite": Const(0, 1)}


def _normalize(params, wire, *, magnitude, leading):
    """The first one becomes the unit bit; the guard bit is the last one kept."""
    kept = params.format.precision + 1
    normal = wire(shift_left(magnitude, leading), "normal")
    return {"kept": Cat(Const(0, kept), normal)[-kept:], "lost": normal[:max(0, params.width - kept)],
            "scale": (params.format.bias - 1 + params.width - 1 - leading).as_unsigned()}


def _sticky(wire, *, kept, lost):
    return {"significand": Cat(lost.any(), kept, 0)}


class IntToFloat(PipelinedPart):
    """``o``: the integer ``a`` rounded to a float."""

    kind = "itof"
    Params = ConvertParams

    @classmethod
    def inputs(cls, params):
        return {"a": params.width}

    @classmethod
    def outputs(cls, params):
        return {"o": params.format.width}

    @classmethod
    def steps(cls, params):
        return (
            Step("magnitude", adder(params.width) if params.signed else 0.0, partial(_magnitude, params)),
            Step("measure", leading_zeros_levels(params.width), partial(_measure, params)),
            Step("normalize", shifter(params.width), partial(_normalize, params)),
            Step("sticky", any_of(max(1, params.width - params.format.precision - 1)), _sticky),
            *rounding_steps(params.format))

    @classmethod
    def golden(cls, params, a):
        if params.signed:
            a -= (a >> (params.width - 1)) << params.width
        return params.format.round(a)


def _unpack(params, wire, *, a):
    """How far the significand goes left from below the point; numbers below one stay there."""
    fmt = params.format
    x = split(wire, fmt, a)
    power = wire(x.exponent - fmt.bias, "power")
    distance = wire(Mux(power < 0, 0, power + 1)[:fmt.exponent], "distance")
    return {"significand": x.significand, "distance": at_most(distance, params.width), "nan": x.nan, "sign": x.sign,
            "too_large": power >= params.width - params.signed}


def _to_integer(params, wire, *, significand, distance):
    """Truncation is dropping what stays below the point."""
    fraction = len(significand)
    shifted = shift_left(Cat(significand, Const(0, params.width)), distance)
    return {"magnitude": shifted[fraction:]}


def _saturate(params, wire, *, magnitude, sign, nan, too_large):
    ones = Const(-1, params.width)
    if params.signed:
        inside = Mux(sign, -magnitude, magnitude)[:params.width]
        limit = Cat((~sign).replicate(params.width - 1), sign)
    else:
        inside, limit = Mux(sign, 0, magnitude), Mux(sign, 0, ones)
    return {"o": Mux(nan, 0, Mux(too_large, limit, inside))}


class FloatToInt(PipelinedPart):
    """``o``: the float ``a`` truncated toward zero; saturated where it does not fit, and 0 for a NaN."""

    kind = "ftoi"
    Params = ConvertParams

    @classmethod
    def inputs(cls, params):
        return {"a": params.format.width}

    @classmethod
    def outputs(cls, params):
        return {"o": params.width}

    @classmethod
    def steps(cls, params):
        return (
            Step("unpack", max(UNPACK_LEVELS, 2 * adder(params.format.exponent) + MUX), partial(_unpack, params)),
            Step("shift", shifter(params.width), partial(_to_integer, params)),
            Step("saturate", adder(params.width) + MUX, partial(_saturate, params)))

    @classmethod
    def golden(cls, params, a):
        fmt = params.format
        low = -(1 << (params.width - 1)) if params.signed else 0
        high = low + (1 << params.width) - 1
        if fmt.is_nan(a):
            return 0
        if fmt.is_infinite(a):
            value = low if fmt.negative(a) else high
        else:
            value = min(max(int(fmt.value(a)), low), high)
        return value % (1 << params.width)
