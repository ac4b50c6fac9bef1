"""-cl-denorms-are-zero: emulator, interpreter and the parts' golden functions treat the same numbers as zeros."""

from dataclasses import replace

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import walk
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import link_program, optimize
from hls.planning.schedule.parts import part_for
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64
from sim.emulator import Emulator
from tests.rtl_lib.fp.float_vectors import random_triples, specials
from tests.sim.emulator.both import Run, emulated, interpreted

TYPES = {
    "half": ("f2", BINARY16),
    "float": ("f4", replace(BINARY32, subnormals=False)),
    "double": ("f8", replace(BINARY64, subnormals=False)),
}
OPERATIONS = (
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "fma(x, y, z)",
    "sqrt(x)",
    "x * (T)1",
    "x + (T)-0.0f",
    "x / (T)4",
    "x * y - z * x",
)


def kernel(t):
    body = " ".join(
        f"r[{len(OPERATIONS)} * i + {k}] = {operation.replace('(T)', f'({t})')};"
        for k, operation in enumerate(OPERATIONS)
    )
    return f"""__kernel void of_{t}(__global const {t} *a, __global {t} *r, int n) {{
        for (int i = 0; i < n; i++) {{ {t} x = a[3 * i], y = a[3 * i + 1], z = a[3 * i + 2]; {body} }} }}
    """


def module(fpc):
    text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + "".join(
        map(kernel, TYPES)
    )
    return link_program(parse_source(text, "k.cl").module, fpc, flush=True)


@pytest.fixture(scope="module", params=[False, True], ids=["", "fused"])
def program(request):
    linked = module(request.param)
    return linked, Emulator(linked), request.param


def goldens(function):
    """What the parts compute that the kernel's operations would be, by opcode."""
    found = {
        op.opcode: part_for(op, 18)
        for op in walk(function.body)
        if op.opcode in ("fadd", "fsub", "fmul", "fdiv", "fma", "fsqrt", "fsum")
    }
    return {
        name: lambda *bits, choice=choice: choice.part.golden(choice.params, *bits) for name, choice in found.items()
    }


@pytest.mark.parametrize("t", TYPES)
def test_same_bits_everywhere(program, t):
    linked, emulator, fused = program
    kind, fmt = TYPES[t]
    few = specials(fmt)
    triples = random_triples(fmt, 120, 4) + [
        (a, b, few[(3 * k) % len(few)]) for k, a in enumerate(few[::2]) for b in few[::3]
    ]
    a = np.array(triples, f"u{kind[1]}").view(kind)
    run = Run(f"of_{t}", {"a": a, "r": np.zeros((len(triples), len(OPERATIONS)), kind)}, {"n": len(triples)})
    here = emulated(emulator, run)
    optimized = optimize(linked, PipelineOptions())
    assert here == interpreted(linked, run) == interpreted(optimized, run)
    part = goldens(linked.functions[f"of_{t}"])
    rows = np.frombuffer(here["r"], f"u{kind[1]}").reshape(len(triples), -1)
    for (x, y, z), row in zip(triples, rows.tolist(), strict=True):
        want = [
            part["fadd"](x, y),
            part["fsub"](x, y),
            part["fmul"](x, y),
            part["fdiv"](x, y),
            part["fma"](x, y, z),
            part["fsqrt"](x),
        ]
        assert row[:6] == want, [hex(bits) for bits in (x, y, z)]
        assert row[6] == part["fmul"](x, fmt.bias << fmt.mantissa) and row[7] == part["fadd"](x, fmt.zero(True))
        assert row[9] == (
            part["fsum"](x, y, z, x) if fused else part["fsub"](part["fmul"](x, y), part["fmul"](z, x))
        ), [hex(bits) for bits in (x, y, z)]


def test_only_arithmetic_flushes():
    """Comparisons, conversions and what looks at bits see the number; so does all without the option."""
    text = """__kernel void k(__global const float *x, __global int *r, __global float *s) {
        r[0] = x[0] > 0; r[1] = convert_int_rtp(x[0]); s[0] = fabs(-x[0]); s[1] = fmin(x[0], 1.0f); s[2] = x[0] + 0.0f; }"""
    linked = link_program(parse_source(text, "k.cl").module, flush=True)
    x, r, s = np.array([1e-40], "f4"), np.zeros(2, "i4"), np.ones(3, "f4")
    found = emulated(Emulator(linked), Run("k", {"x": x, "r": r, "s": s}))
    assert np.frombuffer(found["r"], "i4").tolist() == [1, 1] and np.frombuffer(found["s"], "f4").tolist() == [
        x[0],
        x[0],
        0,
    ]
    found = emulated(Emulator(link_program(parse_source(text, "k.cl").module)), Run("k", {"x": x, "r": r, "s": s}))
    assert np.frombuffer(found["s"], "f4").tolist() == [x[0]] * 3
