"""Conversions between integers and floats, in all rounding modes."""

from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.bits import at_most, leading_zeros, shift_left
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire

from .format import BINARY32, ROUNDINGS, FloatFormat, round_rational
from .raw import UNPACK_LEVELS, round_up, rounding_steps, split

__all__ = ["ConvertParams", "FloatToInt", "IntToFloat"]


@dataclass(frozen=True)
class ConvertParams:
    """The integer side has ``width`` bits, ``signed`` or not; the float side is of ``format``.

    ``rounding`` is one of :data:`rtl_lib.fp.format.ROUNDINGS`; None means what C does: to nearest for a float, toward
    zero for an integer.
    """

    width: int
    signed: bool
    format: FloatFormat = BINARY32
    rounding: str | None = None

    def __post_init__(self) -> None:
        if self.rounding not in (None, *ROUNDINGS):
            raise ValueError(f"no rounding {self.rounding!r}; there are {', '.join(ROUNDINGS)}")
        if self.width < 2:
            raise ValueError(f"an integer to convert needs 2 bits or more, not {self.width}")


def _magnitude(params: ConvertParams, wire: Wire, *, a: Value) -> Values:
    sign = a[-1] if params.signed else Const(0, 1)
    return {"magnitude": Mux(sign, -a, a)[: params.width], "sign": sign}


def _measure(params: ConvertParams, wire: Wire, *, magnitude: Value) -> Values:
    return {
        "leading": leading_zeros(wire, magnitude),
        "zero": ~magnitude.any(),
        "nan": Const(0, 1),
        "infinite": Const(0, 1),
    }


def _normalize(params: ConvertParams, wire: Wire, *, magnitude: Value, leading: Value) -> Values:
    """Shifts the leading one to the unit bit; the guard bit is the last one kept."""
    kept = params.format.precision + 1
    normal = wire(shift_left(wire, magnitude, leading), "normal")
    return {
        "kept": Cat(Const(0, kept), normal)[-kept:],
        "lost": normal[: max(0, params.width - kept)],
        "scale": (params.format.bias - 1 + params.width - 1 - leading).as_unsigned(),
    }


def _sticky(wire: Wire, *, kept: Value, lost: Value) -> Values:
    return {"significand": Cat(lost.any(), kept, 0)}


class IntToFloat(PipelinedPart):
    """``o``: the integer ``a`` rounded to a float."""

    kind = "itof"
    Params = ConvertParams

    @classmethod
    def inputs(cls, params: ConvertParams) -> dict[str, int]:
        """Width of the integer in bits."""
        return {"a": params.width}

    @classmethod
    def outputs(cls, params: ConvertParams) -> dict[str, int]:
        """Width of the float in bits."""
        return {"o": params.format.width}

    @classmethod
    def steps(cls, params: ConvertParams) -> tuple[Step, ...]:
        """Magnitude, count of leading zeros, normalization, rounding."""
        return (
            Step("magnitude", adder(params.width) if params.signed else 0.0, partial(_magnitude, params)),
            Step("measure", leading_zeros_levels(params.width), partial(_measure, params)),
            Step("normalize", shifter(params.width), partial(_normalize, params)),
            Step("sticky", any_of(max(1, params.width - params.format.precision - 1)), _sticky),
            *rounding_steps(params.format, params.rounding or "even"),
        )

    @classmethod
    def golden(cls, params: ConvertParams, a: int) -> int:
        """The integer rounded by the format's own :meth:`~rtl_lib.fp.format.FloatFormat.round`."""
        if params.signed:
            a -= (a >> (params.width - 1)) << params.width
        return params.format.round(a, rounding=params.rounding or "even")


def _unpack(params: ConvertParams, wire: Wire, *, a: Value) -> Values:
    """Distance by which the significand moves left from below the point; numbers below one stay there.

    A number below one half has no guard bit: its unit bit would be too high.
    """
    fmt = params.format
    x = split(wire, fmt, a)
    power = wire(x.exponent - fmt.bias, "power")
    distance = wire(Mux(power < 0, 0, power + 1)[: fmt.exponent], "distance")
    return {
        "fraction": x.significand,
        "distance": at_most(distance, params.width),
        "nan": x.nan,
        "sign": x.sign,
        "small": power < -1,
        "too_large": x.infinite | (power >= params.width - params.signed),
    }


def _to_integer(params: ConvertParams, wire: Wire, *, fraction: Value, distance: Value) -> Values:
    shifted = wire(shift_left(wire, Cat(fraction, Const(0, params.width)), distance), "shifted")
    bits = len(fraction)
    return {"magnitude": shifted[bits:], "guard": shifted[bits - 1], "rest": shifted[: bits - 1]}


def _sticky_below(wire: Wire, *, guard: Value, rest: Value, small: Value) -> Values:
    return {"guard": guard & ~small, "below": rest.any() | (guard & small)}


def _round(params: ConvertParams, wire: Wire, *, magnitude: Value, guard: Value, below: Value, sign: Value) -> Values:
    """Adds one where the rounding mode requires it; the result may be one bit longer."""
    return {"magnitude": magnitude + round_up(params.rounding or "zero", sign, magnitude[0], guard, below)}


def _negate(params: ConvertParams, wire: Wire, *, magnitude: Value, sign: Value, too_large: Value) -> Values:
    """Applies the sign; a negative number is out of range for an unsigned result."""
    negative = (-magnitude)[: params.width] if params.signed else 0
    return {
        "inside": Mux(sign, negative, magnitude)[: params.width],
        "outside": too_large | magnitude[params.width - params.signed :].any(),
    }


def _saturate(params: ConvertParams, wire: Wire, *, inside: Value, outside: Value, sign: Value, nan: Value) -> Values:
    if params.signed:
        limit = Cat((~sign).replicate(params.width - 1), sign)
    else:
        limit = (~sign).replicate(params.width)
    return {"o": Mux(nan, 0, Mux(outside, limit, inside))}


class FloatToInt(PipelinedPart):
    """``o``: the float ``a`` rounded to an integer; saturated where it is out of range, and 0 for a NaN."""

    kind = "ftoi"
    Params = ConvertParams

    @classmethod
    def inputs(cls, params: ConvertParams) -> dict[str, int]:
        """Width of the float in bits."""
        return {"a": params.format.width}

    @classmethod
    def outputs(cls, params: ConvertParams) -> dict[str, int]:
        """Width of the integer in bits."""
        return {"o": params.width}

    @classmethod
    def steps(cls, params: ConvertParams) -> tuple[Step, ...]:
        """Unpacking, the shift of the significand to the integer's place, rounding unless toward zero, and
        saturation."""
        width = params.width
        rounds = params.rounding not in (None, "zero")
        return (
            Step("unpack", max(UNPACK_LEVELS, 2 * adder(params.format.exponent) + MUX), partial(_unpack, params)),
            Step("shift", shifter(width), partial(_to_integer, params)),
            *(
                (
                    Step("sticky", any_of(params.format.precision) + 1, _sticky_below),
                    Step("round", 1 + adder(width), partial(_round, params)),
                )
                if rounds
                else ()
            ),
            Step("negate", max(adder(width), any_of(width)), partial(_negate, params)),
            Step("saturate", MUX, partial(_saturate, params)),
        )

    @classmethod
    def golden(cls, params: ConvertParams, a: int) -> int:
        """The value rounded as a rational number, limited to the integer's range; 0 for a NaN."""
        fmt = params.format
        low = -(1 << (params.width - 1)) if params.signed else 0
        high = low + (1 << params.width) - 1
        if fmt.is_nan(a):
            return 0
        if fmt.is_infinite(a):
            value = low if fmt.negative(a) else high
        else:
            value = min(max(round_rational(fmt.value(a), params.rounding or "zero"), low), high)
        return value % (1 << params.width)
