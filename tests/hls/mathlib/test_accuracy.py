"""Errors of the mathematical functions: within OpenCL's bounds, on a sample of all floats; and the reference against
mpmath."""

import math
import random
import struct

import mpmath
import pytest

from hls import mathlib
from tests.hls.mathlib.measure import BOUNDS, DOUBLE_BOUNDS, NATIVE_BOUNDS, shared_library

#: every STEP-th float; about 200,000 arguments a function
STEP = 20_011

EXACT = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "exp10": lambda x: mpmath.mpf(10) ** x,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinpi": mpmath.sinpi,
    "cospi": mpmath.cospi,
    "tanpi": lambda x: mpmath.sinpi(x) / mpmath.cospi(x),
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinpi": lambda x: mpmath.asin(x) / mpmath.pi,
    "acospi": lambda x: mpmath.acos(x) / mpmath.pi,
    "atanpi": lambda x: mpmath.atan(x) / mpmath.pi,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "atan2": mpmath.atan2,
    "atan2pi": lambda y, x: mpmath.atan2(y, x) / mpmath.pi,
    "hypot": mpmath.hypot,
    "pow": mpmath.power,
    "powr": mpmath.power,
    "pown": mpmath.power,
    "tgamma": mpmath.gamma,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if x < 0 else mpmath.loggamma(x),
    "rootn": lambda x, n: mpmath.sign(x) * abs(x) ** (mpmath.mpf(1) / n),
}
#: no functions of real analysis: exact, and measured against the C library
BY_DEFINITION = {"fmod", "remainder", "nextafter", "ldexp", "logb", "ilogb"}


def as_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


@pytest.fixture(scope="module")
def measured():
    return {one.name: one for one in shared_library().worst(STEP, 1)}


def test_every_function_is_measured(measured):
    assert set(mathlib.SIGNATURES) - {"nan"} == set(BOUNDS)
    assert {name.removeprefix("math___") for name in mathlib.FUNCTIONS if name.startswith("math___native")} == set(
        NATIVE_BOUNDS
    )
    assert set(BOUNDS | NATIVE_BOUNDS) == set(measured)
    assert BOUNDS.keys() == EXACT.keys() | BY_DEFINITION


@pytest.mark.parametrize("name", BOUNDS | NATIVE_BOUNDS)
def test_error_is_within_the_bound(measured, name):
    one = measured[name]
    assert one.tried > 200_000
    assert not one.wrong, f"{name}({as_float(one.x)}, {as_float(one.y)}) is of the wrong kind"
    assert one.error <= (BOUNDS | NATIVE_BOUNDS)[name], f"{name}({as_float(one.x)}, {as_float(one.y)})"


def test_lgamma_of_positive_numbers_is_close():
    """Also next to its zeros at 1 and 2; every float from 0.5 to 4 that the step meets, and a thousand of each power of
    two."""
    xs = [*range(0x3F000000, 0x40800000, 997), *range(1, 0x7F800000, 8209)]
    for x, (bits, exact) in zip(xs, shared_library().evaluate("lgamma", [(x, 0) for x in xs]), strict=True):
        if abs(exact) < 2**128 and exact:
            unit = 2.0 ** max(math.frexp(exact)[1] - 24, -149)
            assert abs(as_float(bits) - exact) < 2 * unit, as_float(x)


@pytest.mark.parametrize("name", [name for name in BOUNDS if mathlib.SIGNATURES[name].parameters == ("float", "float")])
def test_two_subnormal_numbers(name):
    """Numbers of few bits, which two random ones hardly ever are: all pairs of the smallest, and some of each size."""
    rng = random.Random(1)
    pairs = [(a, b) for a in range(1, 33) for b in range(1, 33)]
    pairs += [
        (rng.getrandbits(k), max(1, rng.getrandbits(j))) for k in range(1, 26) for j in (k, k + 1) for _ in range(20)
    ]
    signed = [(a | rng.getrandbits(1) << 31, b | rng.getrandbits(1) << 31) for a, b in pairs]
    tried = 0
    for (a, b), (bits, exact) in zip(signed, shared_library().evaluate(name, signed), strict=True):
        if exact and math.isfinite(exact) and abs(exact) < 2**127:
            tried += 1
            unit = 2.0 ** max(math.frexp(exact)[1] - 24, -149)
            assert abs(as_float(bits) - exact) <= BOUNDS[name] * unit, (as_float(a), as_float(b), as_float(bits), exact)
    assert tried > 200


@pytest.mark.parametrize("name", EXACT)
def test_reference_agrees_with_mpmath(measured, name):
    """At the worst argument found, and at some ordinary ones."""
    integer = mathlib.SIGNATURES[name].parameters[-1] == "int"
    second = [3, 2**32 - 5, 1] if integer else [0x40490FDB, 0xBF000000, 0x3DCCCCCD]
    pairs = [(a, second[k % 3]) for k, a in enumerate(range(0x3C000000, 0x42000000, 0x00A12345))]
    pairs += [(measured[name].x, measured[name].y)]
    with mpmath.workprec(200):
        for (a, b), (_, reference) in zip(pairs, shared_library().evaluate(name, pairs), strict=True):
            if not mpmath.isfinite(reference) or reference == 0:
                continue
            other = b - (b >> 31 << 32) if integer else as_float(b)
            arguments = [mpmath.mpf(as_float(a)), mpmath.mpf(other)][: len(mathlib.SIGNATURES[name].parameters)]
            exact = EXACT[name](*arguments)
            assert abs(exact - reference) <= abs(exact) * mpmath.mpf(2) ** -45, (name, arguments)


# -- double


def as_double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


@pytest.fixture(scope="module")
def measured_doubles():
    return {one.name: one for one in shared_library("double").worst(100_000, 1)}


def test_every_function_of_double_is_measured(measured_doubles):
    assert set(mathlib.DOUBLES) - {"nan"} == set(DOUBLE_BOUNDS) == set(measured_doubles)


@pytest.mark.parametrize("name", DOUBLE_BOUNDS)
def test_error_of_double_is_within_the_bound(measured_doubles, name):
    one = measured_doubles[name]
    assert not one.wrong, f"{name}({as_double(one.x)}, {as_double(one.y)}) is of the wrong kind"
    assert one.error <= DOUBLE_BOUNDS[name], f"{name}({as_double(one.x)}, {as_double(one.y)})"


@pytest.mark.parametrize("name", [name for name in EXACT if name in DOUBLE_BOUNDS])
def test_reference_of_double_agrees_with_mpmath(measured_doubles, name):
    integer = mathlib.DOUBLES[name].parameters[-1] == "int"
    second = [3, 2**32 - 5, 1] if integer else [0x400921FB54442D18, 0xBFE0000000000000, 0x3FB999999999999A]
    pairs = [
        (a, second[k % 3]) for k, a in enumerate(range(0x3F80000000000000, 0x4060000000000000, 0x0012345678901234))
    ]
    # worst for a reduction of angles: 6381956970095103 * 2^797 (Muller and others, Handbook of Floating-Point
    # Arithmetic)
    pairs += [(measured_doubles[name].x, measured_doubles[name].y), (0x7506AC5B262CA1FF, 1), (0x3FEFFFFFFFFFFFFF, 1)]
    with mpmath.workprec(1400):
        for (a, b), (bits, reference) in zip(
            pairs, shared_library("double").evaluate_exactly(name, pairs), strict=True
        ):
            low = b & 0xFFFFFFFF
            other = low - (low >> 31 << 32) if integer else as_double(b)
            arguments = [mpmath.mpf(as_double(a)), mpmath.mpf(other)][: len(mathlib.DOUBLES[name].parameters)]
            if "inf" in reference or "nan" in reference or abs(mpmath.mpf(reference)) < 1e-300:
                continue
            exact = EXACT[name](*arguments)
            # 1 / n has the digits of the reference, and up to 1074 / n binary digits before the point count as many
            assert abs(exact - mpmath.mpf(reference)) <= abs(exact) * mpmath.mpf(2) ** (
                -53 if name == "rootn" else -60
            ), (name, arguments)
            assert abs(exact - as_double(bits)) <= abs(exact) * mpmath.mpf(2) ** -52 * DOUBLE_BOUNDS[name], (
                name,
                arguments,
            )
