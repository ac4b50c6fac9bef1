"""Floating-point square root by digit recurrence, one result bit a step."""

from fractions import Fraction
from functools import partial
from math import isqrt

from amaranth import *

from rtl_lib.arith.bits import leading_zeros, shift_left
from rtl_lib.arith.levels import MUX, adder, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire

from .format import FloatFormat
from .raw import UNPACK_LEVELS, rounding_steps, split

__all__ = ["FloatSqrt"]


def _unpack(fmt: FloatFormat, wire: Wire, *, a: Value) -> Values:
    x = split(wire, fmt, a)
    return {
        "significand_a": x.significand,
        "exponent_a": x.exponent,
        "sign": x.sign,
        "nan": x.nan | (x.sign & ~x.zero),
        "infinite": x.infinite,
        "zero": x.zero,
    }


def _measure(wire: Wire, *, significand_a: Value) -> Values:
    return {"leading": leading_zeros(wire, significand_a)}


def _normalize(fmt: FloatFormat, wire: Wire, *, significand_a: Value, exponent_a: Value, leading: Value) -> Values:
    """The radicand from 1 to below 4, two bits before the point, such that the remaining exponent is even."""
    exponent = wire(exponent_a - leading - fmt.bias, "exponent")
    normal = wire(shift_left(wire, significand_a, leading), "normal")
    radicand = Mux(exponent[0], Cat(0, normal), Cat(normal, 0))
    even = Const(0, len(radicand) % 2)  # digits come in pairs of bits
    return {"radicand": Cat(even, radicand), "scale": ((exponent >> 1) + (fmt.bias - 1))[: fmt.exponent]}


def _place(fmt: FloatFormat, wire: Wire, *, significand_a: Value, exponent_a: Value) -> Values:
    """As :func:`_normalize`, where all numbers are normal."""
    return _normalize(fmt, wire, significand_a=significand_a, exponent_a=exponent_a, leading=Const(0, 1))


def _first_digit(wire: Wire, *, radicand: Value) -> Values:
    """The root is 1 or more, so its first digit is one."""
    return {"radicand": radicand[:-2], "rest": (radicand[-2:] - 1)[:2], "root": Const(1, 1)}


def _digit(wire: Wire, *, radicand: Value, rest: Value, root: Value) -> Values:
    """Appends a one to the root if ``4 * root + 1`` fits into the remainder with two more bits of the radicand.

    The remainder never exceeds twice the root, so it needs one bit more than the root.
    """
    bits = Cat(Const(0, 2), radicand)[-2:]
    rest = Cat(bits, rest)
    difference = wire(rest - Cat(1, 0, root), "difference")
    fits = ~difference[-1]
    return {"radicand": radicand[:-2], "root": Cat(fits, root), "rest": Mux(fits, difference, rest)[: len(root) + 2]}


def _collect(wire: Wire, *, rest: Value, root: Value) -> Values:
    return {"significand": Cat(rest.any(), root, 0)}


def _unit_first(fmt: FloatFormat) -> tuple[Step, ...]:
    """The steps that shift a subnormal number so that its unit bit is set."""
    if not fmt.subnormals:
        return (Step("place", adder(fmt.exponent) + MUX, partial(_place, fmt)),)
    return (
        Step("measure", leading_zeros_levels(fmt.precision), _measure),
        Step("normalize", max(shifter(fmt.precision), adder(fmt.exponent)) + MUX, partial(_normalize, fmt)),
    )


class FloatSqrt(PipelinedPart):
    """``o``: the correctly rounded square root of ``a``, one a cycle."""

    kind = "fsqrt"
    Params = FloatFormat

    @classmethod
    def inputs(cls, params: FloatFormat) -> dict[str, int]:
        """Width of the operand in bits: that of the format."""
        return {"a": params.width}

    @classmethod
    def outputs(cls, params: FloatFormat) -> dict[str, int]:
        """Width of the root in bits: that of the format."""
        return {"o": params.width}

    @classmethod
    def steps(cls, params: FloatFormat) -> tuple[Step, ...]:
        """Unpacking, normalization of subnormal operands, one digit of the root a step, rounding."""
        precision = params.precision
        return (
            Step("unpack", UNPACK_LEVELS, partial(_unpack, params)),
            *_unit_first(params),
            Step("digit0", MUX, _first_digit),
            *(Step(f"digit{n}", adder(n + 3) + MUX, _digit) for n in range(1, precision + 1)),
            Step("collect", adder(precision), _collect),
            *rounding_steps(params),
        )

    @classmethod
    def golden(cls, params: FloatFormat, a: int) -> int:
        """The integer root of the scaled significand with a sticky bit, rounded once; negative numbers give a NaN."""
        if params.is_zero(a):
            return params.zero(params.negative(a))
        if a == params.infinity():
            return a
        if params.is_nan(a) or params.negative(a):
            return params.quiet_nan
        return params.round(_root_with_sticky(params.value(a), 2 * params.precision))


def _root_with_sticky(value: Fraction, digits: int) -> Fraction:
    """The root of a positive ``value``, truncated after at least ``digits`` significant bits, with a one appended if
    inexact."""
    scale = digits + max(0, value.denominator.bit_length())
    radicand = value * Fraction(4) ** scale
    root = isqrt(radicand.numerator // radicand.denominator)
    return Fraction(2 * root + (root * root != radicand), 2 ** (scale + 1))
