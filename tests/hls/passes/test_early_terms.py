"""Sums that are carried instead of computed before a select, against the interpreter; and the initiation interval."""

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.options import Options
from hls.target.board import load_board

HEAD = "__kernel void k(__global const int *restrict a, __global int *restrict out, int n, int gap) {\n"
LOOPS = {
    "a peak that decays": ("int x = out[0]; for (int i = 0; i < n; i++) { x = max(a[i], x - 3); out[i] = x; }", 1),
    "an argument": ("int x = out[0]; for (int i = 0; i < n; i++) { x = max(a[i], x - gap); out[i] = x; }", 1),
    "more than one choice": (
        (
            "int x = 0; for (int i = 0; i < n; i++) { x = max(max(0, a[i]), x + gap); if (a[i] == 7) x = gap; out[i] = "
            "x; }"
        ),
        2,
    ),
    "of unsigned": (
        "uint x = 5; for (int i = 0; i < n; i++) { x = min((uint)a[i], x * 2 + 4000000000u); out[i] = x; }",
        2,
    ),
    "in a nest": (
        (
            "for (int i = 0; i < n; i++) { int x = a[i]; for (int j = 0; j < n; j++) { x = max(a[j], x - gap); if (j == "
            "i) out[i] = x; } }"
        ),
        2,
    ),
}


@pytest.mark.parametrize("form", LOOPS)
def test_loops(form):
    body, ii = LOOPS[form]
    module = parse_source(f"{HEAD}{body} }}", "k.cl", {}, []).module
    (kernel,), _ = plan_module(module, load_board("de5net"), Options())
    assert max(plan.ii for plan in kernel.plan.loops.values()) <= ii
    numbers = np.random.default_rng(3).integers(-1 << 31, 1 << 31, 24).astype(np.int32)
    numbers[5:20] >>= 28
    outputs = []
    for each in (module, type(module)({"k": kernel.function}, module.sources, module.channels)):
        for gap in (0, 3, 1 << 30, -5):
            out = numbers.copy()
            run_kernel(each, "k", {"a": numbers, "out": out}, {"n": 24, "gap": gap}, (1,))
            outputs.append(out.tolist())
    assert outputs[:4] == outputs[4:]
