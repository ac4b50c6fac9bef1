"""Conditional arithmetic on floats without a select in the recurrence: the same bits, and the interval of the
operation."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.interpreter import run_kernel
from hls.options import Options
from hls.passes.link.place_buffers import as_used
from hls.passes.run_stages import link_program
from hls.planning import plan_program
from hls.planning.iterate import Compilation
from hls.recursion import deep_recursion
from hls.target.board import load_board

#: body of the loop, and cycles of its recurrence on ecp5_onchip: an addition takes 7, with a select 8; one less where
#: subnormal numbers are flushed, if no second figure says how many then
KERNELS = {
    "if (v > 0) s += v;": (6, 6),
    "if (v > 0) s += v; else if (v < -1) s -= v * v;": (6, 6),
    "if (v > 0) s -= v; else s += 3;": (6, 6),
    "if (v > 0) { s += v; s -= 1; s += w; }": (18, 18),
    "if (v <= 0 || isnan(v)) ; else s -= v;": (6, 6),
    "if (v > 0) s = fma(v, w, s);": 10,
    "if (i == 5) s = -0.0f; if (v > 0) s += v;": 7,
    "if (v > 0) s *= v;": (6, 6),
    "if (v > 0) s *= v; else s *= -w;": (6, 6),
    "if (v > 0) s /= v;": (18, 16),
    "if (v > 0) { s = s * v + w; }": (12, 11),
    "if (v > 0) s *= v; else s /= w;": (19, 17),  # two operations
    "if (s < v) s += v;": (7, 7),  # the condition is on the recurrence
    "if (i == 3) s = w; if (v > 0) s += v;": 8,  # the sum may be any number of memory
}
#: NaNs with and without a payload, subnormal numbers, zeros of both signs
SPECIAL = np.array(
    [0x7FC00001, 0x7F800001, 0xFFC00000, 1, 0x807FFFFF, 0, 0x80000000, 0x7F800000, 0xFF800000, 0x00800000], np.uint32
).view(np.float32)


def compiled(body: str, flush: bool):
    text = f"""__kernel void k(__global const float *restrict a, __global const float *restrict b, __global float *restrict o,
        int n) {{
        float s = 0;
        for (int i = 0; i < n; i++) {{ float v = a[i], w = b[i]; {body} o[i] = s; }} }}"""
    board, module = load_board("ecp5_onchip"), parse_source(text).module
    with deep_recursion():
        linked = link_program(module, flush=flush)
        (kernel,) = plan_program(linked, Compilation(as_used(linked, board), Options(denorms_are_zero=flush)))
    return linked, kernel


@pytest.mark.parametrize("flush", [False, True], ids=["subnormal", "flushed"])
@pytest.mark.parametrize("body", KERNELS)
def test_bits_and_interval(body, flush):
    linked, kernel = compiled(body, flush)
    (plan,) = kernel.plan.loops.values()
    cycles = KERNELS[body]
    assert plan.ii == (cycles[flush] if isinstance(cycles, tuple) else cycles - flush)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        a, b = (rng.choice(np.concatenate([SPECIAL, rng.normal(size=10).astype(np.float32)]), 24) for _ in range(2))
        found = [np.zeros(24, np.float32) for _ in range(2)]
        for module, out in zip((linked, Module({"k": kernel.function}, {}, {})), found, strict=True):
            run_kernel(module, "k", {"a": a.view(np.uint8), "b": b.view(np.uint8), "o": out.view(np.uint8)}, {"n": 24})
        assert found[0].tobytes() == found[1].tobytes()
