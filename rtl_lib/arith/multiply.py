"""Products: operands cut to the size of a hard multiplier, and a tree that adds the partial products."""

from dataclasses import dataclass
from math import ceil

from amaranth import Value

from rtl_lib.arith.pipelined import Values, Wire

from .levels import MULTIPLIER, ROUTE, adder
from .pipelined import PipelinedPart, Step

__all__ = ["IntMul", "MulParams", "product_steps"]


@dataclass(frozen=True)
class _Term:
    """A partial product or sum: the value called ``name``, of ``width`` bits, weighted by ``2**offset``."""

    name: str
    offset: int
    width: int


def _limbs(width: int, dsp_bits: int) -> list[tuple[int, int]]:
    """(start, end) of the pieces of equal size, no wider than a hard multiplier, that ``width`` bits are cut into."""
    size = ceil(width / ceil(width / dsp_bits))
    return [(start, min(start + size, width)) for start in range(0, width, size)]


def _limb(value: Value, start: int, end: int, signed: bool) -> Value:
    """Bits ``start`` to ``end``; the piece that holds the sign bit is signed."""
    piece = value[start:end]
    return piece.as_signed() if signed and end == len(value) else piece


def _low(value: Value, width: int) -> Value:
    """``value`` modulo ``2**width``; a shorter value is returned unchanged, so that it stays signed."""
    return value[:width] if len(value) > width else value


def product_steps(
    a: str,
    b: str,
    out: str,
    width_a: int,
    width_b: int,
    width_out: int,
    *,
    signed: bool = False,
    dsp_bits: int = 27,
    adder_words: int = 3,
    prefix: str = "",
) -> tuple[Step, ...]:
    """Steps that return ``out``: the low ``width_out`` bits of the product of the values named ``a`` and ``b``.

    The first step computes all partial products; routing out of the multipliers and a binary tree of sums follow.
    Where a carry chain adds no more than two words (``adder_words``), every sum is on a chain of its own. ``prefix``
    distinguishes the names of intermediate values from those of another product.
    """
    limbs = {
        _Term(f"{prefix}term{i}_{j}", low_a + low_b, high_a - low_a + high_b - low_b): (
            (low_a, high_a),
            (low_b, high_b),
        )
        for i, (low_a, high_a) in enumerate(_limbs(width_a, dsp_bits))
        for j, (low_b, high_b) in enumerate(_limbs(width_b, dsp_bits))
        if low_a + low_b < width_out
    }

    def multiply(wire: Wire, **operands: Value) -> Values:
        return {
            term.name: _low(
                _limb(operands[a], *limb_a, signed) * _limb(operands[b], *limb_b, signed), width_out - term.offset
            )
            for term, (limb_a, limb_b) in limbs.items()
        }

    steps = [Step("product", MULTIPLIER, multiply, (a, b)), Step("gather", ROUTE, lambda wire: {})]
    terms = sorted(limbs, key=lambda term: term.offset)
    while len(terms) > 1:
        step, terms = _sum_step(f"sum{len(steps) - 1}", terms, width_out, adder_words == 2)
        steps.append(step)
    name = terms[0].name
    return (*steps, Step("result", 0.0, lambda wire, **values: {out: values[name][:width_out]}, (name,)))


def _sum_step(step_name: str, terms: list[_Term], width_out: int, apart: bool) -> tuple[Step, list[_Term]]:
    """The step that adds terms in pairs, and the terms that result; a sum keeps the name of its lower term."""
    pairs = list(zip(terms[::2], terms[1::2], strict=False))  # an odd last term waits for the next step

    def add(wire: Wire, **values: Value) -> Values:
        sums = {
            low.name: _low(values[low.name] + (values[high.name] << (high.offset - low.offset)), width_out - low.offset)
            for low, high in pairs
        }
        return {name: wire(total, name, keep=True) for name, total in sums.items()} if apart else sums

    sums = [
        _Term(low.name, low.offset, max(low.width, high.width + high.offset - low.offset) + 1) for low, high in pairs
    ]
    # Bits of the lower term below the upper one's offset bypass the carry chain.
    longest = max(
        min(total.width, width_out - low.offset) - (high.offset - low.offset)
        for total, (low, high) in zip(sums, pairs, strict=True)
    )
    names = tuple(term.name for pair in pairs for term in pair)
    return Step(step_name, adder(longest), add, names), sums + terms[2 * len(pairs) :]


@dataclass(frozen=True)
class MulParams:
    """Widths in bits; ``signed`` matters only when ``width_out`` exceeds the width of an operand.

    ``dsp_bits`` is the widest operand a hard multiplier of the target takes: 27 for Stratix V and Arria 10, 18 for
    ECP5; ``adder_words`` how many words one of its carry chains adds, 2 or 3.
    """

    width_a: int
    width_b: int
    width_out: int
    signed: bool = False
    dsp_bits: int = 27
    adder_words: int = 3

    def __post_init__(self) -> None:
        if min(self.width_a, self.width_b, self.width_out, self.dsp_bits) < 1:
            raise ValueError(f"widths must be positive: {self}")
        if self.width_out > self.width_a + self.width_b:
            raise ValueError(f"a product of {self.width_a} and {self.width_b} bits has no {self.width_out} bits")


class IntMul(PipelinedPart):
    """``o``: the low ``width_out`` bits of ``a * b``."""

    kind = "imul"
    Params = MulParams

    @classmethod
    def inputs(cls, params: MulParams) -> dict[str, int]:
        """Widths of the factors in bits; they may differ."""
        return {"a": params.width_a, "b": params.width_b}

    @classmethod
    def outputs(cls, params: MulParams) -> dict[str, int]:
        """Width of the product in bits, which may be less than the sum of those of the factors."""
        return {"o": params.width_out}

    @classmethod
    def steps(cls, params: MulParams) -> tuple[Step, ...]:
        """The factors cut to the width of the result, then partial products and their sums."""
        # Operand bits above the width of the result do not affect it.
        width_a, width_b = min(params.width_a, params.width_out), min(params.width_b, params.width_out)

        def operands(wire: Wire, *, a: Value, b: Value) -> Values:
            return {"factor_a": a[:width_a], "factor_b": b[:width_b]}

        return (
            Step("operands", ROUTE, operands),
            *product_steps(
                "factor_a",
                "factor_b",
                "o",
                width_a,
                width_b,
                params.width_out,
                signed=params.signed,
                dsp_bits=params.dsp_bits,
                adder_words=params.adder_words,
            ),
        )

    @classmethod
    def golden(cls, params: MulParams, a: int, b: int) -> int:
        """The low ``width_out`` bits of the product, by Python's integers."""
        if params.signed:
            a -= (a >> (params.width_a - 1)) << params.width_a
            b -= (b >> (params.width_b - 1)) << params.width_b
        return (a * b) % (1 << params.width_out)
