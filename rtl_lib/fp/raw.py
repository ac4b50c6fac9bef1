"""Raw numbers: the unpacked fields of a float, and the rounder that packs a result.

The rounder's input
-------------------
Every operation passes values of these names:

- ``sign``;
- ``scale`` (unsigned): the biased exponent of the significand's unit bit, less one;
- ``significand``, ``precision + 3`` bits: carry, unit, the mantissa, guard, sticky;
- ``nan``, ``infinite``, ``zero``: override the significand; the first of them that is set holds.

The significand is normalized (carry or unit is set) unless ``scale`` is zero, when it may be subnormal. In formats
without subnormal numbers a part may instead pass a significand that is always normalized, with a signed ``scale``
of any size (:func:`flushing_steps`).
"""

from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.bits import top_of_shift, with_carry
from rtl_lib.arith.levels import MUX, adder, any_of, shifter
from rtl_lib.arith.pipelined import Step, Values, Wire, beside

from .format import FloatFormat

__all__ = ["UNPACK_LEVELS", "Fields", "flushing_steps", "normalizing_steps", "round_up", "rounding_steps", "split"]


@dataclass(frozen=True)
class Fields:
    """An unpacked float, as expressions."""

    sign: Value
    exponent: Value  #: biased; that of the least normal number for subnormals too
    significand: Value  #: with the hidden bit
    nan: Value
    infinite: Value
    zero: Value
    subnormal: Value  #: or zero


def split(wire: Wire, fmt: FloatFormat, bits: Value) -> Fields:
    """Unpacks ``bits``; ``wire`` as for :class:`rtl_lib.arith.pipelined.Step`."""
    mantissa, field = bits[: fmt.mantissa], bits[fmt.mantissa : -1]
    special, subnormal = wire(field.all(), "special"), wire(~field.any(), "subnormal")
    fraction = wire(mantissa.any(), "fraction")
    digits = mantissa if fmt.subnormals else mantissa & (~subnormal).replicate(fmt.mantissa)
    return Fields(
        sign=bits[-1],
        exponent=Cat(field[0] | subnormal, field[1:]),
        significand=Cat(digits, ~subnormal),
        nan=special & fraction,
        infinite=special & ~fraction,
        zero=subnormal & ~fraction if fmt.subnormals else subnormal,
        subnormal=subnormal,
    )


#: depth of the flags that :func:`split` computes
UNPACK_LEVELS = any_of(23)


def normalizing_steps(fmt: FloatFormat, width: int) -> tuple[Step, ...]:
    """The steps that convert ``total``, a magnitude of ``width`` bits with ``leading`` zeros, to the rounder's form.

    ``top`` is the biased exponent of its top bit, at least 1; ``below`` says whether any non-zero bit lies below its
    last bit.
    """
    if not fmt.subnormals:  # the shift does not depend on the exponent
        return (
            beside(
                "normalize",
                Step("normalize", shifter(width), partial(_normalize_all, fmt)),
                Step("scale", adder(fmt.exponent), _scale),
            ),
            Step("collect", any_of(width), _collect),
        )
    return (
        Step("limit", adder(fmt.exponent) + 2 * MUX, _limit),
        Step("normalize", shifter(width), partial(_normalize, fmt)),
        Step("collect", any_of(width), _collect),
    )


def _limit(wire: Wire, *, leading: Value, top: Value) -> Values:
    """Limits the shift where the exponent is the least one: the result is subnormal."""
    room = wire(top - 1 - leading, "room")
    fits = wire(~room[-1], "fits")
    return {"shift": Mux(fits, leading, (top - 1)[: len(top)])[: len(leading)], "scale": Mux(fits, room, 0)[: len(top)]}


def _normalize(fmt: FloatFormat, wire: Wire, *, total: Value, shift: Value, below: Value) -> Values:
    kept, rest = top_of_shift(wire, total, shift, fmt.precision + 1)  # unit, mantissa, guard
    return {"kept": kept, "rest": Cat(rest, below)}


def _normalize_all(fmt: FloatFormat, wire: Wire, *, total: Value, leading: Value, below: Value) -> Values:
    return _normalize(fmt, wire, total=total, shift=leading, below=below)


def _scale(wire: Wire, *, leading: Value, top: Value) -> Values:
    return {"scale": top - 1 - leading}


def _collect(wire: Wire, *, kept: Value, rest: Value) -> Values:
    return {"significand": Cat(rest.any(), kept, 0)}


def rounding_steps(fmt: FloatFormat, rounding: str = "even") -> tuple[Step, ...]:
    """The steps that round a raw result and return it as ``o``; ``rounding`` is one of ``ROUNDINGS``."""
    return (
        Step("decide", 2 * MUX, partial(_decide, fmt, rounding)),
        Step("round", adder(fmt.width), partial(_round, fmt)),
        Step("pack", any_of(fmt.exponent) + MUX, partial(_pack, fmt, rounding)),
    )


def flushing_steps(fmt: FloatFormat) -> tuple[Step, ...]:
    """The steps that round a normalized significand with a signed ``scale`` to nearest even, in a format without
    subnormal numbers.

    A value below the least normal number by no more than half the last place of a subnormal number is rounded up to it:
    with the precision of normal numbers it is a significand of all ones before rounding, with the next lower exponent.
    """
    return (
        Step("decide", 2 * MUX, partial(_decide, fmt, "even")),
        Step("round", adder(fmt.width + 2), partial(_round_signed, fmt)),
        Step("pack", any_of(fmt.mantissa) + MUX, partial(_pack_flushed, fmt)),
    )


def round_up(rounding: str, sign: Value, odd: Value, guard: Value, sticky: Value) -> Value:
    """Whether rounding increments the last place of a magnitude.

    ``odd`` is its last bit, ``guard`` the bit below that, ``sticky`` whether any bit below ``guard`` is set.
    """
    if rounding == "even":
        return guard & (sticky | odd)
    if rounding == "away":
        return guard
    return {"zero": Const(0, 1), "up": ~sign, "down": sign}[rounding] & (guard | sticky)


def _decide(fmt: FloatFormat, rounding: str, wire: Wire, *, significand: Value, sign: Value) -> Values:
    """The mantissa, what carry and unit bit add to the exponent, and whether the last place is incremented."""
    carry, unit = significand[-1], significand[-2]
    mantissa = wire(Mux(carry, significand[3:-1], significand[2:-2]), "mantissa")
    guard = Mux(carry, significand[2], significand[1])
    sticky = significand[0] | (carry & significand[1])
    up = round_up(rounding, sign, mantissa[0], guard, sticky)
    return {"upper": Cat(mantissa, unit & ~carry, carry), "up": up}


def _round(fmt: FloatFormat, wire: Wire, *, upper: Value, up: Value, scale: Value) -> Values:
    """Adds significand, round-up bit and scale in one addition, so that carries propagate into the exponent.

    The unit bit adds one to ``scale``, which makes it the exponent of a normal number and leaves 0 for a subnormal
    one; a carry bit adds two.
    """
    return {"rounded": with_carry(upper, Cat(Const(0, fmt.mantissa), scale), up)}


def _round_signed(fmt: FloatFormat, wire: Wire, *, upper: Value, up: Value, scale: Value) -> Values:
    """As :func:`_round`; ``scale`` may be negative."""
    width = fmt.exponent + 3
    wide = wire(scale.as_signed() if scale.shape().signed else Cat(scale, 0).as_signed(), "scale")
    wide = Cat(wide[:width], wide[-1].replicate(max(0, width - len(wide))))
    return {"rounded": with_carry(upper, Cat(Const(0, fmt.mantissa), wide), up)[: fmt.mantissa + width]}


def _pack_flushed(
    fmt: FloatFormat, wire: Wire, *, rounded: Value, up: Value, sign: Value, nan: Value, infinite: Value, zero: Value
) -> Values:
    field, mantissa = rounded[fmt.mantissa :].as_signed(), rounded[: fmt.mantissa]
    none = wire(field == 0, "below")
    least = wire(none & mantissa.all() & ~up, "least")
    tiny = (none & ~least) | field[-1]
    overflow = ~field[-1] & (field[:-1] >= fmt.top_exponent)
    magnitude = Mux(least, 1 << fmt.mantissa, rounded[: fmt.width - 1])
    magnitude = Mux(infinite | (overflow & ~zero), fmt.infinity(), Mux(zero | tiny, 0, magnitude))
    return {"o": Mux(nan, fmt.quiet_nan, Cat(magnitude[: fmt.width - 1], sign))}


def _pack(
    fmt: FloatFormat,
    rounding: str,
    wire: Wire,
    *,
    rounded: Value,
    sign: Value,
    nan: Value,
    infinite: Value,
    zero: Value,
) -> Values:
    """A result beyond the largest number is infinity; rounding toward zero never exceeds the largest number.

    The conditions exclude each other, so that each bit of the result is the rounded one, or set or cleared.
    """
    mantissa, field = rounded[: fmt.mantissa], rounded[fmt.mantissa :]
    if not fmt.subnormals:
        zero = zero | ~field.any()
    exponent, above = field[: fmt.exponent], field[fmt.exponent :]
    overflow = wire((exponent.all() | above.any()) & ~(nan | infinite | zero), "overflow")
    inward = {"zero": Const(1, 1), "up": sign, "down": ~sign}.get(rounding, Const(0, 1))
    largest = wire(overflow & inward, "largest")
    special = wire(nan | infinite | (overflow & ~inward), "special")
    none = wire(zero & ~nan & ~infinite, "none")
    ones = (1 << fmt.exponent) - 1
    exponent = Mux(special, ones, Mux(none, 0, Mux(largest, ones - 1, exponent)))
    mantissa = Mux(special | none, Mux(nan, fmt.quiet_nan, 0), mantissa | largest.replicate(fmt.mantissa))
    return {"o": Cat(mantissa[: fmt.mantissa], exponent[: fmt.exponent], sign & ~nan)}
