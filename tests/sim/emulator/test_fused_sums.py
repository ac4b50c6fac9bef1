"""Fused sums in the emulator: the bits of the golden function, for sums that cancel, are truncated, overflow or
contain special numbers."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.passes.run_stages import link_program
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64
from rtl_lib.fp.sum import FloatSum, FloatSumParams
from sim.emulator import Emulator
from tests.rtl_lib.fp.float_vectors import random_sums
from tests.sim.emulator.both import ONE_ITEM

TERMS = ("+*", "-*", "+", "-")
FORMATS = {
    "half": (BINARY16, np.float16, np.uint16),
    "float": (BINARY32, np.float32, np.uint32),
    "double": (BINARY64, np.float64, np.uint64),
}


def kernel(t):
    return (
        f"__kernel void of_{t}(__global const {t} *a, __global {t} *out, int n) {{ for (int i = 0; i < n; i++) {{ "
        f"__global const {t} *x = a + 6 * i;\n"
        f"  out[i] = x[0] * x[1] - x[2] * x[3] + x[4] - x[5]; }} }}\n"
    )


@pytest.fixture(scope="module")
def emulator():
    return Emulator(link_program(parse_source("".join(map(kernel, FORMATS))).module, True))


@pytest.mark.parametrize("t", FORMATS)
def test_bits(emulator, t):
    fmt, floats, words = FORMATS[t]
    vectors = random_sums(fmt, 6, 4000, 3)
    out = np.zeros(len(vectors), floats)
    emulator.run(
        f"of_{t}", {"a": np.array(vectors, words).reshape(-1).view(floats), "out": out}, {"n": len(vectors)}, ONE_ITEM
    )
    params = FloatSumParams(TERMS, fmt)
    for operands, got in zip(vectors, out.view(words).tolist(), strict=True):
        assert got == FloatSum.golden(params, *operands), [hex(x) for x in operands]
