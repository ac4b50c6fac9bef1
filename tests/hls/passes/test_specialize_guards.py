"""Conditional specialization by guards: carried values that are used only under a condition. The same bytes, and no
select in the recurrence."""

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from tests.kernels.system import Launch
from tests.plans import planned

HEAD = "__kernel void k(__global int *restrict a, __global int *restrict b, int n, int m)"

#: body -> initiation interval of the innermost loop on the default board
BODIES = {
    "for (int i = 0; i < n; i++) if (a[i] > a[i + 1]) { int x = a[i]; a[i] = a[i + 1]; a[i + 1] = x; }": 1,
    "int s[64]; for (int i = 0; i < 64; i++) s[i] = a[i]; for (int t = 0; t < n; t++) for (int i = 0; i + 1 < n - t; "
    "i++) "
    "if (s[i] > s[i + 1]) { int x = s[i]; s[i] = s[i + 1]; s[i + 1] = x; } for (int i = 0; i < 64; i++) b[i] = s[i];": 1,
    "for (int i = 0; i < n; i++) { if (a[i] & 1) a[i + 1] = a[i] + m; else b[i] = a[i + 1]; }": 1,
    "int v = m, w = 0, f = 0; for (int i = 0; i < n; i++) { int p = a[i], u = f & 1 ? v : p; f = p; v = f & 1 ? u + "
    "w : 0; w += b[i]; b[i] = u; }": 1,
    "int v = m; uchar f = 0; for (int i = 0; i < n; i++) { b[i] = f ? a[i] : v; f = a[i] > m; v = f ? 0 : v + i; } "
    "b[0] = v;": 1,
}


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_same_bytes_at_a_shorter_interval(body):
    text = f"{HEAD} {{ {body} }}"
    module = parse_source(text, "k.cl", {}, []).module
    (kernel,) = planned(text).values()
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (17, 0), (40, -7), (63, 5)):
        launch = Launch({name: rng.integers(-9, 9, 64).astype(np.int32) for name in "ab"}, {"n": n, "m": m})
        assert outcome(kernel.function, launch) == outcome(module, launch), (n, m)
    innermost = [
        loop for op, loop in kernel.plan.loops.items() if not any(inner.opcode == "loop" for inner in op.regions[0].ops)
    ]
    assert max(loop.ii for loop in innermost) == BODIES[body]
