"""Integer division by restoring digit recurrence with two quotient bits a step: half the steps, at the cost of half as
many subtractors more."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from amaranth import *

from rtl_lib.arith.pipelined import Values, Wire

from .levels import MUX, adder
from .pipelined import PipelinedPart, Step

__all__ = ["DivParams", "IntDivRem", "restoring_digit"]


def restoring_digit(wire: Wire, remainder: Value, divisor: Value) -> tuple[Value, Value]:
    """One digit of a quotient: whether ``divisor`` fits into ``remainder``, and the remainder after subtraction.

    The new remainder has the width of ``divisor``, which is enough while ``remainder < 2 * divisor``, and for a
    divisor of zero as long as ``remainder`` fits into that width.
    """
    difference = wire(remainder - divisor, "difference")
    fits = ~difference[-1]
    return fits, Mux(fits, difference, remainder)[: len(divisor)]


@dataclass(frozen=True)
class DivParams:
    """Operands, quotient and remainder have ``width`` bits; ``signed`` means two's complement."""

    width: int
    signed: bool = False

    def __post_init__(self) -> None:
        if self.width < 2:
            raise ValueError(f"division needs a width of 2 or more, not {self.width}")


def _magnitudes(signed: bool, wire: Wire, *, a: Value, b: Value) -> Values:
    """Absolute values, and which results are negated after the division.

    The quotient of a division by zero is all ones whatever the signs, so it is not negated.
    """
    negative_a, negative_b = (a[-1], b[-1]) if signed else (Const(0, 1), Const(0, 1))
    return {
        "digits": Mux(negative_a, -a, a)[: len(a)],
        "divisor": Mux(negative_b, -b, b)[: len(b)],
        "negate_quotient": (negative_a ^ negative_b) & b.any(),
        "negate_remainder": negative_a,
    }


def _triple(wire: Wire, *, divisor: Value) -> Values:
    return {"triple": (divisor + (divisor << 1))[: len(divisor) + 2]}


def _first_digit(wire: Wire, *, digits: Value, divisor: Value) -> Values:
    """The single quotient bit that remains where the width is odd."""
    fits, left = restoring_digit(wire, digits[-1], divisor)
    return {"digits": Cat(fits, digits[:-1]), "rest": left[:1]}


def _digit(done: int, wire: Wire, *, digits: Value, divisor: Value, triple: Value, rest: Value | None = None) -> Values:
    """Two quotient bits, after ``done`` ones: the next dividend bits leave ``digits`` at the top, the quotient's enter
    at the bottom.

    Three differences computed in parallel tell how often the divisor fits, none to three times. After n bits the
    partial remainder is below ``2**n``, so its register need not be wider.
    """
    before = digits[-2:] if rest is None else Cat(digits[-2:], rest)
    once, twice, thrice = (
        wire(before - many, name) for many, name in ((divisor, "once"), (divisor << 1, "twice"), (triple, "thrice"))
    )
    fits = [~difference[-1] for difference in (once, twice, thrice)]
    left = Mux(fits[1], Mux(fits[2], thrice, twice), Mux(fits[0], once, before))
    digit = Cat(fits[0] & ~fits[1] | fits[2], fits[1])
    return {"digits": Cat(digit, digits[:-2]), "rest": left[: min(done + 2, len(divisor))]}


def _digits(width: int) -> Iterator[Step]:
    """The steps for all bits of the quotient."""
    # One of four words by three signs: two pairs, and a choice between them that shares their cell.
    levels, odd = adder(width + 2) + MUX, width % 2
    if odd:
        yield Step("digit0", adder(width) + MUX, _first_digit)
    for done in range(odd, width, 2):
        reads = ("digits", "divisor", "triple", "rest") if done else ("digits", "divisor", "triple")
        yield Step(f"digit{done}", levels, partial(_digit, done), reads)


def _signs(wire: Wire, *, digits: Value, rest: Value, negate_quotient: Value, negate_remainder: Value) -> Values:
    return {
        "quotient": Mux(negate_quotient, -digits, digits)[: len(digits)],
        "remainder": Mux(negate_remainder, -rest, rest)[: len(digits)],
    }


class IntDivRem(PipelinedPart):
    """``quotient`` and ``remainder`` of ``a / b``, truncated toward zero; the remainder has the sign of ``a``.

    Division by zero gives a quotient of all ones and the dividend as remainder; the least signed number divided by
    minus one gives itself and remainder 0.
    """

    kind = "idivrem"
    Params = DivParams

    @classmethod
    def inputs(cls, params: DivParams) -> dict[str, int]:
        """Widths of dividend ``a`` and divisor ``b`` in bits: both ``width``."""
        return {"a": params.width, "b": params.width}

    @classmethod
    def outputs(cls, params: DivParams) -> dict[str, int]:
        """Widths of ``quotient`` and ``remainder`` in bits: those of the operands."""
        return {"quotient": params.width, "remainder": params.width}

    @classmethod
    def steps(cls, params: DivParams) -> tuple[Step, ...]:
        """Magnitudes, the triple of the divisor, the digits of the quotient from the highest on, and the signs."""
        sign_levels = adder(params.width) if params.signed else 0.0
        return (
            Step("magnitude", sign_levels, partial(_magnitudes, params.signed)),
            Step("triple", adder(params.width), _triple),
            *_digits(params.width),
            Step("sign", sign_levels, _signs),
        )

    @classmethod
    def golden(cls, params: DivParams, a: int, b: int) -> tuple[int, int]:
        """Quotient and remainder as bit patterns of ``width`` bits, by Python's integers."""
        mask = (1 << params.width) - 1
        if b == 0:
            return mask, a
        if params.signed:
            a -= (a >> (params.width - 1)) << params.width
            b -= (b >> (params.width - 1)) << params.width
        quotient = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
        return quotient & mask, (a - quotient * b) & mask
