"""Rounding of a float to an integral float: floor, ceil, trunc, rint and round are this part in five rounding modes."""

from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire

from .format import BINARY32, ROUNDINGS, FloatFormat, round_rational
from .raw import UNPACK_LEVELS, round_up, split

__all__ = ["FloatIntegral", "IntegralParams"]


@dataclass(frozen=True)
class IntegralParams:
    """``rounding`` is one of :data:`rtl_lib.fp.format.ROUNDINGS`."""

    rounding: str
    format: FloatFormat = BINARY32

    def __post_init__(self) -> None:
        if self.rounding not in ROUNDINGS:
            raise ValueError(f"no rounding {self.rounding!r}; there are {', '.join(ROUNDINGS)}")


def _unpack(fmt: FloatFormat, wire: Wire, *, a: Value) -> Values:
    """``fraction``: bits of the significand below the point; larger numbers count as all bits plus one."""
    x = split(wire, fmt, a)
    count = wire((fmt.bias + fmt.mantissa) - x.exponent, "below_point")
    limit = fmt.precision + 1
    return {
        "fraction": Mux(count[-1], 0, Mux(count > limit, limit, count))[: limit.bit_length()],
        "significand": x.significand,
        "nan": x.nan,
        "small": x.exponent < fmt.bias,
    }


def _mask(fmt: FloatFormat, wire: Wire, *, fraction: Value) -> Values:
    """Ones at the positions of the fraction bits."""
    width = fmt.precision + 1
    return {"mask": ~(Const(-1, width) << fraction)[:width]}


def _decide(params: IntegralParams, wire: Wire, *, a: Value, mask: Value, significand: Value, small: Value) -> Values:
    fmt = params.format
    guard = wire((Cat(significand, 0) & mask & ~(mask >> 1)).any(), "guard")
    sticky = (Cat(significand, 0) & (mask >> 1)).any()
    unit = wire(((mask << 1) | 1)[: fmt.precision] & ~mask[:-1], "unit")
    odd = (significand & unit).any()
    return {"up": round_up(params.rounding, a[-1], odd, guard, sticky), "unit": unit}


def _add(
    fmt: FloatFormat, wire: Wire, *, a: Value, mask: Value, unit: Value, up: Value, small: Value, nan: Value
) -> Values:
    """A carry out of the mantissa correctly increments the exponent; below one only two results are possible."""
    whole = Cat(a[: fmt.mantissa] & ~mask[: fmt.mantissa], a[fmt.mantissa : -1]) + Mux(up, unit, 0)
    one = fmt.bias << fmt.mantissa
    magnitude = Mux(small, Mux(up, one, 0), whole)[: fmt.width - 1]
    return {"o": Mux(nan, fmt.quiet_nan, Cat(magnitude, a[-1]))}


class FloatIntegral(PipelinedPart):
    """``o``: the float ``a`` rounded to an integral value, with the sign of ``a``."""

    kind = "fintegral"
    Params = IntegralParams

    @classmethod
    def inputs(cls, params: IntegralParams) -> dict[str, int]:
        """Width of the operand in bits: that of the format."""
        return {"a": params.format.width}

    @classmethod
    def outputs(cls, params: IntegralParams) -> dict[str, int]:
        """Width of the result in bits: that of the format."""
        return {"o": params.format.width}

    @classmethod
    def steps(cls, params: IntegralParams) -> tuple[Step, ...]:
        """Unpacking, a mask of the bits below the point, the decision to round up, and an adder."""
        fmt = params.format
        return (
            Step("unpack", max(UNPACK_LEVELS, 2 * adder(fmt.exponent) + MUX), partial(_unpack, fmt)),
            Step("mask", shifter(fmt.precision), partial(_mask, fmt)),
            Step("decide", any_of(fmt.precision) + 2, partial(_decide, params)),
            Step("add", adder(fmt.width) + 2 * MUX, partial(_add, fmt)),
        )

    @classmethod
    def golden(cls, params: IntegralParams, a: int) -> int:
        """The value rounded to an integer as a rational number; infinities are unchanged."""
        fmt = params.format
        if fmt.is_nan(a):
            return fmt.quiet_nan
        if fmt.is_infinite(a):
            return a
        return fmt.round(round_rational(fmt.value(a), params.rounding), negative_zero=fmt.negative(a))
