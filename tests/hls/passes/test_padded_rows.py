"""Rows padded to a power of two: which arrays are padded, and that every byte is found at its address."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.passes.run_stages import optimize

HEAD = "__kernel void k(__global const int *restrict a, __global int *restrict o) {\n"
APART = "int x = (a[i] & 1023) % 100, y = (a[i] >> 10 & 1023) % 100;"


def kernel(declared: str, stored: str, loaded: str, more: str = "") -> str:
    return f"""{HEAD} {declared}
    for (int i = 0; i < 300; i++) {{ o[i] = 0; }} {more}
    for (int i = 0; i < 64; i++) {{ {APART} {stored} }}
    for (int i = 0; i < 64; i++) {{ {APART} o[i] = {loaded}; }} }}"""


TWO = "t[0][x] = i; t[1][y] = a[i];"
FILL = "for (int k = 0; k < {0}; k++) {{\n#pragma unroll 1\nfor (int i = 0; i < 100; i++) t[k][i] = k * i; }}"
CASES = {  # elements behind the padding, and whether they are more than before
    "rows of their own": (kernel("int t[2][100];", TWO, "t[0][i] - t[1][x]"), 256),
    "any row is loaded": (kernel("int t[3][100];", TWO, "t[a[i] & 1][y] + t[2][x]", FILL.format(3)), 384),
    "in steps of two rows": (
        kernel(
            "short t[6][100];",
            "t[(a[i] & 1) * 2][x] = i; t[(a[i] & 1) * 2 + 3][y] = 1;",
            "t[0][y] + t[5][x]",
            FILL.format(6),
        ),
        768,
    ),
    "elements of a power of two": (kernel("int t[2][128];", TWO, "t[0][i] - t[1][x]"), 256),
    "one distance": (kernel("int t[2][100];", "t[0][x] = i; t[1][x] = a[i];", "t[0][x]"), 200),
    "over all rows": (kernel("int t[2][100];", TWO, "t[0][x + i]"), 200),
    "where the program says which banks": (
        kernel("int t[2][100] __attribute__((numbanks(2)));", TWO, "t[0][i] - t[1][x]"),
        200,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_rows(case):
    text, elements = CASES[case]
    module = parse_source(text).module
    optimized = optimize(module)
    (memory,) = (m for m in optimized.functions["k"].memories.values() if m.space == "private")
    assert memory.length == elements
    a = np.random.default_rng(3).integers(0, 1 << 20, 64).astype(np.int32)
    found = []
    for one in (module, optimized):
        o = np.zeros(300, np.int32)
        run_kernel(one, "k", {"a": a.view(np.uint8), "o": o.view(np.uint8)}, {})
        found.append(o)
    assert np.array_equal(*found)
