"""Products: operands cut to the size of a hard multiplier, and a tree that adds the partial products."""

from dataclasses import dataclass
from math import ceil

from amaranth import *

from .levels import MULTIPLIER, ROUTE, adder
from .pipelined import PipelinedPart, Step

__all__ = ["IntMul", "MulParams", "product_steps"]


@dataclass(frozen=True)
class _Term:
    """A partial product: the value named ``name``, worth ``2**offset`` times itself."""

    name: str
    offset: int


def _limbs(width, dsp_bits):
    """(start, end) of the even pieces into which a hard multiplier's size cuts ``width`` bits."""
    size = ceil(width / ceil(width / dsp_bits))
    return [(start, min(start + size, width)) for start in range(0, width, size)]


def _limb(value, start, end, signed):
    """Bits ``start`` to ``end``; the piece that holds the sign keeps it."""
    piece = value[start:end]
    return piece.as_signed() if signed and end == len(value) else piece


def _low(value, width):
    """``value`` modulo ``2**width``; a shorter one is left alone, so that it keeps its sign."""
    return value[:width] if len(value) > width else value


def product_steps(a, b, out, width_a, width_b, width_out, *, signed=False, dsp_bits=27):
    """Steps that return ``out``: the low ``width_out`` bits of the product of the values named ``a`` and ``b``."""
    pairs = [(f"term{i}_{j}", low_a, low_b)
             for i, low_a in enumerate(_limbs(width_a, dsp_bits)) for j, low_b in enumerate(_limbs(width_b, dsp_bits))
             if low_a[0] + low_b[0] < width_out]

    def multiply(**operands):
        return {name: _low(_limb(operands[a], *low_a, signed) * _limb(operands[b], *low_b, signed),
                           width_out - low_a[0] - low_b[0])
                for name, low_a, low_b in pairs}

    terms = sorted((_Term(name, low_a[0] + low_b[0]) for name, low_a, low_b in pairs), key=lambda term: term.offset)
    steps = [Step("product", MULTIPLIER, multiply, (a, b))]
    while len(terms) > 1:
        steps.append(_sum_step(terms, width_out, ROUTE * (len(steps) == 1)))
        terms = [terms[n] for n in range(0, len(terms), 2)]
    last = terms[0].name
    steps[-1] = _renaming(steps[-1], last, out)
    return steps


def _sum_step(terms, width_out, route):
    """Adds each second term to its neighbour, which keeps its name and offset."""
    def add(**values):
        results = {}
        for low, high in zip(terms[::2], terms[1::2]):
            total = values[low.name] + (values[high.name] << (high.offset - low.offset))
            results[low.name] = _low(total, width_out - low.offset)
        return results

    paired = terms[:len(terms) // 2 * 2]
    return Step("sum", route + adder(width_out - terms[0].offset), add, tuple(term.name for term in paired))


def _renaming(step, old, new):
    """The same step with its result ``old`` called ``new``."""
    def build(**values):
        results = step.build(**values)
        results[new] = results.pop(old)
        return results

    return Step(step.name, step.levels, build, step.reads)


@dataclass(frozen=True)
class MulParams:
    """Widths in bits; ``signed`` matters only when ``width_out`` exceeds an operand's width.

    ``dsp_bits`` is the widest operand a hard multiplier of the target takes: 27 for Stratix V and Arria 10, 18 for ECP5.
    """

    width_a: int
    width_b: int
    width_out: int
    signed: bool = False
    dsp_bits: int = 27

    def __post_init__(self):
        if min(self.width_a, self.width_b, self.width_out, self.dsp_bits) < 1:
            raise ValueError(f"widths must be positive: {self}")
        if self.width_out > self.width_a + self.width_b:
            raise ValueError(f"a product of {self.width_a} and {self.width_b} bits has no {self.width_out} bits")


class IntMul(PipelinedPart):
    """``o``: the low ``width_out`` bits of ``a * b``."""

    kind = "imul"
    Params = MulParams

    @classmethod
    def inputs(cls, params):
        return {"a": params.width_a, "b": params.width_b}

    @classmethod
    def outputs(cls, params):
        return {"o": params.width_out}

    @classmethod
    def steps(cls, params):
        # Bits above the result's width cannot reach it.
        width_a, width_b = min(params.width_a, params.width_out), min(params.width_b, params.width_out)

        def operands(*, a, b):
            return {"factor_a": a[:width_a], "factor_b": b[:width_b]}

        return (Step("operands", ROUTE, operands),
                *product_steps("factor_a", "factor_b", "o", width_a, width_b, params.width_out,
                               signed=params.signed, dsp_bits=params.dsp_bits))

    @classmethod
    def golden(cls, params, a, b):
        if params.signed:
            a -= (a >> (params.width_a - 1)) << params.width_a
            b -= (b >> (params.width_b - 1)) << params.width_b
        return (a * b) % (1 << params.width_out)
