"""Selects by the sign of a sum: the same bytes at a smaller interval, and not where a sum may overflow."""

import random

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from tests.kernels.system import Launch
from tests.plans import planned

TEXT = """__kernel void k(__global const int *restrict a, __global int *restrict b, int n, int m)
{
    %s
    for (int i = 0; i < n; i++) {
        %s
        b[i] = x;
    }
}
"""

#: declarations, and what is done in each iteration -> initiation interval on the default board
BODIES = {
    ("int x = 0;", "x += a[i] & 255; if (x >= 1000) x -= 1000;"): 1,
    ("int x = 0;", "x += a[i] & 255; if (x > 999) x -= 1000;"): 1,
    ("int x = 0;", "x -= a[i] & 255; if (x < 0) x += 1000;"): 1,
    ("int x = 0;", "int step = a[i] & 255; x = x + step < 1000 ? x + step : x + step - 1000;"): 1,
    (
        "uint x = 1, y = 0;",
        "x += (uchar)a[i]; if (x >= 65521) x -= 65521; y += x; if (y >= 65521) y -= 65521; x ^= y & 1;",
    ): None,
    ("uint s = 1, x = 0;", "s += (uchar)a[i]; if (s >= 65521) s -= 65521; x += s; if (x >= 65521) x -= 65521;"): 1,
    # the sums may wrap around
    ("int x = m;", "x += a[i]; if (x >= 1000) x -= 1000;"): 2,
    ("uint x = m;", "x += a[i]; if (x > 1000u) x -= 1000;"): 2,
}


@pytest.mark.parametrize("parts", BODIES, ids=range(len(BODIES)))
def test_same_bytes_at_a_shorter_interval(parts):
    (loop,) = check(*parts).plan.loops.values()
    assert BODIES[parts] in (None, loop.ii)


@pytest.mark.parametrize("seed", range(8))
def test_random_bounds(seed):
    rng = random.Random(seed)
    kind, bound = rng.choice(["int", "uint", "short", "uchar"]), rng.choice([100, 128, 1 << 6, 77])
    compare, step = (
        rng.choice(["<", "<=", ">", ">="]),
        rng.choice(["(a[i] & 15)", "(a[i] & 15) - 3", "(char)a[i]", "5"]),
    )
    either = [
        f"x {rng.choice('+-')}= {rng.choice([bound, bound - 1, 3])};",
        rng.choice(["", "x += 1;", f"x = {rng.randrange(90)};"]),
    ]
    rng.shuffle(either)
    check(
        f"{kind} x = {rng.choice(['0', '50', 'm'])};",
        f"x += {step}; if (x {compare} {bound}) {{ {either[0]} }} else {{ {either[1]} }}",
    )


def check(begin: str, body: str):
    """The compiled kernel, which does what the source does."""
    text = TEXT % (begin, body)
    module = parse_source(text, "k.cl", {}, []).module
    (kernel,) = planned(text).values()
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (300, -7), (300, 2147483000)):
        launch = Launch(
            {"a": rng.integers(-(1 << 31), 1 << 31, 300).astype(np.int32), "b": np.zeros(300, np.int32)},
            {"n": n, "m": m},
        )
        assert outcome(kernel.function, launch) == outcome(module, launch), (n, m)
    return kernel
