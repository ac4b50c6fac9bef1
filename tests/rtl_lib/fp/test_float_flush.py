"""Formats without subnormal numbers: their parts equal those of IEEE 754 with subnormal operands and results
replaced by zeros of their sign."""

from dataclasses import replace

import pytest

from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64
from rtl_lib.fp.multiply import FloatMul, FloatMulParams
from rtl_lib.fp.sqrt import FloatSqrt
from rtl_lib.fp.sum import FloatSum, FloatSumParams
from tests.rtl_lib.arith.pipeline_check import check
from tests.rtl_lib.fp.float_vectors import random_pairs, random_sums, random_triples, specials, underflowing_pairs

FORMATS = tuple(replace(fmt, subnormals=False) for fmt in (BINARY16, BINARY32, BINARY64))
PARTS = {
    "sum": (FloatAdd, AddParams),
    "difference": (FloatAdd, lambda fmt: AddParams(fmt, True)),
    "product": (FloatMul, FloatMulParams),
    "quotient": (FloatDiv, lambda fmt: fmt),
    "root": (FloatSqrt, lambda fmt: fmt),
    "fma": (FloatFma, lambda fmt: FloatMulParams(fmt, 18)),
    "fused": (FloatSum, lambda fmt: FloatSumParams(("+*", "-*", "+"), fmt)),
}


def just_below(fmt, count):
    """Pairs of which the product lies next to the least normal number, from below and above."""
    ones = (1 << fmt.mantissa) - 1
    pairs = []
    for k in range(count):
        low, other = 1 << fmt.mantissa, (fmt.bias << fmt.mantissa) - (k % 7) - 1
        pairs += [
            (low + k % 5, other),
            ((fmt.bias - 1 << fmt.mantissa) | ones - k % 3, low + k % 3),
            (2 * low - 1 - k % 3, (fmt.bias - 1) << fmt.mantissa),
        ]
    return pairs


def vectors(name, fmt, seed):
    few = specials(fmt)
    if name == "root":
        return [(a,) for a in few] + [(a,) for a, _ in random_pairs(fmt, 100, seed)]
    if name == "fma":
        near = [(a, b, fmt.zero(a % 2)) for a, b in just_below(fmt, 10)]
        return [(a, b, c) for a in few[::5] for b in few[::5] for c in few[::7]] + near + random_triples(fmt, 150, seed)
    if name == "fused":
        return random_sums(fmt, 5, 150, seed)
    return (
        [(a, b) for a in few for b in few[:: 1 if fmt.width == 16 else 4]]
        + just_below(fmt, 20)
        + random_pairs(fmt, 100, seed)
        + underflowing_pairs(fmt, 200, seed)
    )


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: f"{fmt.width} bits")
@pytest.mark.parametrize("name", PARTS)
def test_part(name, fmt):
    part, params = PARTS[name][0], PARTS[name][1](fmt)
    check(part, params, 4, vectors(name, fmt, 3), gaps=0.1)


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: f"{fmt.width} bits")
@pytest.mark.parametrize("name", PARTS)
def test_golden_is_that_of_ieee_with_zeros_for_subnormal_numbers(name, fmt):
    part, make = PARTS[name]
    ieee = replace(fmt, subnormals=True)

    def flushed(bits):
        return bits if bits >> fmt.mantissa & fmt.top_exponent else fmt.zero(fmt.negative(bits))

    for operands in vectors(name, fmt, 5)[::3]:
        assert part.golden(make(fmt), *operands) == flushed(part.golden(make(ieee), *map(flushed, operands))), [
            hex(x) for x in operands
        ]


@pytest.mark.parametrize("name", PARTS)
def test_parts_become_shallower(name):
    """What subnormal numbers cost is left out: every part is shallower without them, quotients by far."""
    part, make = PARTS[name]
    with_, without = (sum(part.stage_delays(make(fmt))) for fmt in (BINARY32, FORMATS[1]))
    assert without < with_ - (5 if name == "quotient" else 0)
