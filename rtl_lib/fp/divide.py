"""Floating-point quotient by digit recurrence, one result bit a step."""

from functools import partial

from amaranth import *

from rtl_lib.arith.bits import leading_zeros, shift_left, shift_right_lost
from rtl_lib.arith.divide import restoring_digit
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire

from .format import FloatFormat
from .raw import UNPACK_LEVELS, flushing_steps, rounding_steps, split

__all__ = ["FloatDiv"]


def _unpack_pair(fmt: FloatFormat, wire: Wire, *, a: Value, b: Value) -> Values:
    x, y = split(wire, fmt, a), split(wire, fmt, b)
    return {
        "significand_a": x.significand,
        "significand_b": y.significand,
        "exponent_a": x.exponent,
        "exponent_b": y.exponent,
        "sign": x.sign ^ y.sign,
        "nan": x.nan | y.nan | (x.infinite & y.infinite) | (x.zero & y.zero),
        "infinite": x.infinite | y.zero,
        "zero": x.zero | y.infinite,
    }


def _measure_pair(
    wire: Wire, *, significand_a: Value, significand_b: Value, exponent_a: Value, exponent_b: Value
) -> Values:
    return {
        "leading_a": leading_zeros(wire, significand_a),
        "leading_b": leading_zeros(wire, significand_b),
        "difference": exponent_a - exponent_b,
    }


def _normalize_pair(
    fmt: FloatFormat,
    wire: Wire,
    *,
    significand_a: Value,
    significand_b: Value,
    leading_a: Value,
    leading_b: Value,
    difference: Value,
) -> Values:
    """Both significands shifted so that their unit bit is set.

    Their quotient is above 1/2 and below 2; its first digit becomes the rounder's carry bit, hence an exponent one
    lower. ``base`` is that exponent, biased, less one.
    """
    return {
        "rest": shift_left(wire, significand_a, leading_a),
        "divisor": shift_left(wire, significand_b, leading_b),
        "base": difference - leading_a + leading_b + (fmt.bias - 2),
    }


def _normal_pair(
    fmt: FloatFormat, wire: Wire, *, significand_a: Value, significand_b: Value, exponent_a: Value, exponent_b: Value
) -> Values:
    """As :func:`_normalize_pair`, where all numbers are normal."""
    return {"rest": significand_a, "divisor": significand_b, "scale": exponent_a - exponent_b + (fmt.bias - 2)}


def _collect(wire: Wire, *, rest: Value, quotient: Value) -> Values:
    return {"significand": Cat(rest.any(), quotient)}


def _first_digit(wire: Wire, *, rest: Value, divisor: Value) -> Values:
    fits, left = restoring_digit(wire, rest, divisor)
    return {"quotient": fits, "rest": left}


def _digit(wire: Wire, *, rest: Value, divisor: Value, quotient: Value) -> Values:
    fits, left = restoring_digit(wire, Cat(0, rest), divisor)
    return {"quotient": Cat(fits, quotient), "rest": left}


def _distance(fmt: FloatFormat, wire: Wire, *, base: Value, rest: Value, quotient: Value) -> Values:
    """Right shift of a subnormal result; the remainder decides the sticky bit."""
    below = base[-1]
    limit = fmt.precision + 2
    return {
        "unplaced": Cat(rest.any(), quotient),
        "scale": Mux(below, 0, base)[: fmt.exponent + 1],
        "distance": Mux(below, Mux(base < -limit, limit, -base), 0)[: limit.bit_length()],
    }


def _denormalize(wire: Wire, *, unplaced: Value, distance: Value) -> Values:
    shifted, lost = shift_right_lost(wire, unplaced, distance)
    return {"kept": shifted, "lost": lost}


def _sticky(wire: Wire, *, kept: Value, lost: Value) -> Values:
    return {"significand": kept | lost.any()}


class FloatDiv(PipelinedPart):
    """``o``: the correctly rounded quotient ``a / b``, one a cycle."""

    kind = "fdiv"
    Params = FloatFormat

    @classmethod
    def inputs(cls, params: FloatFormat) -> dict[str, int]:
        """Widths of dividend and divisor in bits: that of the format."""
        return {"a": params.width, "b": params.width}

    @classmethod
    def outputs(cls, params: FloatFormat) -> dict[str, int]:
        """Width of the quotient in bits: that of the format."""
        return {"o": params.width}

    @classmethod
    def steps(cls, params: FloatFormat) -> tuple[Step, ...]:
        """Unpacking, normalization of subnormal operands, one digit of the quotient a step, rounding."""
        precision = params.precision
        digit_levels = adder(precision + 1) + MUX
        unpack = Step("unpack", UNPACK_LEVELS, partial(_unpack_pair, params))
        digits = (
            Step("digit0", digit_levels, _first_digit),
            *(Step(f"digit{n}", digit_levels, _digit) for n in range(1, precision + 2)),
        )
        if not params.subnormals:
            return (
                unpack,
                Step("place", 2 * adder(params.exponent), partial(_normal_pair, params)),
                *digits,
                Step("collect", any_of(precision), _collect),
                *flushing_steps(params),
            )
        return (
            unpack,
            Step("measure", leading_zeros_levels(precision), _measure_pair),
            Step("normalize", max(shifter(precision), 2 * adder(params.exponent)), partial(_normalize_pair, params)),
            *digits,
            Step("distance", max(any_of(precision), adder(params.exponent) + MUX), partial(_distance, params)),
            Step("denormalize", shifter(precision + 3), _denormalize),
            Step("sticky", any_of(precision + 3), _sticky),
            *rounding_steps(params),
        )

    @classmethod
    def golden(cls, params: FloatFormat, a: int, b: int) -> int:
        """The quotient as an exact rational number, rounded once; 0 / 0 and the quotient of two infinities are a
        NaN."""
        negative = params.negative(a) != params.negative(b)
        both_infinite = params.is_infinite(a) and params.is_infinite(b)
        both_zero = params.is_zero(a) and params.is_zero(b)
        if params.is_nan(a) or params.is_nan(b) or both_infinite or both_zero:
            return params.quiet_nan
        if params.is_infinite(a) or params.is_zero(b):
            return params.infinity(negative)
        if params.is_infinite(b):
            return params.zero(negative)
        return params.round(params.value(a) / params.value(b), negative_zero=negative)
