"""Sums of several products and numbers with one rounding: align all to the greatest, add, normalize, round.

Every term is a product; a single number counts as its product with 1. The exact product of two significands has ``2 *
precision`` bits; its position (``place``) is the sum of the exponents, where a subnormal number has the exponent of the
least normal one. All terms are moved right to the position of the greatest one that is not zero, or of the least normal
number if that is greater; bits of the magnitude that move further than :data:`GUARD` bits below the greatest one's last
bit are truncated. The rest is added exactly and rounded once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import zip_longest

from amaranth import *

from rtl_lib.arith.bits import at_most, leading_zeros, with_carry
from rtl_lib.arith.levels import MUX, adder, shifter
from rtl_lib.arith.levels import leading_zeros as leading_zeros_levels
from rtl_lib.arith.multiply import product_steps
from rtl_lib.arith.pipelined import PipelinedPart, Step, Values, Wire, beside

from .format import BINARY32, FloatFormat
from .raw import UNPACK_LEVELS, flushing_steps, normalizing_steps, rounding_steps, split

__all__ = ["GUARD", "FloatSum", "FloatSumParams"]

GUARD = 4
_KINDS = ("+", "-", "+*", "-*")


@dataclass(frozen=True)
class FloatSumParams:
    """``terms`` has "+" or "-" for each number that is added or subtracted, "+*" or "-*" for each product of two.

    ``dsp_bits`` and ``adder_words`` as in :class:`rtl_lib.arith.multiply.MulParams`.
    """

    terms: tuple[str, ...]
    format: FloatFormat = BINARY32
    dsp_bits: int = 27
    adder_words: int = 3

    def __post_init__(self) -> None:
        if len(self.terms) < 2 or not set(self.terms) <= set(_KINDS):
            raise ValueError(f"a sum has two or more terms, each one of {', '.join(_KINDS)}, not {self.terms!r}")

    @property
    def operands(self) -> tuple[tuple[str, ...], ...]:
        """The names of each term's operands."""
        return tuple((f"a{k}", f"b{k}") if "*" in term else (f"a{k}",) for k, term in enumerate(self.terms))

    @property
    def head(self) -> int:
        """Bits by which a sum may be wider than its terms."""
        return (len(self.terms) - 1).bit_length()

    @property
    def aligned(self) -> int:
        """Width of a term after alignment."""
        return 2 * self.format.precision + GUARD


def _unpack(params: FloatSumParams, wire: Wire, **bits: Value) -> Values:
    """Significands, and the ``place`` of each term: the sum of its biased exponents, 0 for a zero."""
    values: dict[str, Value] = {}
    fmt, specials = params.format, []
    for k, (term, names) in enumerate(zip(params.terms, params.operands, strict=True)):
        factors = [split(lambda value, name, n=name: wire(value, f"{n}_{name}"), fmt, bits[name]) for name in names]
        zero = wire(Cat(*(x.zero for x in factors)).any(), f"zero{k}")
        infinite = Cat(*(x.infinite for x in factors)).any()
        negative = wire(Cat(*(x.sign for x in factors), term[0] == "-").xor(), f"negative{k}")
        other = factors[1].exponent if len(factors) > 1 else Const(fmt.bias, fmt.exponent)
        values |= {
            f"place{k}": Mux(zero, 0, factors[0].exponent + other),
            f"negative{k}": negative,
            **{f"significand_{name}": x.significand for name, x in zip(names, factors, strict=True)},
        }
        nan = Cat(*(x.nan for x in factors)).any() | infinite & zero
        specials.append((wire(nan, f"nan{k}"), wire(infinite, f"infinite{k}"), negative, zero))
    nans, infinities, signs, zeros = (Cat(*each) for each in zip(*specials, strict=True))
    above, below = wire((infinities & ~signs).any(), "above"), wire((infinities & signs).any(), "below")
    return values | {
        "nan": nans.any() | above & below,
        "infinite": above | below,
        "infinite_sign": below,
        "negative_zero": zeros.all() & signs.all(),
    }


def _greater_step(number: int, names: list[str], fmt: FloatFormat) -> tuple[Step, list[str]]:
    """The step that keeps the greater of each pair of positions, and the names of those that remain."""
    pairs = list(zip(names[::2], names[1::2], strict=False))

    def build(wire: Wire, **places: int) -> Values:
        return {
            f"greatest{number}_{k}": Mux(places[a] < places[b], places[b], places[a]) for k, (a, b) in enumerate(pairs)
        }

    left = [f"greatest{number}_{k}" for k in range(len(pairs))] + names[2 * len(pairs) :]
    return Step(
        f"greater{number}", adder(fmt.exponent + 1) + MUX, build, tuple(n for pair in pairs for n in pair)
    ), left


def _place_steps(params: FloatSumParams) -> tuple[Step, ...]:
    """The steps that find the greatest position, ``greatest``, and the shift of each term, ``move`` and its number."""
    steps: list[Step] = []
    fmt = params.format
    names = ["least", *(f"place{k}" for k in range(len(params.terms)))]
    while len(names) > 1:
        step, names = _greater_step(len(steps), names, fmt)
        steps.append(step)
    top = names[0]

    def apart(wire: Wire, **values: Value) -> Values:
        return {
            f"apart{k}": (values[top] - values[f"place{k}"])[: fmt.exponent + 1] for k in range(len(params.terms))
        } | {"top": (values[top] + (params.head + 1 - fmt.bias))[: fmt.exponent + 2]}

    def clamp(wire: Wire, **values: Value) -> Values:
        return {f"move{k}": at_most(values[f"apart{k}"], params.aligned) for k in range(len(params.terms))}

    numbers = range(len(params.terms))
    return (
        *steps,
        Step("apart", adder(fmt.exponent + 1), apart, (top, *(f"place{k}" for k in numbers))),
        Step("clamp", 2 * MUX, clamp, tuple(f"apart{k}" for k in numbers)),
    )


def _product_chains(params: FloatSumParams) -> Iterator[tuple[Step, ...]]:
    """For each product the steps that compute it; single numbers need none."""
    fmt = params.format
    for k, names in enumerate(params.operands):
        if len(names) == 2:
            yield product_steps(
                f"significand_{names[0]}",
                f"significand_{names[1]}",
                f"product{k}",
                fmt.precision,
                fmt.precision,
                2 * fmt.precision,
                dsp_bits=params.dsp_bits,
                adder_words=params.adder_words,
                prefix=f"p{k}_",
            )


def _align(params: FloatSumParams, wire: Wire, **values: Value) -> Values:
    """Every term aligned, and complemented where it is negative: the one to be added to a complement is a carry of its
    own."""
    fmt, result = params.format, {}
    for k, names in enumerate(params.operands):
        product = (
            values[f"product{k}"]
            if len(names) == 2
            else Cat(Const(0, fmt.mantissa), values[f"significand_{names[0]}"], Const(0, 1))
        )
        moved = wire(Cat(Const(0, GUARD), product)[: params.aligned] >> values[f"move{k}"], f"moved{k}")
        negative = values[f"negative{k}"]
        result[f"addend{k}"] = Cat(moved, Const(0, params.head + 1)) ^ negative.replicate(
            params.aligned + params.head + 1
        )
    return result


def _add_steps(params: FloatSumParams) -> tuple[list[Step], str, str]:
    """A tree of sums, each of which also adds one of the carries; the last carry remains. Returns the steps and the
    name of the sum."""
    width = params.aligned + params.head + 1
    names = [f"addend{k}" for k in range(len(params.terms))]
    carries = [f"negative{k}" for k in range(len(params.terms))]
    steps: list[Step] = []
    while len(names) > 1:
        step, names, carries = _add_step(len(steps), names, carries, width)
        steps.append(step)
    return steps, names[0], carries[0]


def _add_step(number: int, names: list[str], carries: list[str], width: int) -> tuple[Step, list[str], list[str]]:
    pairs = list(zip(names[::2], names[1::2], carries, strict=False))
    sums = [f"sum{number}_{k}" for k in range(len(pairs))]

    def build(wire: Wire, **values: Value) -> Values:
        return {
            name: wire(with_carry(values[a], values[b], values[c])[:width], name, keep=True)
            for name, (a, b, c) in zip(sums, pairs, strict=True)
        }

    reads = tuple(name for triple in pairs for name in triple)
    return Step(f"add{number}", adder(width), build, reads), sums + names[2 * len(pairs) :], carries[len(pairs) :]


def _magnitude_step(params: FloatSumParams, total: str, carry: str) -> Step:
    def build(wire: Wire, *, infinite: Value, infinite_sign: Value, **values: Value) -> Values:
        negative = wire(values[total][-1], "sum_negative")
        width = params.aligned + params.head
        size = (values[total] ^ negative.replicate(width + 1))[:width]
        return {
            "total": with_carry(size, Const(0, width), negative ^ values[carry])[:width],
            "signed": Mux(infinite, infinite_sign, negative),
            "below": Const(0, 1),
        }

    return Step("magnitude", adder(params.aligned), build, (total, carry, "infinite", "infinite_sign"))


def _measure(wire: Wire, *, total: Value, signed: Value, infinite: Value, negative_zero: Value) -> Values:
    """Leading zeros and sign: a sum that cancels is positive; a sum of negative zeros stays negative."""
    zero = wire(~total.any() & ~infinite, "cancelled")
    return {"leading": leading_zeros(wire, total), "zero": zero, "sign": Mux(zero, negative_zero, signed)}


class FloatSum(PipelinedPart):
    """``o``: the sum of the terms, rounded once; the module's docstring says what is truncated before."""

    kind = "fsum"
    Params = FloatSumParams

    @classmethod
    def inputs(cls, params: FloatSumParams) -> dict[str, int]:
        """Widths of all factors of all terms in bits, in the order of the terms: that of the format."""
        return {name: params.format.width for names in params.operands for name in names}

    @classmethod
    def outputs(cls, params: FloatSumParams) -> dict[str, int]:
        """Width of the sum in bits: that of the format."""
        return {"o": params.format.width}

    @classmethod
    def steps(cls, params: FloatSumParams) -> tuple[Step, ...]:
        """Products of the terms beside the search for the greatest exponent, alignment, one sum, normalization,
        rounding."""
        fmt = params.format
        width = params.aligned + params.head
        numbers = range(len(params.terms))
        chains = [*_product_chains(params), _place_steps(params)]
        together = [
            beside(steps[0].name, *steps) for row in zip_longest(*chains) if (steps := [step for step in row if step])
        ]
        operands = tuple(name for names in params.operands for name in names)
        ready = tuple(
            f"product{k}" if len(names) == 2 else f"significand_{names[0]}" for k, names in enumerate(params.operands)
        )
        adds, total, carry = _add_steps(params)
        return (
            Step("unpack", UNPACK_LEVELS + 2, partial(_with_least, params), operands),
            *together,
            Step(
                "align",
                shifter(params.aligned) + 0.5,
                partial(_align, params),
                (*ready, *(f"move{k}" for k in numbers), *(f"negative{k}" for k in numbers)),
            ),
            *adds,
            _magnitude_step(params, total, carry),
            Step("measure", leading_zeros_levels(width), _measure),
            *normalizing_steps(fmt, width),
            *(rounding_steps if fmt.subnormals else flushing_steps)(fmt),
        )

    @classmethod
    def golden(cls, params: FloatSumParams, *operands: int) -> int:
        """The sum of the terms, truncated where the part truncates them, rounded once."""
        fmt, given = params.format, iter(operands)
        terms = [
            (term[0] == "-", [next(given) for _ in names])
            for term, names in zip(params.terms, params.operands, strict=True)
        ]
        signs = [sum([minus, *map(fmt.negative, factors)]) % 2 == 1 for minus, factors in terms]
        zeros = [any(map(fmt.is_zero, factors)) for _, factors in terms]
        infinite = [any(map(fmt.is_infinite, factors)) for _, factors in terms]
        infinities = {sign for sign, found in zip(signs, infinite, strict=True) if found}
        wrong = any(a and b for a, b in zip(zeros, infinite, strict=True))
        if wrong or len(infinities) == 2 or any(fmt.is_nan(x) for _, factors in terms for x in factors):
            return fmt.quiet_nan
        if infinities:
            return fmt.infinity(infinities.pop())
        total = _cut_sum(fmt, [(sign, factors) for sign, (_, factors) in zip(signs, terms, strict=True)])
        return fmt.round(total, negative_zero=all(zeros) and all(signs))


def _with_least(params: FloatSumParams, wire: Wire, **bits: Value) -> Values:
    """Adds the least position, that of the least normal number, to the others."""
    return {**_unpack(params, wire, **bits), "least": Const(params.format.bias + 1, params.format.exponent + 1)}


def _cut_sum(fmt: FloatFormat, terms: Sequence[tuple[bool, list[int]]]) -> Fraction:
    """The exact sum of (negative, factors), each truncated ``GUARD`` bits below the unit of the greatest."""

    def unit(bits: int) -> int:  # the exponent of the last bit of a significand
        field = bits >> fmt.mantissa & fmt.top_exponent
        return max(field, 1) - fmt.bias - fmt.mantissa

    least = 1 - fmt.bias - 2 * fmt.mantissa
    terms = [(sign, [*factors, fmt.round(1)][:2]) for sign, factors in terms]
    units = [sum(map(unit, factors)) for _, factors in terms if not any(map(fmt.is_zero, factors))]
    scale = Fraction(2) ** (max([least, *units]) - GUARD)
    sizes = [abs(fmt.value(a) * fmt.value(b)) // scale for _, (a, b) in terms]
    return scale * sum(-size if sign else size for (sign, _), size in zip(terms, sizes, strict=True))
