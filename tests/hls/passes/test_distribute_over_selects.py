"""What follows a late choice of a recurrence is computed for both sides: fewer cycles, and the same numbers."""

import random

import numpy as np
import pytest

from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.passes.recurrence.distribute_over_selects import MOST_OPS, DistributeOverSelects
from tests.plans import planned

BOARD = "ecp5_onchip"
HEAD = (
    "__kernel void k(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n) "
    "{ int x = 0, y = 1; for (int i = 0; i < n; i++) { int p = a[i], q = b[i]; "
)
TAIL = "out[i] = x ^ y; } }"
#: bodies of a loop, with the intervals that the loop has without the pass and with it
BODIES = {
    "edit distance": ("x = min(min(x, p) + 1, q);", 2, 1),
    "time warping": ("x = q + min(x, p);", 2, 1),
    "a peak that decays": ("x = max(x, p) - q;", 2, 1),
}
EDGES = [0, 1, -1, 2**31 - 1, 2**31 - 2, -(2**31), -(2**31) + 1]


@pytest.fixture(autouse=True)
def _plans_of_this_test():
    """The pass is watched or taken out: plans are made anew."""
    planned.cache_clear()
    yield
    planned.cache_clear()


def interval(body: str) -> int:
    (at,) = planned(HEAD + body + TAIL, BOARD)["k"].plan.loops.values()
    return at.ii


@pytest.mark.parametrize("name", BODIES)
def test_it_saves_a_cycle(name, monkeypatch):
    body, without, with_it = BODIES[name]
    assert interval(body) == with_it
    planned.cache_clear()
    monkeypatch.setattr(DistributeOverSelects, "run", lambda self, function: function)
    assert interval(body) == without


def watched(source: str, monkeypatch) -> list:
    """The kernel before and after the pass."""
    pairs, run = [], DistributeOverSelects.run

    def watch(self, function):
        after = run(self, function)
        pairs.append((function, after))
        return after

    with monkeypatch.context() as patch:
        patch.setattr(DistributeOverSelects, "run", watch)
        planned(source, BOARD)
    return pairs


def results(function, a, b) -> bytes:
    buffers = {"a": bytearray(a.tobytes()), "b": bytearray(b.tobytes()), "out": bytearray(4 * len(a))}
    run_kernel(function, "k", buffers, {"n": len(a)}, (1,))
    return bytes(buffers["out"])


def assert_same(pairs, rng) -> bool:
    """The same numbers before and after, also for those at which sums wrap; whether anything changed."""
    changed = False
    for before, after in pairs:
        verify(after)
        for _ in range(3):
            a, b = (
                np.array([rng.choice(EDGES) if rng.random() < 0.4 else rng.randint(-9, 9) for _ in range(24)], np.int32)
                for _ in range(2)
            )
            assert results(before, a, b) == results(after, a, b)
        changed |= sum(1 for _ in before.body.ops[-2].regions[0].ops) != sum(
            1 for _ in after.body.ops[-2].regions[0].ops
        )
    return changed


@pytest.mark.parametrize("name", BODIES)
def test_the_same_numbers(name, monkeypatch):
    pairs = watched(HEAD + BODIES[name][0] + TAIL, monkeypatch)
    assert assert_same(pairs, random.Random(name))


def expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "x", "y", "p", "q", "3", "-1"])
    one, other, third = (expression(rng, depth - 1) for _ in range(3))
    return rng.choice(
        [
            f"min({one}, {other})",
            f"max({one}, {other})",
            f"({one} + {other})",
            f"({one} - {other})",
            f"({one} ^ {other})",
            f"({one} < {other} ? {third} : {one})",
            f"({one} == {other} ? {third} : {other})",
        ]
    )


def test_random_recurrences(monkeypatch):
    """Two values that depend on each other; some of the loops change."""
    rng, changed = random.Random(3), 0
    for _ in range(24):
        body = f"x = {expression(rng, 3)}; y = {expression(rng, 2)};"
        changed += assert_same(watched(HEAD + body + TAIL, monkeypatch), rng)
    assert changed >= 3


def test_work_is_limited(monkeypatch):
    """A chain of choices does not double with each of them."""
    body = "".join(f"x = x < p + {k} ? x + q : x - {k};" for k in range(12))
    pairs = watched(HEAD + body + TAIL, monkeypatch)
    for before, after in pairs:
        grown = len(after.body.ops[-2].regions[0].ops) - len(before.body.ops[-2].regions[0].ops)
        assert grown <= 6 * 2 * MOST_OPS


def test_a_call_without_waiting_may_decide():
    """Its answer is the second of its results."""
    source = (
        "channel int c; __kernel void w(int n) { for (int i = 0; i < n; i++) write_channel_intel(c, i); }"
        "__kernel void r(__global int *restrict out, int n) { int x = 0; for (int i = 0; i < n; i++) { bool there; "
        "int v = 0; if (x & 1) v = read_channel_nb_intel(c, &there); else there = false; "
        "x = there ? x + v : x - 3; x = min(x, i) + 1; out[i] = x; } }"
    )
    assert planned(source, BOARD)["r"].plan.loops
