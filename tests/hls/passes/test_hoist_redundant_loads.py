"""Hoisting of loads that are made on every path: to before the conditions and loops under which the address is also
read, unless something writes it."""

import numpy as np
import pytest
from test_transforms import compiled, same

from hls.ir import memory_name, walk

HEAD = (
    "kernel void k(global const int *restrict a, global int *restrict b, global int *c, global volatile int "
    "*restrict d, int n)"
)


@pytest.mark.parametrize(
    "body, loads",
    [
        ("while (q > 0 && a[q] != c[i]) q--; if (a[q] == c[i]) q++; b[i] = q;", 1),
        # it may be another value by then
        ("while (q > 0 && a[q] != c[i]) q--; c[9] = 3; if (a[q] == c[i]) q++; b[i] = q;", 2),
        ("while (q > 0 && a[q] != c[i]) { c[q] = 1; q--; } if (a[q] == c[i]) q++; b[i] = q;", 3),
        ("while (q > 0 && a[q] != c[i]) q--; q += c[q]; q &= 7; b[i] = q;", 2),  # beside another place
        ("int s = 5; if (q & 1) s = c[i + 2]; q = s + c[i + 2] & 7; b[i] = q;", 1),
        ("int s = 5; if (q & 1) s = d[i]; q = s + d[i] & 7; b[i] = q;", 0),  # of d, as often as the program says
        ("int s = 5; if (q & 1) for (int j = 0; j < c[i]; j++) s += a[j]; q = s + c[i] & 7; b[i] = q;", 1),
    ],
)
def test_loads(body, loads):
    module, function = compiled(f"{HEAD} {{ int q = 3; for (int i = 0; i < n; i++) {{ {body} }} }}")
    assert sum(op.opcode == "load" and memory_name(op) == "c" for op in walk(function.body)) == loads
    for n in (0, 1, 2, 7):
        rng = np.random.default_rng(n)
        same(module, function, {name: rng.integers(0, 4, 96).astype(np.int32) for name in "abcd"}, {"n": n})
