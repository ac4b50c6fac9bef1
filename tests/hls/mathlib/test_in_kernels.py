"""The library in kernels: our compiler's interpretation of its source computes the same bits as a C++ compiler's."""

import re

import numpy as np
import pytest

from hls import mathlib
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify_module
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from tests.hls.mathlib.measure import BOUNDS, DOUBLE_BOUNDS, NATIVE_BOUNDS, shared_library

SPECIAL = [
    0,
    0x80000000,
    1,
    0x80000001,
    0x7FFFFF,
    0x800000,
    0x3F800000,
    0xBF800000,
    0x7F7FFFFF,
    0xFF7FFFFF,
    0x7F800000,
    0xFF800000,
    0x7FC00000,
    0x3F7FFFFF,
    0x3F800001,
    0x4B000001,
    0x00400000,
    0x42AEAC50,
    0xC2AEAC50,
    0x40490FDB,
]


#: format -> (type of its words, of its floats, its numbers of special kinds)
FORMATS = {
    "float": (np.uint32, np.float32, SPECIAL),
    "double": (
        np.uint64,
        np.float64,
        [
            *(int(x) for x in np.array(SPECIAL, np.uint32).view(np.float32).astype(np.float64).view(np.uint64)),
            1,
            (1 << 63) + 1,
            (1 << 52) - 1,
            1 << 52,
            (0x7FF << 52) - 1,
            0x4086232B00000000,
        ],
    ),
}
SMALLER = {name: mathlib.FUNCTIONS[f"math___{name}"] for name in NATIVE_BOUNDS}
SINGLES = {**mathlib.SIGNATURES, **SMALLER}
FILES = sorted({signature.file for signature in (*SINGLES.values(), *mathlib.DOUBLES.values())})


def of_file(file):
    """(format, names of the functions that a program may call)"""
    floating = "double" if file.startswith("double_") else "float"
    table, bounds = (mathlib.DOUBLES, DOUBLE_BOUNDS) if floating == "double" else (SINGLES, BOUNDS | NATIVE_BOUNDS)
    return floating, [name for name in bounds if table[name].file == file]


def kernel(names, floating="float"):
    """One kernel that computes each function of a[i] (and b[i], as it is or as an integer)."""
    lines = []
    for k, name in enumerate(names):
        signature = SINGLES[name]
        second = {1: "", 2: ", c[i]" if signature.parameters[-1] == "int" else ", b[i]"}[len(signature.parameters)]
        lines.append(f"    out[i * {len(names)} + {k}] = {name}(a[i]{second});")
    return (
        f"__kernel void f(__global const {floating} *restrict a, __global const {floating} *restrict b, __global "
        "const int *restrict c, "
        f"__global {floating} *restrict out, int n) {{\n  for (int i = 0; i < n; i++) {{\n"
        + "\n".join(lines)
        + "\n  }\n}\n"
    )


def arguments(count, floating="float"):
    words, floats, special = FORMATS[floating]
    rng = np.random.default_rng(1)
    spread = rng.integers(0, np.iinfo(words).max, count // 2, dtype=words, endpoint=True)
    middle = rng.uniform(-9, 9, count - count // 2).astype(floats).view(words)
    return np.concatenate([np.array(special, words), spread, middle])


def outcome(module, names, a, b, floating="float"):
    words, floats, _ = FORMATS[floating]
    out = np.zeros((len(a), len(names)), floats)
    buffers = {"a": a.view(floats), "b": b.view(floats), "c": b.astype(np.uint32), "out": out}
    run_kernel(module, "f", buffers, {"n": len(a)})
    return out.view(words)


@pytest.mark.parametrize("file", FILES)
def test_bits(file):
    floating, names = of_file(file)
    floats = FORMATS[floating][1]
    a = arguments(60, floating)
    b = np.roll(a, 7)
    for k, name in enumerate(names):
        if SINGLES[name].parameters[-1] == "int":
            b[k::3] = np.arange(len(b[k::3])) - 9
    module = parse_source(kernel(names, floating)).module
    verify_module(module)
    got = outcome(module, names, a, b, floating)
    for k, name in enumerate(names):
        want = [
            bits
            for bits, _ in shared_library(floating).evaluate_exactly(
                name, [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
            )
        ]
        want = np.array(want, a.dtype)
        nan = np.isnan(want.view(floats)) & np.isnan(np.ascontiguousarray(got[:, k]).view(floats))
        for x, y, mine, theirs, both in zip(a, b, got[:, k], want, nan, strict=True):
            assert both or mine == theirs, f"{name}({x:#x}, {y:#x}) is {mine:#x} in IR and {theirs:#x} in C++"


@pytest.mark.parametrize("file", FILES)
def test_optimization_keeps_the_bits(file):
    floating, names = of_file(file)
    a = arguments(12, floating)
    module = parse_source(kernel(names, floating)).module
    optimized = optimize(module, PipelineOptions(check=True))
    b = np.roll(a, 3)
    assert (outcome(optimized, names, a, b, floating) == outcome(module, names, a, b, floating)).all()


def test_float_and_double_beside_each_other():
    source = (
        "__kernel void f(__global float *a, __global double *b) { a[0] = sin(a[1]) + rsqrt(4); b[0] = "
        "sin(b[1]); b[2] = nan(5UL); a[2] = nan(5u); }"
    )
    a, b = np.array([0, 1, 0], np.float32), np.array([0, 1, 0], np.float64)
    run_kernel(optimize(parse_source(source).module), "f", {"a": a, "b": b})
    assert a[0] == np.float32(np.sin(1)) + np.float32(0.5) and b[0] == np.sin(1.0) and np.isnan(a[2]) and np.isnan(b[2])


def test_places_are_those_of_the_call():
    source = "__kernel void f(__global float *a) {\n  a[0] = sin(a[1]);\n}\n"
    module = optimize(parse_source(source, "k.cl").module)
    assert "trig.cl" not in str([op.span for op in module.functions["f"].body.ops])


def test_a_function_of_the_program_comes_first():
    source = "float exp(float x) { return x + 1.0f; }\n__kernel void f(__global float *a) { a[0] = exp(a[1]); }\n"
    module = parse_source(source).module
    a = np.array([0, 41], np.float32)
    run_kernel(module, "f", {"a": a})
    assert a[0] == 42 and set(module.functions) == {"exp", "f"}


def test_smoothstep_takes_numbers_beside_a_vector():
    source = "__kernel void f(__global float2 *a, float low, float high) { a[0] = smoothstep(low, high, a[1]); }"
    a = np.array([0, 0, 1.5, 9], np.float32)
    run_kernel(parse_source(source).module, "f", {"a": a}, {"low": 1.0, "high": 2.0})
    assert a[:2].tolist() == [0.5, 1.0]


def test_a_half_goes_through_float():
    source = "__kernel void f(__global half *a) { a[0] = exp(a[1]); a[2] = pown(a[1], 3); }"
    a = np.array([0, 1.5, 0], np.float16)
    run_kernel(parse_source(source).module, "f", {"a": a})
    assert a[0] == np.float16(np.exp(1.5)) and a[2] == np.float16(1.5**3)


@pytest.mark.parametrize("floats", [np.float32, np.float64])
def test_the_sign_of_gamma(floats):
    source = """
__kernel void f(__global const T *a, __global T *out, __global int *sign, int n) {
  for (int i = 0; i < n; i++) { int s; out[i] = lgamma_r(a[i], &s); sign[i] = s; }
}
__kernel void two(__global const T2 *a, __global T2 *out, __global int2 *sign) { out[0] = lgamma_r(a[0], &sign[0]); }
""".replace("T", "float" if floats == np.float32 else "double")
    a = np.array([0.0, -0.0, 1.5, -0.5, -1.5, -2.5, -3.0, -1e-40, 1e30, -1e30, np.inf, np.nan], floats)
    out, sign = np.zeros(12, floats), np.zeros(12, np.int32)
    run_kernel(parse_source(source).module, "f", {"a": a, "out": out, "sign": sign}, {"n": 12})
    assert sign.tolist() == [1, -1, 1, -1, 1, -1, 0, -1, 1, 0, 1, 0]
    assert np.float32(out[2]) == np.float32(-0.12078224) and np.isinf(out[[0, 1, 6, 9, 10]]).all() and np.isnan(out[11])
    run_kernel(parse_source(source).module, "two", {"a": a[4:6], "out": out, "sign": sign})
    assert sign[:2].tolist() == [1, -1]


def test_the_coefficients_are_those_of_the_script():
    from hls.mathlib import coefficients

    for name, text in coefficients.headers().items():
        assert text == mathlib.source(name)


def test_library_files_declare_what_they_define():
    """Every definition that a program may call is found by the index."""
    for table in (mathlib.SIGNATURES, mathlib.DOUBLES):
        for file in {signature.file for signature in table.values()}:
            defined = set(re.findall(r"^\w+ ([a-z]\w*)\(", mathlib.source(file), re.MULTILINE))
            assert defined == {name for name, signature in table.items() if signature.file == file}
    assert mathlib.DOUBLES.keys() == mathlib.SIGNATURES.keys()
