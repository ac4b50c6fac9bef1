"""Rows of global memory that are kept in an array while a loop runs, against the interpreter; and which ones are not."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize

#: what is done with the rows of c, and whether they are kept
FORMS = {
    "each row": ("for (int i = 0; i < 3; i++) for (int k = 0; k < n; k++) ROW c[i * 12 + j] += a[k * 12 + j];", True),
    "one row": ("for (int k = 0; k < n; k++) ROW c[j] = c[j] * a[k] + j;", True),
    "a part of a row": ("for (int k = 0; k < n; k++) for (int j = 3; j < 9; j++) c[m + j] -= a[k + j];", True),
    "downwards": ("for (int k = 0; k < n; k++) for (int j = 11; j >= 0; j--) c[j] = c[j] * 3 + a[k + j];", True),
    "every second element": ("for (int k = 0; k < n; k++) ROW c[2 * j + 1] += a[k + j];", True),
    "triangles": (
        "for (int i = 0; i < 12; i++) for (int k = 0; k < n; k++) for (int j = 0; j <= i; j++) c[i * 12 + j] += a[k];",
        True,
    ),
    "after another loop": ("ROW c[j] = 5; for (int k = 0; k < n; k++) ROW c[j] += a[k + j]; ROW c[j] ^= 1;", True),
    "beside another row": ("for (int k = 0; k < n; k++) ROW { c[j] += a[k + j]; d[k * 12 + j] = c[j]; }", True),
    "twice": ("for (int k = 0; k < n; k++) ROW { c[j] += a[k]; c[j] ^= a[k + j]; }", True),
    "sometimes not at all": ("for (int k = 0; k < n; k++) if (m > 2) ROW c[j] += a[k + j];", True),
    "in some iterations": ("for (int k = 0; k < n; k++) if (a[k] & 1) ROW c[j] += a[k + j];", False),
    "some elements": ("for (int k = 0; k < n; k++) ROW if (a[j] & 1) c[j] += a[k + j];", False),
    "a row for each": ("for (int k = 0; k < n; k++) ROW c[k * 12 + j] += a[j];", False),
    "a neighbour": ("for (int k = 0; k < n; k++) ROW c[j] = c[j + 1] + c[j];", False),
    "read elsewhere": ("for (int k = 0; k < n; k++) { ROW c[j] += a[k + j]; d[k] = c[k]; }", False),
    "any length": ("for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) c[j] += a[k + j];", False),
    "another length each time": ("for (int k = 0; k < 9; k++) for (int j = 0; j < k; j++) c[j] += a[k + j];", False),
    "until it is found": ("for (int k = 0; k < n; k++) for (int j = 0; j < 9 && a[j] > 9; j++) c[j] += k;", False),
    "too long": ("for (int k = 0; k < n; k++) for (int j = 0; j < 120; j++) c[j] += a[k];", False),
    "seldom": ("for (int k = 0; k < 3; k++) ROW c[j] += a[k + j];", False),
    "volatile": ("for (int k = 0; k < n; k++) ROW ((volatile __global int *)v)[j] += a[k + j];", False),
}


def outputs(module, n, m):
    rng = np.random.default_rng(7)
    arrays = {name: rng.integers(0, 50, 400).astype(np.int32) for name in "acdv"}
    run_kernel(module, "k", arrays, {"n": n, "m": m}, (1,))
    return {name: array.tolist() for name, array in arrays.items()}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    body, kept = FORMS[form]
    source = (
        "__kernel void k(__global const int *restrict a, __global int *restrict c, __global int *restrict d, "
        f"__global volatile int *restrict v, int n, int m) {{ {body} }}"
    ).replace("ROW", "\n#pragma unroll 1\nfor (int j = 0; j < 12; j++)")
    module = parse_source(source).module
    optimized = optimize(module, PipelineOptions(check=True, hazards=True, memory_latency=100))
    (kernel,) = optimized.kernels
    assert any("_row" in name for name in kernel.memories) == kept
    for n, m in ((0, 3), (1, 4), (5, 2), (12, 9)):
        assert outputs(module, n, m) == outputs(optimized, n, m)
