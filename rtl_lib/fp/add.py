"""Floating-point sum and difference: order, align, add, normalize, round."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth import *

from rtl_lib.arith.bits import leading_zeros, saturate, shift_left, shift_right_lost, with_carry
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire, beside

from .format import BINARY32, FloatFormat
from .raw import flushing_steps, rounding_steps, split

__all__ = ["AddParams", "FloatAdd"]

#: bits below the last place during the addition: guard, round, sticky
_EXTRA = 3
#: bits that are searched for a one together: what the shifter by whole groups moves to the top
_GROUP_BITS = 2
_GROUP = 1 << _GROUP_BITS


@dataclass(frozen=True)
class AddParams:
    """``a + b`` in ``format``, or ``a - b`` if ``subtract``."""

    format: FloatFormat = BINARY32
    subtract: bool = False


def _order(params: AddParams, wire: Wire, *, a: Value, b: Value) -> Values:
    """Finds the operand of larger magnitude; floats without their sign compare like integers."""
    swap = wire(a[:-1] < b[:-1], "swap")
    return {
        "large": Mux(swap, b[:-1], a[:-1]),
        "small": Mux(swap, a[:-1], b[:-1]),
        "sign": Mux(swap, b[-1] ^ params.subtract, a[-1]),
        "opposed": a[-1] ^ b[-1] ^ params.subtract,
    }


def _distance(fmt: FloatFormat, wire: Wire, *, large: Value, small: Value) -> Values:
    """Difference of the exponents."""
    greater, lesser = split(wire, fmt, Cat(large, 0)), split(wire, fmt, Cat(small, 0))
    return {
        "large_significand": greater.significand,
        "small_significand": lesser.significand,
        "base": greater.exponent,
        "apart": (greater.exponent - lesser.exponent)[: fmt.exponent],
    }


def _examine(fmt: FloatFormat, wire: Wire, *, large: Value, small: Value) -> Values:
    """Whether the operands are infinities or NaNs, and which half of the larger one's mantissa has ones."""
    half = fmt.mantissa // 2
    return {
        "infinite": large[fmt.mantissa :].all(),
        "both": small[fmt.mantissa :].all(),
        "fraction": Cat(large[:half].any(), large[half : fmt.mantissa].any()),
    }


def _specials(wire: Wire, *, infinite: Value, both: Value, fraction: Value, opposed: Value) -> Values:
    """Results that do not depend on the sum. A NaN is greater than all other magnitudes, so that only the larger
    operand is searched for one."""
    return {"nan": infinite & (fraction.any() | (both & opposed))}


def _clamp(fmt: FloatFormat, wire: Wire, *, apart: Value) -> Values:
    """Clamp the distance: beyond the sticky bit all distances are equivalent."""
    return {"distance": saturate(apart, fmt.precision + _EXTRA)}


def _align(wire: Wire, *, small_significand: Value, distance: Value, opposed: Value) -> Values:
    """The smaller operand in the places of the larger one, as a complement for a difference: the complement is part of
    the last level of the shifter."""
    shifted, lost = shift_right_lost(wire, Cat(Const(0, _EXTRA), small_significand), distance)
    return {"kept": shifted ^ opposed.replicate(len(shifted)), "lost": lost}


def _sticky(wire: Wire, *, kept: Value, lost: Value, opposed: Value) -> Values:
    return {"addend": Cat(Mux(lost.any(), ~opposed, kept[0]), kept[1:])}


def _add(fmt: FloatFormat, wire: Wire, *, large_significand: Value, addend: Value, opposed: Value) -> Values:
    """One carry chain for sum and difference: a difference is a sum with the complement, and it is never negative."""
    total = wire(with_carry(Cat(Const(0, _EXTRA), large_significand), addend, opposed), "sum")
    return {"total": Cat(total[: fmt.precision + _EXTRA], total[fmt.precision + _EXTRA] & ~opposed)}


def _measure(fmt: FloatFormat, wire: Wire, *, total: Value, base: Value, opposed: Value, sign: Value) -> Values:
    """The first group of bits of ``total`` that is not empty, and the sign: a sum that cancels is positive, unless both
    operands were negative.

    The top bit of ``total``, the carry, has the exponent ``base + 1``, where the rounder's unit bit comes to lie. A
    result whose exponent would be less than the least one is subnormal: it moves by ``base`` only. The group of that
    place ends the search, without a comparison of both distances. If no other group has a one, the last one has it.
    """
    places = _in_groups(total)
    held = wire(Cat(group.any() for group in reversed(_split(places))), "held")
    ends = Cat(base[_GROUP_BITS:] == n for n in reversed(range(len(held)))) if fmt.subnormals else C(0, len(held))
    zero = wire(~held.any(), "cancelled")
    groups = leading_zeros(wire, wire(held | ends, "found")[1:])
    return {"groups": groups, "zero": zero, "sign": sign & ~(zero & opposed)}


def _in_groups(total: Value) -> Any:
    """``total`` as a whole number of groups, with zeros below it."""
    return Cat(Const(0, -len(total) % _GROUP), total)


def _split(places: Value) -> list[Value]:
    """The groups of bits, the uppermost first."""
    return [places[low : low + _GROUP] for low in reversed(range(0, len(places), _GROUP))]


def _move_groups(fmt: FloatFormat, wire: Wire, *, total: Value, groups: int, base: Value) -> Values:
    """Move the first group with a one to the top, and find its first one there, in four bits instead of all."""
    moved = wire(shift_left(wire, _in_groups(total), Cat(Const(0, _GROUP_BITS), groups)), "moved")
    top = moved[-_GROUP:]
    if fmt.subnormals:
        ends = wire(base[_GROUP_BITS:] == groups, "ends")
        top = wire(top | Cat(ends & (base[:_GROUP_BITS] == n) for n in reversed(range(_GROUP))), "top")
    return {"moved": moved, "within": leading_zeros(wire, top[1:])}


def _normalize(fmt: FloatFormat, wire: Wire, *, moved: Value, within: Value, groups: int, base: Value) -> Values:
    """The carry becomes the unit bit, so that the rounder's own carry bit is always 0. The scale is not negative where
    the shift is limited, unless the sum is zero."""
    shifted = wire(shift_left(wire, moved, within)[-fmt.precision - _EXTRA - 1 :], "shifted")
    scale = base - Cat(within, groups)
    return {
        "significand": Cat(shifted[:_EXTRA].any(), shifted[_EXTRA:], Const(0, 1)),
        "scale": scale[: fmt.exponent] if fmt.subnormals else scale,
    }


def _normalize_all(fmt: FloatFormat, wire: Wire, *, total: Value, groups: int, base: Value) -> Values:
    moved = _move_groups(fmt, wire, total=total, groups=groups, base=base)
    return _normalize(fmt, wire, groups=groups, base=base, **moved)


def _finish(fmt: FloatFormat) -> tuple[Step, ...]:
    """Normalization and rounding; without subnormal results the exponent may become negative."""
    shift = shifter(fmt.precision + _EXTRA)
    if not fmt.subnormals:
        return Step("normalize", shift, partial(_normalize_all, fmt)), *flushing_steps(fmt)
    return (
        Step("move", adder(fmt.exponent) + MUX, partial(_move_groups, fmt)),
        Step("normalize", shift, partial(_normalize, fmt)),
        *rounding_steps(fmt),
    )


class FloatAdd(PipelinedPart):
    """``o``: the correctly rounded sum (or difference) of ``a`` and ``b``."""

    kind = "fadd"
    Params = AddParams

    @classmethod
    def inputs(cls, params: AddParams) -> dict[str, int]:
        """Widths of the terms in bits: that of the format."""
        return {"a": params.format.width, "b": params.format.width}

    @classmethod
    def outputs(cls, params: AddParams) -> dict[str, int]:
        """Width of the sum in bits: that of the format."""
        return {"o": params.format.width}

    @classmethod
    def steps(cls, params: AddParams) -> tuple[Step, ...]:
        """Order by magnitude and detection of special numbers, alignment, addition, normalization, rounding."""
        fmt = params.format
        width = fmt.precision + _EXTRA
        return (
            Step("order", adder(fmt.width) + MUX, partial(_order, params)),
            beside(
                "distance",
                Step("distance", adder(fmt.exponent) + MUX, partial(_distance, fmt)),
                Step("examine", any_of(fmt.mantissa - fmt.mantissa // 2), partial(_examine, fmt)),
            ),
            beside("clamp", Step("clamp", 2 * MUX, partial(_clamp, fmt)), Step("specials", 1, _specials)),
            Step("align", shifter(width), _align),
            Step("sticky", any_of(width), _sticky),
            Step("add", adder(width), partial(_add, fmt)),
            Step("measure", leading_zeros_levels(width), partial(_measure, fmt)),
            *_finish(fmt),
        )

    @classmethod
    def golden(cls, params: AddParams, a: int, b: int) -> int:
        """The sum as an exact rational number, rounded once; a zero is negative only if both terms are."""
        fmt = params.format
        b ^= fmt.zero(params.subtract)
        infinities = {x for x in (a, b) if fmt.is_infinite(x)}
        if fmt.is_nan(a) or fmt.is_nan(b) or len(infinities) == 2:
            return fmt.quiet_nan
        if infinities:
            return infinities.pop()
        both_negative = fmt.negative(a) and fmt.negative(b)
        return fmt.round(fmt.value(a) + fmt.value(b), negative_zero=both_negative)
