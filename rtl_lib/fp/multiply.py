"""Floating-point product."""

from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.bits import leading_zeros, top_of_shift
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.multiply import product_steps
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire, beside

from .format import BINARY32, FloatFormat
from .raw import UNPACK_LEVELS, flushing_steps, rounding_steps, split

__all__ = ["FloatMul", "FloatMulParams"]


@dataclass(frozen=True)
class FloatMulParams:
    """``a * b`` in ``format``; ``dsp_bits`` and ``adder_words`` as in :class:`rtl_lib.arith.multiply.MulParams`."""

    format: FloatFormat = BINARY32
    dsp_bits: int = 27
    adder_words: int = 3

    def __post_init__(self) -> None:
        if self.format.bias < self.format.mantissa + 3:
            raise ValueError(f"two subnormal numbers of {self.format} may have a product that is not zero")


def _unpack(fmt: FloatFormat, wire: Wire, *, a: Value, b: Value) -> Values:
    x, y = split(wire, fmt, a), split(wire, fmt, b)
    return {
        "significand_a": x.significand,
        "significand_b": y.significand,
        "exponent_a": x.exponent,
        "exponent_b": y.exponent,
        "subnormal_a": x.subnormal,
        "sign": x.sign ^ y.sign,
        "nan": x.nan | y.nan | (x.infinite & y.zero) | (x.zero & y.infinite),
        "infinite": x.infinite | y.infinite,
        "zero": x.zero | y.zero,
    }


def _measure(
    fmt: FloatFormat,
    wire: Wire,
    *,
    significand_a: Value,
    significand_b: Value,
    exponent_a: Value,
    exponent_b: Value,
    subnormal_a: Value,
) -> Values:
    """Exponent (biased, less one; may be negative) and leading zeros of the product, in parallel with the multiplier.

    At most one operand needs normalizing: the product of two subnormal numbers is below half the least one.
    """
    return {
        "leading": leading_zeros(wire, Mux(subnormal_a, significand_a, significand_b)),
        "base": exponent_a + exponent_b - (fmt.bias + 1),
    }


def _place(fmt: FloatFormat, wire: Wire, *, leading: Value, base: Value) -> Values:
    """Scale of the result, and the shift that moves the product there.

    ``shift`` counts from the product moved right by ``precision + 2``, so that it is never negative.
    """
    right = fmt.precision + 2
    room = wire(base - leading, "room")
    subnormal = room[-1]
    room_left = Mux(base < -right, 0, base + right)
    return {
        "scale": Mux(subnormal, 0, room)[: fmt.exponent + 1],
        "shift": Mux(subnormal, room_left, leading + right)[: (2 * fmt.precision + 2).bit_length()],
    }


def _shift(fmt: FloatFormat, wire: Wire, *, product: Value, shift: Value) -> Values:
    """Left or right shift in one shifter; the guard bit is the last one kept."""
    wanted = fmt.precision + 2
    kept, lost = top_of_shift(wire, Cat(product, Const(0, wanted)), shift, wanted)
    return {"kept": kept, "lost": lost}


def _scale(fmt: FloatFormat, wire: Wire, *, exponent_a: Value, exponent_b: Value) -> Values:
    return {"scale": exponent_a + exponent_b - (fmt.bias + 1)}


def _cut(fmt: FloatFormat, wire: Wire, *, product: Value) -> Values:
    """The leading one of a product of normal numbers is in its two top bits: the rounder's carry and unit."""
    below = fmt.precision - 2
    return {"significand": Cat(product[:below].any(), product[below:])}


def _sticky(wire: Wire, *, kept: Value, lost: Value) -> Values:
    return {"significand": Cat(lost.any(), kept)}


class FloatMul(PipelinedPart):
    """``o``: the correctly rounded product of ``a`` and ``b``."""

    kind = "fmul"
    Params = FloatMulParams

    @classmethod
    def inputs(cls, params: FloatMulParams) -> dict[str, int]:
        """Widths of the factors in bits: that of the format."""
        return {"a": params.format.width, "b": params.format.width}

    @classmethod
    def outputs(cls, params: FloatMulParams) -> dict[str, int]:
        """Width of the product in bits: that of the format."""
        return {"o": params.format.width}

    @classmethod
    def steps(cls, params: FloatMulParams) -> tuple[Step, ...]:
        """Unpacking, product of the significands, normalization, rounding."""
        fmt = params.format
        precision, exponent = fmt.precision, fmt.exponent
        product, gather, *sums = product_steps(
            "significand_a",
            "significand_b",
            "product",
            precision,
            precision,
            2 * precision,
            dsp_bits=params.dsp_bits,
            adder_words=params.adder_words,
        )
        unpack = Step("unpack", UNPACK_LEVELS, partial(_unpack, fmt))
        if not fmt.subnormals:
            return (
                unpack,
                beside("product", product, Step("scale", 2 * adder(exponent), partial(_scale, fmt))),
                gather,
                *sums,
                Step("cut", any_of(precision), partial(_cut, fmt)),
                *flushing_steps(fmt),
            )
        return (
            unpack,
            beside("product", product, Step("measure", leading_zeros_levels(precision) + MUX, partial(_measure, fmt))),
            beside("gather", gather, Step("place", adder(exponent) + MUX, partial(_place, fmt))),
            *sums,
            Step("shift", shifter(2 * precision), partial(_shift, fmt)),
            Step("sticky", any_of(2 * precision), _sticky),
            *rounding_steps(fmt),
        )

    @classmethod
    def golden(cls, params: FloatMulParams, a: int, b: int) -> int:
        """The product as an exact rational number, rounded once; zero times infinity is a NaN."""
        fmt = params.format
        negative = fmt.negative(a) != fmt.negative(b)
        infinite, zero = fmt.is_infinite(a) or fmt.is_infinite(b), fmt.is_zero(a) or fmt.is_zero(b)
        if fmt.is_nan(a) or fmt.is_nan(b) or (infinite and zero):
            return fmt.quiet_nan
        if infinite:
            return fmt.infinity(negative)
        return fmt.round(fmt.value(a) * fmt.value(b), negative_zero=negative)
