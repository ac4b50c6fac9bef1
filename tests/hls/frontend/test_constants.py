"""Literals: their types by C's rules, and floats rounded once."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from hls.diag import CompileError, Span
from hls.frontend import types as ct
from hls.frontend.constants import literal
from hls.ir.exact import of_decimal, rounded

HERE = Span("k.cl", 1, 1)


@pytest.mark.parametrize(
    "text, type",
    [
        ("1", ct.INT),
        ("2147483647", ct.INT),
        ("2147483648", ct.LONG),
        ("0x80000000", ct.UINT),
        ("0xffffffffff", ct.LONG),
        ("0xffffffffffffffff", ct.ULONG),
        ("1u", ct.UINT),
        ("4294967296u", ct.ULONG),
        ("1L", ct.LONG),
        ("1UL", ct.ULONG),
        ("037777777777", ct.UINT),
        ("0b1", ct.INT),
        ("0", ct.INT),
    ],
)
def test_types_of_integers(text, type):
    assert literal(text, "int", HERE)[0].type == type


def test_too_large():
    with pytest.raises(CompileError, match="64 bits"):
        literal("0x1ffffffffffffffff", "int", HERE)


@pytest.mark.parametrize(
    "text",
    [
        "0.1f",
        "1e-45f",
        "3.4028235e38f",
        "1.f",
        ".5f",
        "16777217.0f",
        "1.17549435e-38f",
        "5e-46f",
        "7e-46f",
        "0.0f",
        "8388609.5f",
        "8388608.5f",
    ],
)
def test_floats_are_the_nearest(text):
    exact = Fraction(text.rstrip("f"))
    value, double = literal(text, "float", HERE)
    near = np.float32(value.value)
    with np.errstate(over="ignore"):
        neighbours = [np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf)]
    assert not double and float(near) == value.value
    assert all(
        abs(exact - Fraction(float(near))) <= abs(exact - Fraction(float(n))) for n in neighbours if np.isfinite(n)
    )


def test_no_double_rounding():
    """Just above the middle between two floats: a double rounds to the middle, and from there to the even one."""
    middle = Fraction(1) + Fraction(1, 2**24)
    assert rounded(middle, 32) == 1.0
    assert rounded(middle + Fraction(1, 2**70), 32) == float(np.nextafter(np.float32(1), np.float32(2)))
    assert literal("16777217.0000000001f", "float", HERE)[0].value == 16777218.0
    assert literal("16777216.9999999999f", "float", HERE)[0].value == 16777216.0


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_decimals_are_rounded_once(bits):
    """Numbers of every size, and those at and beside the middle between two floats, which are ties for the double."""
    rng = random.Random(bits)
    texts = [f"{rng.randrange(10**9)}.{rng.randrange(10**9)}e{rng.randrange(-60, 40)}" for _ in range(300)]
    digits = {16: 11, 32: 24, 64: 53}[bits]
    for _ in range(100):
        middle = 2 * rng.randrange(1 << digits - 1, 1 << digits) + 1  # one bit too long
        texts += [f"{middle}", f"{middle}.{'0' * 30}1", f"{middle - 1}.{'9' * 30}"]
        texts += [f"{middle * 5**30}e-30", f"{middle * 5**30 * 10**20 + 1}e-50", "0", "1e-400"]
    for text in texts:
        found, wanted = of_decimal(text, bits), rounded(Fraction(text), bits)
        assert (found, math.copysign(1, found)) == (wanted, 1), text


def test_hexadecimal_floats_and_overflow():
    assert literal("0x1.8p3f", "float", HERE)[0].value == 12.0
    assert literal("0x.8p1", "double", HERE)[0].value == 1.0
    assert literal("1e39f", "float", HERE)[0].value == float("inf")
    assert rounded(Fraction(2) ** 128 - Fraction(2) ** 103, 32) == float("inf")
    assert rounded(Fraction(2) ** 128 - Fraction(2) ** 104, 32) == float(np.finfo("f4").max)
