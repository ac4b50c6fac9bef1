"""Floating-point hardware against its golden functions: all pairs of special values, random ones, gaps, latencies."""

import random

import pytest

from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.compare import COMPARISONS, CompareParams, FloatCompare
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64, ROUNDINGS, FloatFormat
from rtl_lib.fp.integral import FloatIntegral, IntegralParams
from rtl_lib.fp.multiply import FloatMul, FloatMulParams
from rtl_lib.fp.resize import FloatResize, ResizeParams
from rtl_lib.fp.sqrt import FloatSqrt
from rtl_lib.fp.sum import FloatSum, FloatSumParams
from tests.rtl_lib.arith.pipeline_check import check
from tests.rtl_lib.fp.float_vectors import (
    random_float,
    random_pairs,
    random_sums,
    random_triples,
    specials,
    underflowing_pairs,
)

BINARY_PARTS = [
    (FloatAdd, AddParams()),
    (FloatAdd, AddParams(subtract=True)),
    (FloatAdd, AddParams(BINARY16)),
    (FloatMul, FloatMulParams()),
    (FloatMul, FloatMulParams(dsp_bits=18)),
    (FloatMul, FloatMulParams(BINARY16)),
    (FloatDiv, BINARY32),
    (FloatDiv, BINARY16),
]
NAMES = [f"{part.kind}-{params}" for part, params in BINARY_PARTS]


def format_of(params):
    return params if isinstance(params, FloatFormat) else params.format


@pytest.mark.parametrize(("part", "params"), BINARY_PARTS, ids=NAMES)
def test_all_pairs_of_special_values(part, params):
    fmt = format_of(params)
    pairs = [(a, b) for a in specials(fmt) for b in specials(fmt)]
    check(part, params, 3, pairs)


@pytest.mark.parametrize(("part", "params"), BINARY_PARTS, ids=NAMES)
def test_random_pairs_at_several_latencies(part, params):
    fmt = format_of(params)
    top = part.latencies(params)[-1]
    for latency in sorted({0, 5, top}):
        vectors = random_pairs(fmt, 200, latency) + underflowing_pairs(fmt, 200, latency)
        check(part, params, latency, vectors, gaps=0.2, seed=latency)


@pytest.mark.parametrize("part", [FloatAdd, FloatMul, FloatDiv])
def test_double_precision(part):
    params = {FloatAdd: AddParams(BINARY64), FloatMul: FloatMulParams(BINARY64), FloatDiv: BINARY64}[part]
    check(part, params, 4, random_pairs(BINARY64, 100, 1) + underflowing_pairs(BINARY64, 100, 2))


@pytest.mark.parametrize("fmt", [BINARY16, BINARY32, BINARY64], ids=str)
def test_square_root(fmt):
    rng = random.Random(7)
    vectors = [(bits,) for bits in specials(fmt) + [random_float(rng, fmt) for _ in range(150)]]
    for latency in (6, FloatSqrt.latencies(fmt)[-1]):
        check(FloatSqrt, fmt, latency, vectors, gaps=0.2, seed=latency)


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparison(op):
    params = CompareParams(op)
    pairs = [(a, b) for a in specials(BINARY32) for b in specials(BINARY32)]
    for latency in FloatCompare.latencies(params):
        check(FloatCompare, params, latency, random_pairs(BINARY32, 200, latency), gaps=0.2, seed=latency)
    check(FloatCompare, params, 1, pairs)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_conversions(width, signed):
    rng = random.Random(width)
    params = ConvertParams(width, signed)
    top, half = (1 << width) - 1, 1 << (width - 1)
    integers = [(bits,) for bits in (0, 1, top, half, half - 1, half + 1)]
    integers += [(rng.getrandbits(rng.randint(1, width)) ^ top * rng.getrandbits(1),) for _ in range(200)]
    floats = [(bits,) for bits in specials(BINARY32)]
    floats += [(random_float(rng, BINARY32),) for _ in range(100)]
    for power in range(-2, width + 2):  # around every boundary, and around the limits of the type
        floats += (
            [(BINARY32.round(sign * 2**power) + step,) for sign in (1, -1) for step in (-1, 0, 1)]
            if power > 0
            else [(BINARY32.round(2.0**power),), (BINARY32.round(-(2.0**power)),)]
        )
    for latency in (0, 2, 5):
        check(IntToFloat, params, latency, integers, gaps=0.2, seed=latency)
        check(FloatToInt, params, min(latency, 4), floats, gaps=0.2, seed=latency)


def test_conversion_to_a_float_too_small_for_the_integer():
    params = ConvertParams(32, True, BINARY16)
    check(
        IntToFloat, params, 2, [(x % (1 << 32),) for x in (0, 65519, 65520, -65520, 65504, 1 << 30, -(1 << 31), 2049)]
    )


@pytest.mark.parametrize("fmt", [BINARY16, BINARY32, BINARY64], ids=str)
def test_multiply_add(fmt):
    params = FloatMulParams(fmt, dsp_bits=18)
    for latency in (0, 6, FloatFma.latencies(params)[-1]):
        check(FloatFma, params, latency, random_triples(fmt, 150, latency), gaps=0.2, seed=latency)
    few = specials(fmt)[::5]
    check(FloatFma, params, 3, [(a, b, c) for a in few for b in few for c in few])


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_rounding_to_integers(rounding):
    rng = random.Random(rounding)
    numbers = [BINARY32.round(n / 4) + step for n in range(-9, 10) for step in (0, 1)]
    numbers += specials(BINARY32) + [random_float(rng, BINARY32) for _ in range(100)]
    numbers += [BINARY32.round(sign * (2**power - 0.5)) for power in (7, 8, 15, 16) for sign in (1, -1)]
    vectors = [(bits,) for bits in numbers]
    for latency in (0, 2, 4):
        check(FloatIntegral, IntegralParams(rounding), latency, vectors, gaps=0.2, seed=latency)
        for width in (8, 16):
            params = ConvertParams(width, latency > 0, rounding=rounding)
            check(FloatToInt, params, latency, vectors, gaps=0.2, seed=latency)
            check(
                IntToFloat,
                ConvertParams(width, latency > 0, BINARY16, rounding),
                latency,
                [(rng.getrandbits(width),) for _ in range(50)],
            )


@pytest.mark.parametrize("source", [BINARY16, BINARY32, BINARY64], ids=str)
@pytest.mark.parametrize("target", [BINARY16, BINARY32, BINARY64], ids=str)
def test_resize(source, target):
    if source == target:
        return
    rng = random.Random(1)
    vectors = [(bits,) for bits in specials(source) + [random_float(rng, source) for _ in range(60)]]
    for k, rounding in enumerate(ROUNDINGS):
        check(FloatResize, ResizeParams(source, target, rounding), k, vectors, gaps=0.2, seed=k)


SUMS = [
    FloatSumParams(("+*", "+*")),
    FloatSumParams(("+", "-", "+")),
    FloatSumParams(("-*", "+", "+*", "-", "+*"), dsp_bits=18, adder_words=2),
    FloatSumParams(("+*", "-*", "+"), BINARY16),
    FloatSumParams(("+*",) * 8, BINARY16),
    FloatSumParams(("+*", "-*", "-"), BINARY64),
]


@pytest.mark.parametrize("params", SUMS, ids=lambda params: f"{params.format.width} bits {' '.join(params.terms)}")
def test_fused_sum(params):
    count = len(FloatSum.inputs(params))
    top = FloatSum.latencies(params)[-1]
    for latency in sorted({0, 5, top}):
        check(FloatSum, params, latency, random_sums(params.format, count, 300, latency), gaps=0.2, seed=latency)


def test_fused_sum_keeps_what_two_roundings_lose():
    """(1 + e)^2 - 1 - 2e is e^2 exactly, also where e^2 lies far below the first product's last place."""
    params = FloatSumParams(("+*", "-", "-"))
    bits = BINARY32.round
    for e in (2.0**-12, 2.0**-20, 2.0**-23):
        assert FloatSum.golden(params, bits(1 + e), bits(1 + e), bits(1), bits(2 * e)) == bits(e * e)


@pytest.mark.parametrize("terms", [("+",), ("+", "x"), ("+*", "")])
def test_fused_sum_says_what_a_term_is(terms):
    with pytest.raises(ValueError, match="a sum has two or more terms"):
        FloatSumParams(terms)
