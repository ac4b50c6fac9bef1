"""Fused multiply-add with one rounding: multiply, align the addend to the product, add, normalize, round.

The sum is formed in a window of fixed-point bits. The exact product lies at its bottom, above ``_BELOW`` bits that make
a difference exact where the product has few bits; the addend starts above the product, ``_GAP`` bits clear of it, and
moves right by the difference of the exponents. An addend that would start further left stays there: the product is then
below a quarter of its last place, and its exact position does not matter. One bit above the addend takes a carry.
"""

from functools import partial

from amaranth import *

from rtl_lib.arith.bits import leading_zeros, shift_right_lost
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.multiply import product_steps
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire, beside

from .format import FloatFormat
from .multiply import FloatMulParams
from .raw import UNPACK_LEVELS, flushing_steps, normalizing_steps, rounding_steps, split

__all__ = ["FloatFma"]

_BELOW, _GAP = 2, 2


def _addend_start(fmt: FloatFormat) -> int:
    """Index in the window of the addend's last bit before alignment."""
    return _BELOW + 2 * fmt.precision + _GAP


def _unpack(fmt: FloatFormat, wire: Wire, *, a: Value, b: Value, c: Value) -> Values:
    x, y, z = (split(wire, fmt, operand) for operand in (a, b, c))
    sign = wire(x.sign ^ y.sign, "product_sign")
    opposed = wire(sign ^ z.sign, "signs_differ")
    infinite = wire(x.infinite | y.infinite, "product_infinite")
    invalid = (x.infinite & y.zero) | (x.zero & y.infinite) | (infinite & z.infinite & opposed)
    return {
        "significand_a": x.significand,
        "significand_b": y.significand,
        "significand_c": z.significand,
        "exponent_product": x.exponent + y.exponent,
        "exponent_c": z.exponent,
        "nothing": x.zero | y.zero,
        "sign_product": Mux(z.infinite & ~infinite, z.sign, sign),
        "opposed": opposed,
        "nan": x.nan | y.nan | z.nan | invalid,
        "infinite": infinite | z.infinite,
    }


def _distance(fmt: FloatFormat, wire: Wire, *, exponent_product: Value, exponent_c: Value) -> Values:
    """Right shift of the addend, and the biased exponent of the window's top bit."""
    above = fmt.precision + _GAP + 1
    distance = wire(exponent_product + (above - fmt.bias) - exponent_c, "distance")
    return {"apart": distance, "top_product": exponent_product + (above + 1 - fmt.bias)}


def _clamp(
    fmt: FloatFormat, wire: Wire, *, apart: Value, top_product: Value, exponent_c: Value, nothing: Value
) -> Values:
    """Clamps the shift. A product of zero does not determine the position of the sum."""
    stays = wire(apart[-1] | nothing, "addend_stays")
    width = _addend_start(fmt) + fmt.precision
    far = wire(apart[:-1] > width, "too_far")  # in parallel with the other condition, not after it
    return {
        "move": Mux(stays, 0, Mux(far, width, apart[:-1]))[: width.bit_length()],
        "top": Mux(stays, exponent_c + 1, top_product)[: fmt.exponent + 2],
    }


#: bits of ``move`` that the first of two alignment steps shifts by
_FINE = 3


def _align_finely(fmt: FloatFormat, wire: Wire, *, significand_c: Value, move: Value) -> Values:
    """First step: shifts within the addend's own bits and those next to it; the second step moves them as a whole."""
    return {"near": wire(Cat(Const(0, (1 << _FINE) - 1), significand_c) >> move[:_FINE], "near"), "move": move[_FINE:]}


def _align(fmt: FloatFormat, wire: Wire, *, near: Value, move: Value) -> Values:
    """Second step: shifts by multiples of ``1 << _FINE``."""
    kept, lost = shift_right_lost(
        wire, Cat(Const(0, _addend_start(fmt) - (1 << _FINE) + 1), near), Cat(Const(0, _FINE), move)
    )
    return {"addend": kept, "lost": lost}


def _sticky(wire: Wire, *, lost: Value) -> Values:
    return {"below": lost.any()}


def _add_low(wire: Wire, *, product: Value, addend: Value, below: Value, opposed: Value) -> Values:
    """Lower halves of product minus (or plus) addend and of addend minus product. The upper half adds their carries.

    The sticky bits that the addend lost below the window replace the carry-in of a complement; the addend is then
    smaller than the product.
    """
    half = len(addend) // 2
    product, addend = (
        Cat(Const(0, _BELOW), product, Const(0, len(addend)))[: len(addend)],
        addend ^ opposed.replicate(len(addend)),
    )
    forward = wire((product[:half] + addend[:half] + (opposed & ~below))[: half + 1], "forward")
    backward = wire(((~addend)[:half] - product[:half])[: half + 1], "backward")
    return {"forward": forward, "backward": backward, "product_high": product[half:], "addend_high": addend[half:]}


def _add_high(
    wire: Wire, *, forward: Value, backward: Value, product_high: Value, addend_high: Value, opposed: Value
) -> Values:
    """The upper halves; the difference that is not negative is the magnitude."""
    width = len(addend_high)
    high = wire((product_high + addend_high + forward[-1])[: width + 1], "forward_high")
    other = wire(((~addend_high)[:width] - product_high - backward[-1])[:width], "backward_high")
    negative = wire(opposed & ~high[-1], "addend_larger")
    difference = Mux(negative, Cat(backward[:-1], other), Cat(forward[:-1], high[:-1]))
    return {"total": Cat(difference, high[-1] & ~opposed), "negative": negative}


def _measure(
    wire: Wire, *, total: Value, opposed: Value, negative: Value, sign_product: Value, infinite: Value
) -> Values:
    """Leading zeros and sign: a sum that cancels is positive; a sum of two zeros has their sign if they share it."""
    zero = wire(~total.any(), "cancelled")
    return {
        "leading": leading_zeros(wire, total),
        "zero": zero & ~infinite,
        "sign": Mux(infinite, sign_product, (sign_product ^ negative) & ~(zero & opposed)),
    }


class FloatFma(PipelinedPart):
    """``o``: ``a * b + c``, correctly rounded once."""

    kind = "fma"
    Params = FloatMulParams

    @classmethod
    def inputs(cls, params: FloatMulParams) -> dict[str, int]:
        """Widths of the factors ``a`` and ``b`` and of the addend ``c`` in bits: that of the format."""
        return dict.fromkeys(("a", "b", "c"), params.format.width)

    @classmethod
    def outputs(cls, params: FloatMulParams) -> dict[str, int]:
        """Width of the result in bits: that of the format."""
        return {"o": params.format.width}

    @classmethod
    def steps(cls, params: FloatMulParams) -> tuple[Step, ...]:
        """Product of the significands beside the alignment of the addend, their sum, normalization, rounding."""
        fmt = params.format
        precision = fmt.precision
        window = _addend_start(fmt) + precision + 1
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
        exponents = (
            Step("distance", 2 * adder(fmt.exponent), partial(_distance, fmt)),
            Step("clamp", adder(fmt.exponent) + 2 * MUX, partial(_clamp, fmt)),
        )
        align = (
            Step("align_finely", shifter(1 << _FINE), partial(_align_finely, fmt)),
            Step("align", shifter(window >> _FINE) + 0.5, partial(_align, fmt)),
            Step("sticky", any_of(window), _sticky),
        )
        beside_sums = [beside(one.name, one, other) for one, other in zip(sums, align, strict=False)]
        return (
            Step("unpack", UNPACK_LEVELS + 1, partial(_unpack, fmt)),
            beside("product", product, exponents[0]),
            beside("gather", gather, exponents[1]),
            *beside_sums,
            *align[len(beside_sums) :],
            *sums[len(beside_sums) :],
            Step("add_low", adder(window // 2), _add_low),
            Step("add_high", adder(window // 2) + MUX, _add_high),
            Step("measure", leading_zeros_levels(window), _measure),
            *normalizing_steps(fmt, window),
            *(rounding_steps if fmt.subnormals else flushing_steps)(fmt),
        )

    @classmethod
    def golden(cls, params: FloatMulParams, a: int, b: int, c: int) -> int:
        """``a * b + c`` as an exact rational number, rounded once."""
        fmt = params.format
        negative = fmt.negative(a) != fmt.negative(b)
        infinite, zero = fmt.is_infinite(a) or fmt.is_infinite(b), fmt.is_zero(a) or fmt.is_zero(b)
        if any(map(fmt.is_nan, (a, b, c))) or (infinite and zero):
            return fmt.quiet_nan
        if infinite:
            return fmt.quiet_nan if fmt.is_infinite(c) and fmt.negative(c) != negative else fmt.infinity(negative)
        if fmt.is_infinite(c):
            return c
        return fmt.round(fmt.value(a) * fmt.value(b) + fmt.value(c), negative_zero=negative and fmt.negative(c))
