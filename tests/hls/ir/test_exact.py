"""The interpreter against the golden functions of the hardware, which share no code with it."""

import random
import struct

import pytest

from hls.ir import FloatType, IntType, evaluate
from hls.ir.exact import ROUNDINGS
from hls.ir.values import bits_to_float, float_to_bits
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64
from rtl_lib.fp.integral import FloatIntegral, IntegralParams
from rtl_lib.fp.multiply import FloatMulParams
from rtl_lib.fp.resize import FloatResize, ResizeParams
from rtl_lib.fp.sqrt import FloatSqrt
from rtl_lib.fp.sum import FloatSum, FloatSumParams
from tests.rtl_lib.fp.float_vectors import random_float, random_sums, random_triples, specials

FORMATS = {16: BINARY16, 32: BINARY32, 64: BINARY64}


def numbers(fmt, count, seed):
    rng = random.Random(seed)
    quarters = [fmt.round(n / 4) for n in range(-20, 21)]
    return specials(fmt) + quarters + [random_float(rng, fmt) for _ in range(count)]


def meaning(opcode, operands, source, target, **attrs):
    """The bits of the result of an operation on bits."""

    def value(bits, t):
        return bits_to_float(bits, t.bits) if isinstance(t, FloatType) else bits

    result = evaluate(opcode, [value(x, source) for x in operands], [source] * len(operands), target, attrs)
    return float_to_bits(result, target.bits) if isinstance(target, FloatType) else result


@pytest.mark.parametrize("bits", FORMATS)
def test_multiply_add(bits):
    fmt, t = FORMATS[bits], FloatType(bits)
    for operands in random_triples(fmt, 2000, bits):
        assert meaning("fma", operands, t, t) == FloatFma.golden(FloatMulParams(fmt), *operands), operands


@pytest.mark.parametrize("terms", [("+*", "+*"), ("+", "-", "-"), ("-*", "+", "+*", "-")])
@pytest.mark.parametrize("bits", FORMATS)
def test_fused_sum(bits, terms):
    fmt, t = FORMATS[bits], FloatType(bits)
    params = FloatSumParams(terms, fmt)
    for operands in random_sums(fmt, len(FloatSum.inputs(params)), 1500, bits):
        assert meaning("fsum", operands, t, t, terms=terms) == FloatSum.golden(params, *operands), operands


@pytest.mark.parametrize("bits", FORMATS)
def test_square_root_and_integral_values(bits):
    fmt, t = FORMATS[bits], FloatType(bits)
    for x in numbers(fmt, 500, bits):
        assert meaning("fsqrt", [x], t, t) == FloatSqrt.golden(fmt, x)
        for mode in ROUNDINGS:
            assert meaning("fintegral", [x], t, t, rounding=mode) == FloatIntegral.golden(IntegralParams(mode, fmt), x)


@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("bits", FORMATS)
def test_conversions(bits, mode):
    fmt, t, rng = FORMATS[bits], FloatType(bits), random.Random(bits)
    for width, signed in ((8, True), (16, False), (32, True), (64, False), (64, True)):
        params, kind = ConvertParams(width, signed, fmt, mode), "si" if signed else "ui"
        for x in numbers(fmt, 200, width):
            assert meaning(f"fpto{kind}", [x], t, IntType(width), rounding=mode) == FloatToInt.golden(params, x)
        for _ in range(200):
            x = rng.getrandbits(rng.randint(1, width))
            assert meaning(f"{kind}tofp", [x], IntType(width), t, rounding=mode) == IntToFloat.golden(params, x)
    for other, target in FORMATS.items():
        for x in numbers(fmt, 200, other) if other != bits else ():
            want = FloatResize.golden(ResizeParams(fmt, target, mode), x)
            assert meaning("fresize", [x], t, FloatType(other), rounding=mode) == want


def test_conversions_default_to_those_of_c():
    assert meaning("fptosi", [BINARY32.round(-2.75)], FloatType(32), IntType(8)) == 254
    assert bits_to_float(meaning("uitofp", [(1 << 24) + 1], IntType(32), FloatType(32)), 32) == 1 << 24
    assert struct.pack("<e", evaluate("fresize", [1.0 + 2**-11], [FloatType(64)], FloatType(16), {})) == b"\x00\x3c"
