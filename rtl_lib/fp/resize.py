"""Conversion from one floating-point format to another."""

from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.bits import leading_zeros, shift_left, shift_right_lost
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire

from .format import ROUNDINGS, FloatFormat
from .raw import UNPACK_LEVELS, rounding_steps, split

__all__ = ["FloatResize", "ResizeParams"]


@dataclass(frozen=True)
class ResizeParams:
    """From ``source`` to ``target``, one of which can represent every number of the other."""

    source: FloatFormat
    target: FloatFormat
    rounding: str = "even"  #: one of :data:`rtl_lib.fp.format.ROUNDINGS`; a larger target needs none

    def __post_init__(self) -> None:
        if self.rounding not in ROUNDINGS:
            raise ValueError(f"no rounding {self.rounding!r}; there are {', '.join(ROUNDINGS)}")
        small, large = sorted((self.source, self.target), key=lambda fmt: fmt.exponent)
        if small.mantissa >= large.mantissa or large.bias < small.bias + small.mantissa + 2:
            raise ValueError(f"neither of {self.source} and {self.target} holds every number of the other")

    @property
    def widens(self) -> bool:
        """Whether the target has more bits of exponent than the source, so that every number is exact in it."""
        return self.target.exponent > self.source.exponent


def _unpack(params: ResizeParams, wire: Wire, *, a: Value) -> Values:
    """``base`` is the exponent in the bias of the target, less one; it may be negative."""
    x = split(wire, params.source, a)
    return {
        "significand_a": x.significand,
        "base": x.exponent + (params.target.bias - params.source.bias - 1),
        "sign": x.sign,
        "nan": x.nan,
        "infinite": x.infinite,
        "zero": x.zero,
    }


def _measure(wire: Wire, *, significand_a: Value) -> Values:
    return {"leading": leading_zeros(wire, significand_a)}


def _normalize(params: ResizeParams, wire: Wire, *, significand_a: Value, base: Value, leading: Value) -> Values:
    """Subnormal numbers of the source are normal numbers of the larger target; no bit is lost."""
    padding = Const(0, params.target.precision + 2 - params.source.precision)
    return {
        "scale": (base - leading)[: params.target.exponent + 1],
        "significand": Cat(padding, shift_left(wire, significand_a, leading), 0),
    }


def _place(params: ResizeParams, wire: Wire, *, base: Value) -> Values:
    """Right shift of the significand of a subnormal result: at most all bits."""
    below, limit = base[-1], params.target.precision + 2
    return {
        "scale": Mux(below, 0, base),
        "distance": Mux(below, Mux(base < -limit, limit, -base), 0)[: limit.bit_length()],
    }


def _shift(params: ResizeParams, wire: Wire, *, significand_a: Value, distance: Value) -> Values:
    shifted, lost = shift_right_lost(wire, significand_a, distance)
    kept = params.target.precision + 1  # unit, mantissa, guard
    return {"kept": shifted[-kept:], "rest": Cat(shifted[:-kept], lost)}


def _collect(wire: Wire, *, kept: Value, rest: Value) -> Values:
    return {"significand": Cat(rest.any(), kept, 0)}


class FloatResize(PipelinedPart):
    """``o``: the number ``a`` in another format."""

    kind = "fresize"
    Params = ResizeParams

    @classmethod
    def inputs(cls, params: ResizeParams) -> dict[str, int]:
        """Width of the number in the source format, in bits."""
        return {"a": params.source.width}

    @classmethod
    def outputs(cls, params: ResizeParams) -> dict[str, int]:
        """Width of the number in the target format, in bits."""
        return {"o": params.target.width}

    @classmethod
    def steps(cls, params: ResizeParams) -> tuple[Step, ...]:
        """Unpacking, normalization if the target is wider, else a shift to its precision, and rounding."""
        precision, exponent = params.source.precision, max(params.source.exponent, params.target.exponent)
        unpack = Step("unpack", max(UNPACK_LEVELS, adder(exponent)), partial(_unpack, params))
        place: tuple[Step, ...]
        if params.widens:
            place = (
                Step("measure", leading_zeros_levels(precision), _measure),
                Step("normalize", max(shifter(precision), adder(exponent)), partial(_normalize, params)),
            )
        else:
            place = (
                Step("place", adder(exponent) + 2 * MUX, partial(_place, params)),
                Step("shift", shifter(params.target.precision + 2), partial(_shift, params)),
                Step("collect", any_of(precision), _collect),
            )
        return (unpack, *place, *rounding_steps(params.target, params.rounding))

    @classmethod
    def golden(cls, params: ResizeParams, a: int) -> int:
        """The value rounded to the target format in direction ``rounding``; a NaN becomes the quiet NaN."""
        source, target = params.source, params.target
        if source.is_nan(a):
            return target.quiet_nan
        if source.is_infinite(a):
            return target.infinity(source.negative(a))
        return target.round(source.value(a), source.negative(a), params.rounding)
