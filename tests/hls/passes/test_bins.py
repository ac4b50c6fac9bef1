"""Loops that modify one of a few elements in registers: the same bytes at an interval of 1, and in memory where that
is impossible."""

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from tests.kernels.system import Launch
from tests.plans import planned

TEXT = """__kernel void k(__global const int2 *restrict a, __global int *restrict b, int n, int m)
{
    int s[4] = {0}, t[4] = {1, 2, 3, 4};
    uchar u[8] = {0};
    for (int i = 0; i < n; i++) {
        int2 v = a[i];
        %s
    }
    #pragma unroll
    for (int k = 0; k < 4; k++) { b[k] = s[k]; b[4 + k] = t[k]; b[8 + k] = u[k]; b[12 + k] = u[4 + k]; }
}
"""

#: what is done in each iteration -> its interval on the default board
BODIES = {
    "s[v.x & 3] += v.y; if (v.y > m) t[v.x & 3]++; u[v.x & 7] ^= v.y;": 1,
    "s[v.x & 3] = v.y - s[v.x & 3]; if (v.y > m) t[v.y & 3] -= v.x;": 1,
    "s[v.x & 3] += v.y; s[v.y & 3] += v.x;": 2,
    "if (v.x > m) s[v.x & 3] += v.y; if (v.y > m) s[v.y & 3] += v.x; b[16 + i] = s[0];": 2,
    # places and values that are carried, too, and more places than elements
    "s[t[0] & 3] += v.y; t[0] += v.x;": None,
    "s[v.x & 3] += s[v.y & 3];": None,
    "if ((v.x & 7) < 4) s[v.x & 7] += v.y; t[v.x & 3] *= 3;": None,
}


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_same_bytes_at_a_shorter_interval(body):
    text = TEXT % body
    module = parse_source(text, "k.cl", {}, []).module
    (kernel,) = planned(text).values()
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (300, -7), (300, 1 << 30)):
        launch = Launch(
            {"a": rng.integers(-(1 << 31), 1 << 31, 600).astype(np.int32), "b": np.zeros(400, np.int32)},
            {"n": n, "m": m},
        )
        assert outcome(kernel.function, launch) == outcome(module, launch), (n, m)
    assert BODIES[body] in (None, *(loop.ii for loop in kernel.plan.loops.values()))
