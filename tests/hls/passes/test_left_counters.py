"""Final values of loop counters are computed without the loop: the same numbers, and no loop returns them."""

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.ir import uses, walk
from tests.kernels.system import Launch

HEAD = "__kernel void k(__global int *restrict a, __global int *restrict b, int n, int m)"


@pytest.mark.parametrize(
    "body, asked",
    [
        (
            (
                "int w = 0; for (int i = 0; i < n; i++) { L for (int j = 0; j < 4; j++) a[w++] = b[i]; L for (int j = 3; "
                "j > 0; j--) a[w++] = j; } b[0] = w;"
            ),
            1,
        ),
        ("int w = n, j; L for (j = 1; j < 12; j += 3) { a[j] = w; w -= 2; } b[0] = w; b[1] = j;", 0),
        ("uint w = n; long v = m; L for (int j = 0; j < 300; j++) { w += 7; v += 5; } b[0] = w; b[1] = v;", 0),
        (
            (
                "int w = 0; for (int i = 0; i < n; i++) if (b[i] & 1) { L for (int j = 0; j < 3; j++) a[w++] = i; } b[0] "
                "= w;"
            ),
            1,
        ),
        ("int w = 0; for (int i = 0; i < n; i++) w += 3; b[0] = w;", 1),
        ("int w = 0; L for (int j = 0; j < 9; j++) { w += 3; if (b[j] == m) break; } b[0] = w;", 1),
    ],
    ids=range(6),
)
def test_same_numbers(body, asked):
    """``asked``: loops that are, as nobody knows how often they run."""
    text = f"{HEAD} {{ {body.replace('L for', chr(10) + '#pragma unroll 1' + chr(10) + 'for')} }}"
    module, before, after, last = passes_through(text, "final-value-replacement")
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (3, 0), (5, -7), (1, 200)):
        launch = Launch({name: rng.integers(-9, 9, 64).astype(np.int32) for name in "ab"}, {"n": n, "m": m})
        for stage in (before, after, last):
            assert outcome(stage, launch) == outcome(module, launch), (n, m)
    used = uses(after.body)
    assert sum(any(v in used for v in op.results) for op in walk(after.body) if op.opcode == "loop") == asked
