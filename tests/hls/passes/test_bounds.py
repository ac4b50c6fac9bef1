"""Carried values that conditions bound: as narrow as the bounds, and the same bytes."""

import random

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from hls.ir import walk
from hls.passes.run_stages import optimize
from tests.kernels.system import Launch
from tests.repetitions import sampled

TEXT = "__kernel void k(__global const int *restrict a, __global int *restrict b, int n, int m)\n{\n    %s\n}\n"
LOOP = "for (int i = 0; i < n; i++) { %s b[i] = x; }"

#: declarations, and what is done in each iteration -> bits that x is carried with
BODIES = {
    ("int x = 0;", "x += a[i] & 255; if (x >= 1000) x -= 1000;"): 10,
    ("uint x = 1;", "x += (uchar)a[i]; if (x >= 65521) x -= 65521;"): 16,
    ("int x = 0;", "if (++x == 100) x = 0;"): 7,
    ("int x = 99;", "if (x-- == 0) x = 99;"): 7,
    ("ushort x = 5;", "x = x ? x - 1 : a[i] & 63;"): 6,
    ("int x = 8;", "if ((a[i] & 1) && x > 0) x--; else if ((a[i] & 2) && x < 8) x++;"): 4,
    ("int x = 0;", "x += a[i] & 3; if (x > 7) x -= 8; else if (x == 5) x = 2;"): 3,
    # nothing is known of what it begins with, of how far it goes, or of what it comes past
    ("int x = m;", "x += a[i] & 255; if (x >= 1000) x -= 1000;"): 32,
    ("int x = 0;", "x += a[i] & 255; if (x >= 1000) x -= 999 + (m & 1) * 2000;"): 32,
    ("int x = 0;", "x += a[i] & 2047; if (x >= 1000) x -= 1000;"): 32,
    ("int x = 0;", "x += 3; if (x == 100) x = 0;"): 32,
}


@pytest.mark.parametrize("parts", BODIES, ids=range(len(BODIES)))
def test_as_narrow_as_the_bounds(parts):
    function = check(f"{parts[0]} {LOOP % parts[1]}")
    (loop,) = (op for op in walk(function.body) if op.opcode == "loop")
    assert [v.type.bits for v in loop.regions[0].args if v.name == "x"] == [BODIES[parts]]


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_random_choices(seed):
    rng = random.Random(seed)
    kinds = [rng.choice(["int", "uint", "uchar", "short"]) for _ in range(2)]
    begin = " ".join(f"{kind} {name} = {rng.choice(['0', '1', '7', 'm', '-1'])};" for kind, name in zip(kinds, "xy"))
    check(f"{begin} {LOOP % ' '.join(statement(rng) for _ in range(3))} b[0] += y;")


def statement(rng: random.Random) -> str:
    """A step of x or y under a condition that bounds it, or seems to."""
    name, other = rng.sample("xy", 2)
    number, step = rng.choice([0, 1, 5, 8, 100]), rng.choice(["1", "3", "(a[i] & 7)", str(rng.randrange(1, 12))])
    condition = (
        f"{name} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} "
        f"{rng.choice([str(number), str(number), f'{number} + (a[i] & 3)'])}"
    )
    act = rng.choice([f"{name} -= {number or 1};", f"{name} += {step};", f"{name} = {number};", f"{name} = {other};"])
    last = rng.choice(["", f"else {name} -= {step};", f"else {name} += 1;"])
    return rng.choice([f"if ({condition}) {act} {last}", f"{name} += {step}; if ({condition}) {act} {last}"])


def check(body: str):
    """The optimized kernel, which does what the source does."""
    module = parse_source(TEXT % body, "k.cl", {}, []).module
    optimized = optimize(module)
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (300, -7), (300, 70000)):
        launch = Launch(
            {"a": rng.integers(-(1 << 31), 1 << 31, 300).astype(np.int32), "b": np.zeros(300, np.int32)},
            {"n": n, "m": m},
        )
        assert outcome(optimized, launch) == outcome(module, launch), (n, m)
    (function,) = optimized.kernels
    return function
