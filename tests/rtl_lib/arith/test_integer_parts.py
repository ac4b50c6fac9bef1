"""Integer product and quotient against their golden functions, and those against plain definitions."""

import random

import pytest

from rtl_lib.arith.divide import DivParams, IntDivRem
from rtl_lib.arith.multiply import IntMul, MulParams
from tests.rtl_lib.arith.pipeline_check import check


def corners(width):
    """Bit patterns where carries, signs and limbs turn over."""
    mask = (1 << width) - 1
    half = 1 << (width - 1)
    return sorted(
        {
            bits & mask
            for bits in (
                0,
                1,
                2,
                3,
                5,
                7,
                half - 1,
                half,
                half + 1,
                mask - 1,
                mask,
                (1 << (width // 2)) - 1,
                1 << (width // 2),
                0x5555555555555555,
            )
        }
    )


def random_bits(rng, width):
    """Numbers of all magnitudes, both signs."""
    bits = rng.getrandbits(rng.randint(1, width))
    return bits if rng.random() < 0.6 else -bits % (1 << width)


def vectors(width_a, width_b, count, seed):
    rng = random.Random(seed)
    directed = [(a, b) for a in corners(width_a) for b in corners(width_b)]
    return directed + [(random_bits(rng, width_a), random_bits(rng, width_b)) for _ in range(count)]


MULTIPLIERS = [
    MulParams(8, 8, 8),
    MulParams(8, 8, 16, signed=True),
    MulParams(32, 32, 32),
    MulParams(32, 32, 64),
    MulParams(32, 32, 64, signed=True, dsp_bits=18),
    MulParams(64, 64, 64),
    MulParams(64, 64, 128, signed=True),
    MulParams(64, 64, 128, dsp_bits=18),
    MulParams(40, 12, 50, signed=True),
    MulParams(1, 1, 2),
    MulParams(7, 33, 9),
]


@pytest.mark.parametrize("params", MULTIPLIERS, ids=str)
def test_product_at_every_latency(params):
    for latency in IntMul.latencies(params):
        check(IntMul, params, latency, vectors(params.width_a, params.width_b, 100, latency), gaps=0.25, seed=latency)


@pytest.mark.parametrize(
    "params",
    [DivParams(8), DivParams(8, True), DivParams(32), DivParams(32, True), DivParams(64, True), DivParams(2, True)],
    ids=str,
)
def test_quotient_and_remainder(params):
    top = IntDivRem.latencies(params)[-1]
    for latency in sorted({0, top // 3, top}):
        check(IntDivRem, params, latency, vectors(params.width, params.width, 30, latency), gaps=0.25, seed=latency)


def test_golden_division_is_that_of_c():
    """Truncating division on signed bytes, all of them, by its definition in floating point (exact at this size)."""
    for a in range(-128, 128):
        for b in range(-128, 128):
            quotient, remainder = IntDivRem.golden(DivParams(8, True), a & 255, b & 255)
            if b == 0:
                assert (quotient, remainder) == (255, a & 255)
            else:
                want = int(a / b)
                assert (quotient, remainder) == (want & 255, (a - want * b) & 255)


def test_unsound_parameters_are_refused():
    with pytest.raises(ValueError, match="no 17 bits"):
        MulParams(8, 8, 17)
    with pytest.raises(ValueError, match="positive"):
        MulParams(0, 8, 8)
    with pytest.raises(ValueError, match="width of 2"):
        DivParams(1)
