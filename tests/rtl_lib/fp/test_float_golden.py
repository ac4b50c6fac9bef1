"""The golden functions against numpy's arithmetic, which is the processor's."""

import random

import numpy as np
import pytest

from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.compare import COMPARISONS, CompareParams, FloatCompare
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64, FloatFormat
from rtl_lib.fp.integral import FloatIntegral, IntegralParams
from rtl_lib.fp.multiply import FloatMul, FloatMulParams
from rtl_lib.fp.resize import FloatResize, ResizeParams
from rtl_lib.fp.sqrt import FloatSqrt
from tests.rtl_lib.fp.float_vectors import random_float, random_pairs, specials, underflowing_pairs

NUMPY = {BINARY16: (np.float16, np.uint16), BINARY32: (np.float32, np.uint32), BINARY64: (np.float64, np.uint64)}


def pairs_of(fmt):
    every = [(a, b) for a in specials(fmt) for b in specials(fmt)]
    return every + random_pairs(fmt, 1000, 1) + underflowing_pairs(fmt, 1000, 2)


def arrays(fmt, columns):
    kind, bits = NUMPY[fmt]
    return [np.array(column, dtype=bits).view(kind) for column in columns]


def canonical_bits(fmt, values):
    """Bits of the results with every NaN as the one our operations return."""
    bits = values.view(NUMPY[fmt][1]).copy()
    bits[np.isnan(values)] = fmt.quiet_nan
    return [int(x) for x in bits]


OPERATIONS = {
    "add": (lambda fmt, a, b: FloatAdd.golden(AddParams(fmt), a, b), np.add),
    "subtract": (lambda fmt, a, b: FloatAdd.golden(AddParams(fmt, subtract=True), a, b), np.subtract),
    "multiply": (lambda fmt, a, b: FloatMul.golden(FloatMulParams(fmt), a, b), np.multiply),
    "divide": (FloatDiv.golden, np.divide),
}


@pytest.mark.parametrize("fmt", NUMPY, ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic(name, fmt):
    golden, reference = OPERATIONS[name]
    pairs = pairs_of(fmt)
    with np.errstate(all="ignore"):
        want = canonical_bits(fmt, reference(*arrays(fmt, zip(*pairs, strict=True))))
    for (a, b), bits in zip(pairs, want, strict=True):
        assert golden(fmt, a, b) == bits, f"{name} {a:#x} {b:#x}"


@pytest.mark.parametrize("fmt", NUMPY, ids=str)
def test_square_root(fmt):
    rng = random.Random(3)
    operands = specials(fmt) + [random_float(rng, fmt) for _ in range(2000)]
    with np.errstate(all="ignore"):
        want = canonical_bits(fmt, np.sqrt(arrays(fmt, [operands])[0]))
    assert [FloatSqrt.golden(fmt, a) for a in operands] == want


def test_multiply_add_of_half_in_double():
    """Products and sums of halves that are normal and near each other are exact in double."""
    rng = random.Random(8)
    normal = [BINARY16.round(rng.uniform(-64, 64)) for _ in range(3000)]
    for a, b, c in zip(normal[::3], normal[1::3], normal[2::3], strict=True):
        want = np.float16(np.float64(BINARY16.value(a)) * np.float64(BINARY16.value(b)) + np.float64(BINARY16.value(c)))
        assert FloatFma.golden(FloatMulParams(BINARY16), a, b, c) == int(want.view(np.uint16))


@pytest.mark.parametrize(
    ("mode", "function"), [("even", np.rint), ("zero", np.trunc), ("up", np.ceil), ("down", np.floor)]
)
@pytest.mark.parametrize("fmt", NUMPY, ids=str)
def test_integral(fmt, mode, function):
    rng = random.Random(9)
    operands = (
        specials(fmt) + [random_float(rng, fmt) for _ in range(1000)] + [fmt.round(n / 4) for n in range(-40, 40)]
    )
    with np.errstate(all="ignore"):
        want = canonical_bits(fmt, function(arrays(fmt, [operands])[0]))
    got = [FloatIntegral.golden(IntegralParams(mode, fmt), a) for a in operands]
    assert [g for g, a in zip(got, operands, strict=True) if not fmt.is_zero(a)] == [
        w for w, a in zip(want, operands, strict=True) if not fmt.is_zero(a)
    ]


@pytest.mark.parametrize("source", NUMPY, ids=str)
@pytest.mark.parametrize("target", NUMPY, ids=str)
def test_resize(source, target):
    if source == target:
        with pytest.raises(ValueError, match="neither of"):
            ResizeParams(source, target)
        return
    rng = random.Random(10)
    operands = specials(source) + [random_float(rng, source) for _ in range(2000)]
    with np.errstate(all="ignore"):
        want = canonical_bits(target, arrays(source, [operands])[0].astype(NUMPY[target][0]))
    assert [FloatResize.golden(ResizeParams(source, target), a) for a in operands] == want


def test_directed_rounding_encloses_the_number():
    rng = random.Random(11)
    for _ in range(1000):
        x = BINARY64.value(random_float(rng, BINARY64) & ~(1 << 62))
        low, high, inner = (BINARY32.round(x, rounding=mode) for mode in ("down", "up", "zero"))
        assert BINARY32.value(low) <= x and (BINARY32.is_infinite(high) or x <= BINARY32.value(high))
        assert inner & ~(1 << 31) == min(low & ~(1 << 31), high & ~(1 << 31))


PYTHON_OPERATORS = {
    "oeq": "__eq__",
    "une": "__ne__",
    "olt": "__lt__",
    "ole": "__le__",
    "ogt": "__gt__",
    "oge": "__ge__",
}


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparison(op):
    pairs = pairs_of(BINARY32)
    a, b = arrays(BINARY32, zip(*pairs, strict=True))
    ordered = ~(np.isnan(a) | np.isnan(b))
    if op in PYTHON_OPERATORS:
        want = getattr(a, PYTHON_OPERATORS[op])(b)
    else:
        want = {"one": ordered & (a != b), "ord": ordered, "uno": ~ordered}[op]
    assert [FloatCompare.golden(CompareParams(op), *pair) for pair in pairs] == [int(x) for x in want]


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_conversions(kind):
    info = np.iinfo(kind)
    params = ConvertParams(info.bits, info.min < 0)
    rng = random.Random(4)
    integers = [info.min, info.max, 0, 1, info.max - 1, (1 << 24) % (info.max + 1)]
    integers += [rng.randint(info.min, info.max) >> rng.randrange(info.bits) for _ in range(1000)]
    want = canonical_bits(BINARY32, np.array(integers, dtype=kind).astype(np.float32))
    assert [IntToFloat.golden(params, x % (1 << info.bits)) for x in integers] == want

    floats = [random_float(rng, BINARY32) for _ in range(2000)] + specials(BINARY32)
    for bits, value in zip(floats, arrays(BINARY32, [floats])[0], strict=True):
        got = FloatToInt.golden(params, bits)
        if np.isnan(value):
            assert got == 0
        elif np.isinf(value):
            assert got == (info.max if value > 0 else info.min % (1 << info.bits))
        else:
            assert got == min(max(int(value), info.min), info.max) % (1 << info.bits)


@pytest.mark.parametrize("fmt", [BINARY16, BINARY32, BINARY64, FloatFormat(4, 3)], ids=str)
def test_value_and_round_are_inverse(fmt):
    rng = random.Random(5)
    for bits in specials(fmt) + [random_float(rng, fmt) for _ in range(500)]:
        if bits & fmt.infinity() != fmt.infinity():
            assert fmt.round(fmt.value(bits), negative_zero=fmt.negative(bits)) == bits
    with pytest.raises(ValueError, match="not a finite number"):
        fmt.value(fmt.infinity())


def test_unsound_formats_are_refused():
    with pytest.raises(ValueError, match="exponent bits"):
        FloatFormat(2, 10)
    with pytest.raises(ValueError, match="subnormal"):
        FloatMulParams(FloatFormat(4, 8))
    with pytest.raises(ValueError, match="no comparison 'lt'"):
        CompareParams("lt")
    for make in (
        lambda: ConvertParams(8, True, rounding="odd"),
        lambda: IntegralParams("odd"),
        lambda: ResizeParams(BINARY64, BINARY32, "odd"),
    ):
        with pytest.raises(ValueError, match="no rounding 'odd'; there are even, zero"):
            make()
