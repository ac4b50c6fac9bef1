"""Private arrays split into one array for each of their columns, against the interpreter."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import ArrayType, walk
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize

SOURCE = "__kernel void k(__global const int *restrict at, __global int *restrict out, int n) {{ {} }}"
FILL = "for (int t = 0; t < 8; t++) for (int d = 0; d < {0}; d++) a[t][d] = t * {0} + d; "
READ = "for (int t = 0; t < 8; t++) out[t] = a[t][0] * 100 + a[t][{}];"
#: what is done with the array, and how many elements the arrays have that become values
FORMS = {
    "rows of four": (
        "int a[8][4]; "
        + FILL.format(4)
        + "for (int i = 0; i < n; i++) for (int d = 0; d < 4; d++) a[at[i]][d] += i * d; "
        + READ.format(3),
        {8},
    ),
    "rows of three": (
        "int a[8][3]; "
        + FILL.format(3)
        + "for (int i = 0; i < n; i++) for (int d = 0; d < 3; d++) a[at[i]][d] += i * d; "
        + READ.format(2),
        {8},
    ),
    "one index": (
        (
            "int a[16]; for (int t = 0; t < 16; t++) a[t] = t;"
            "for (int i = 0; i < n; i++) { a[at[i] * 2 + 1] += i; a[2 * at[i]] ^= a[15 - 2 * at[i]]; }"
            "for (int t = 0; t < 8; t++) out[t] = a[t] + 100 * a[15 - t];"
        ),
        {8},
    ),
    "negative": (
        "int a[8][4]; "
        + FILL.format(4)
        + "for (int i = 0; i < n; i++) a[7 - at[i]][1] += a[7 - at[i]][3]; "
        + READ.format(1),
        {8},
    ),
    "any place": (
        "int a[8][4]; " + FILL.format(4) + "for (int i = 0; i < n; i++) a[at[i]][at[i] & 3] += i; " + READ.format(1),
        {32},
    ),
    "sums that wrap around": (
        (
            "uchar a[16]; for (int t = 0; t < 16; t++) a[t] = t;"
            "for (int i = 0; i < n; i++) { uchar p = (uchar)(at[i] * 86); a[p % 3] += i; a[p & 12] += 1; }"
            "for (int t = 0; t < 8; t++) out[t] = a[t];"
        ),
        {16},
    ),
}


def outputs(module):
    at, out = np.array([0, 4, 7, 1, 1, 3, 2, 7, 4], np.int32), np.zeros(8, np.int32)
    run_kernel(module, "k", {"at": at, "out": out}, {"n": 9}, (1,))
    return out.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    body, lengths = FORMS[form]
    module = parse_source(SOURCE.format(body)).module
    optimized = optimize(module, PipelineOptions(check=True))
    assert outputs(optimized) == outputs(module)
    (kernel,) = optimized.kernels
    arrays = [
        v for op in walk(kernel.body) for region in op.regions for v in region.args if isinstance(v.type, ArrayType)
    ]
    assert {v.type.length for v in arrays} == lengths
