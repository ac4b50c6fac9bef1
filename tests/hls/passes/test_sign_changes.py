"""Products with 1 and -1: the same bytes for every kind of number, without a multiplier."""

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.frontend import parse_source
from hls.ir import walk
from hls.options import Options
from hls.passes.link.place_buffers import as_used
from hls.passes.run_stages import link_program
from hls.planning import plan_program
from hls.planning.iterate import Compilation
from hls.target.board import load_board
from tests.kernels.system import Launch
from tests.plans import planned

#: numbers of both signs: NaNs with and without a payload, infinities, zeros, a subnormal number, the largest one
BITS = [0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0x7F800000, 0, 1, 0x7F7FFFFF, 0x3F800000, 0x40490FDB]
NUMBERS = np.array([bits | sign << 31 for bits in BITS for sign in (0, 1)], np.uint32).view(np.float32)
TEXT = """__kernel void k(__global const float *restrict a, __global const float *restrict b, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) {
        float x = a[i], y = b[i];
        float sign = y < 0 ? -1.0f : 1.0f;
        o[i] = %s;
    }
}
"""
#: what is stored -> products left
STORED = {
    "x * sign": 0,
    "sign * x": 0,
    "x * -1.0f": 0,
    "x * sign * y": 1,
    "y - x * sign": 0,
    "x * (i & 1 ? sign : 1.0f)": 0,
    "sqrt(x * sign)": 0,
    "fma(x * sign, y, x * -1.0f)": 0,
    "y / (x * sign)": 0,
    "x * (i & 1 ? 2.0f : 1.0f)": 1,
    "fabs(x * sign)": 0,
    "as_float(as_int(x * sign) ^ 1)": 0,
    "(x * sign) * -1.0f": 0,
    "(x == x ? y : NAN) + 1.0f": 0,  # NaN where x is, which y does not tell
}


@pytest.mark.parametrize("stored", STORED)
def test_same_bytes_without_a_product(stored):
    module, _, _, function = passes_through(TEXT % stored, "constant-folding")
    a, b = (each.reshape(-1) for each in np.meshgrid(NUMBERS, NUMBERS))
    launch = Launch({"a": a, "b": b, "o": np.zeros(len(a), np.float32)}, {"n": len(a)})
    assert outcome(function, launch)["o"] == outcome(module, launch)["o"]
    assert sum(op.opcode == "fmul" for op in walk(function.body)) == STORED[stored]


def test_flushed_products_stay():
    """They replace subnormal numbers by zeros, which a change of sign does not."""
    board = load_board("de5net")
    linked = link_program(parse_source(TEXT % "x * sign", "k.cl", {}, []).module, flush=True)
    (kernel,) = plan_program(linked, Compilation(as_used(linked, board), Options(denorms_are_zero=True)))
    assert any(op.opcode == "fmul" for op in walk(kernel.function.body))


ROTATION = """__kernel void k(__global const float *restrict a, __global float *restrict o, int n)
{
    float c = 1, s = 0, z = 0.5f, f = 1;
    for (int i = 0; i < n; i++) {
        float d = z < 0 ? -1.0f : 1.0f;
        float t = c;
        c = c - s * d * f;
        s = t * d * f + s;
        z = z - d * a[i];
        f = f / 2;
    }
    o[0] = c + s + z;
}
"""


def test_a_rotation_waits_for_one_product_and_one_sum():
    kernel = planned(ROTATION)["k"]
    (loop,) = kernel.plan.loops.values()
    times = {op.opcode: kernel.plan.latency[op] for op in loop.place if op.opcode in ("fmul", "fadd", "fsub")}
    assert loop.ii <= times["fmul"] + times["fsub"] + 3  # and a register behind each, and the choice of the sign
