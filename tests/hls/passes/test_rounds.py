"""Rounds of digests, against the interpreter; and the initiation interval."""

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.options import Options
from hls.target.board import load_board

ROUND = """static uint turned(uint x, int n) { return x >> n | x << 32 - n; }
__kernel void k(__global const uint *restrict w, __global uint *restrict out, int n) {
    uint a = out[0], b = out[1], c = out[2], d = out[3], e = out[4], f = out[5], g = out[6], h = out[7];
    for (int i = 0; i < n; i++) { BODY }
    out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = h;
}"""
#: a round, and the cycles that it may take at 240 MHz
ROUNDS = {
    "a part that two sums share": (
        (
            "uint t = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (e & f ^ ~e & g) + w[i];"
            "uint u = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + (a & b ^ a & c ^ b & c);"
            "h = g; g = f; f = e; e = d + t; d = c; c = b; b = a; a = t + u;"
        ),
        2,
    ),
    "what is there from the beginning": (
        (
            "uint t = turned(a, 5) + (b & c | ~b & d) + e + w[i] + 0x5a827999; e = d; d = c; c = turned(b, 30); b = a; a "
            "= t;"
        ),
        1,
    ),
    "a sum of a sum": ("a = turned(a + b, 3) + (c ^ a) + d + w[i]; b ^= a + c; c += d; d = turned(d, 1);", 3),
}


@pytest.mark.parametrize("form", ROUNDS)
def test_rounds(form):
    body, ii = ROUNDS[form]
    module = parse_source(ROUND.replace("BODY", body), "k.cl", {}, []).module
    (kernel,), _ = plan_module(module, load_board("de5net"), Options())
    (plan,) = kernel.plan.loops.values()
    assert plan.ii <= ii
    numbers = np.random.default_rng(3).integers(0, 1 << 32, 28, dtype=np.uint32)
    outputs = []
    for each in (module, type(module)({"k": kernel.function}, module.sources, module.channels)):
        out = numbers[:8].copy()
        run_kernel(each, "k", {"w": numbers[8:], "out": out}, {"n": 20}, (1,))
        outputs.append(out.tolist())
    assert outputs[0] == outputs[1]
