"""Conditional specialization by backedges: loops assume that they continue; their final values are unchanged."""

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.passes.scalar.conditional_specialization import ConditionalSpecialization, FactSource
from tests.kernels.system import Launch

HEAD = "__kernel void k(__global int *restrict a, __global int *restrict b, int n, int m)"


@pytest.mark.parametrize(
    "body",
    [
        # what the loop around carries is what the one inside leaves, as soon as it assumes that it goes on
        (
            "int v = n, i = 0, j = 0; while (i++ < 11) { if ((v ^ 1) & 1) break; L do { a[6] = v; v += 1; } while (++j < "
            "m); } b[0] = v; b[1] = i; b[2] = j;"
        ),
        (
            "int v = n, j; for (int i = 0; i < 9; i++) { if (v > m) break; L for (j = i; j < 7; j++) { if (v & 8) break; "
            "v += 3; } } b[0] = v; b[1] = j;"
        ),
        (
            "int v = n, i = 0; while (v < 40) { if (a[i] == m) break; L while (v & 3) { v += 1; i++; } v += 1; } b[0] = "
            "v; b[1] = i;"
        ),
    ],
    ids=range(3),
)
def test_same_numbers(body):
    text = f"{HEAD} {{ {body.replace('L ', chr(10) + '#pragma unroll 3' + chr(10))} }}"
    module, before, after, last = passes_through(text, ConditionalSpecialization(FactSource.BACKEDGES))
    rng = np.random.default_rng(1)
    for n, m in ((1, 1), (0, 3), (3, 0), (5, -7), (1, 200), (-9, 5)):
        launch = Launch({name: rng.integers(-9, 9, 64).astype(np.int32) for name in "ab"}, {"n": n, "m": m})
        for stage in (before, after, last):
            assert outcome(stage, launch) == outcome(module, launch), (n, m)
