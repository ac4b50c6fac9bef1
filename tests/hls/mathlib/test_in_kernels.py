"""The library as kernels see it: the compiler's reading of its source gives the bits that a C++ compiler's gives."""

import re

import numpy as np
import pytest

from hls import mathlib
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify_module
from hls.passes.pipeline import PipelineOptions, optimize
from tests.hls.mathlib.measure import BOUNDS, shared_library

SPECIAL = [0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
           0xff800000, 0x7fc00000, 0x3f7fffff, 0x3f800001, 0x4b000001, 0x00400000, 0x42aeac50, 0xc2aeac50, 0x40490fdb]


def kernel(names):
    """One kernel that computes each function of a[i] (and b[i], as it is or as an integer)."""
    lines = []
    for k, name in enumerate(names):
        signature = mathlib.SIGNATURES[name]
        second = {1: "", 2: ", c[i]" if signature.parameters[-1] == "int" else ", b[i]"}[len(signature.parameters)]
        lines.append(f"    out[i * {len(names)} + {k}] = {name}(a[i]{second});")
    return ("__kernel void f(__global const float *restrict a, __global const float *restrict b, __global const int *restrict c, "
            "__global float *restrict out, int n) {\n  for (int i = 0; i < n; i++) {\n" + "\n".join(lines) + "\n  }\n}\n")


def arguments(count):
    rng = np.random.default_rng(1)
    spread = rng.integers(0, 1 << 32, count // 2, dtype=np.uint64)
    middle = rng.uniform(-9, 9, count - count // 2).astype(np.float32).view(np.uint32)
    return np.concatenate([np.array(SPECIAL, np.uint64), spread, middle]).astype(np.uint32)


def outcome(module, names, a, b):
    out = np.zeros((len(a), len(names)), np.float32)
    buffers = {"a": a.view(np.float32), "b": b.view(np.float32), "c": b, "out": out}
    run_kernel(module, "f", buffers, {"n": len(a)})
    return out.view(np.uint32)


@pytest.mark.parametrize("file", sorted({signature.file for signature in mathlib.SIGNATURES.values()}))
def test_bits(file):
    names = [name for name in BOUNDS if mathlib.SIGNATURES[name].file == file]
    a = arguments(60)
    b = np.roll(a, 7)
    for k, name in enumerate(names):
        if mathlib.SIGNATURES[name].parameters[-1] == "int":
            b[k::3] = np.arange(len(b[k::3])) - 9
    module = parse_source(kernel(names)).module
    verify_module(module)
    got = outcome(module, names, a, b)
    for k, name in enumerate(names):
        want = [bits for bits, _ in shared_library().evaluate(name, [(int(x), int(y)) for x, y in zip(a, b, strict=True)])]
        for x, y, mine, theirs in zip(a, b, got[:, k], want, strict=True):
            both_nan = (mine & 0x7fffffff) > 0x7f800000 and (theirs & 0x7fffffff) > 0x7f800000
            assert both_nan or mine == theirs, f"{name}({x:#x}, {y:#x}) is {mine:#x} in IR and {theirs:#x} in C++"


@pytest.mark.parametrize("file", sorted({signature.file for signature in mathlib.SIGNATURES.values()}))
def test_optimization_keeps_the_bits(file):
    names = [name for name in BOUNDS if mathlib.SIGNATURES[name].file == file]
    a = arguments(12)
    module = parse_source(kernel(names)).module
    optimized = optimize(module, PipelineOptions(check=True))
    assert (outcome(optimized, names, a, np.roll(a, 3)) == outcome(module, names, a, np.roll(a, 3))).all()


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


def test_a_half_goes_through_float():
    source = "__kernel void f(__global half *a) { a[0] = exp(a[1]); a[2] = pown(a[1], 3); }"
    a = np.array([0, 1.5, 0], np.float16)
    run_kernel(parse_source(source).module, "f", {"a": a})
    assert a[0] == np.float16(np.exp(1.5)) and a[2] == np.float16(1.5**3)


def test_the_sign_of_gamma():
    source = """
__kernel void f(__global const float *a, __global float *out, __global int *sign, int n) {
  for (int i = 0; i < n; i++) { int s; out[i] = lgamma_r(a[i], &s); sign[i] = s; }
}
__kernel void two(__global const float2 *a, __global float2 *out, __global int2 *sign) { out[0] = lgamma_r(a[0], &sign[0]); }
"""
    a = np.array([0.0, -0.0, 1.5, -0.5, -1.5, -2.5, -3.0, -1e-40, 1e30, -1e30, np.inf, np.nan], np.float32)
    out, sign = np.zeros(12, np.float32), np.zeros(12, np.int32)
    run_kernel(parse_source(source).module, "f", {"a": a, "out": out, "sign": sign}, {"n": 12})
    assert sign.tolist() == [1, -1, 1, -1, 1, -1, 0, -1, 1, 0, 1, 0]
    assert out[2] == np.float32(-0.12078224) and np.isinf(out[[0, 1, 6, 9, 10]]).all() and np.isnan(out[11])
    run_kernel(parse_source(source).module, "two", {"a": a[4:6], "out": out, "sign": sign})
    assert sign[:2].tolist() == [1, -1]


def test_the_coefficients_are_those_of_the_script():
    from hls.mathlib import coefficients
    for name, text in coefficients.headers().items():
        assert text == mathlib.source(name)


def test_library_files_declare_what_they_define():
    """Every definition that a program may call is found by the index."""
    for file in {signature.file for signature in mathlib.SIGNATURES.values()}:
        defined = set(re.findall(r"^\w+ ([a-z]\w*)\(", mathlib.source(file), re.MULTILINE))
        assert defined == {name for name, signature in mathlib.SIGNATURES.items() if signature.file == file}
