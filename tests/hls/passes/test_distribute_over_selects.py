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
    "{ int x = n, y = 1; for (int i = 0; i < n; i++) { int p = a[i], q = b[i]; "
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


#: a kernel that takes and gives as it can: whether there is a value is the second result of the call
GATHERS = """
channel uchar in, gathered;
__kernel void gives(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(in, (uchar)a[i]);
}
__kernel void gathers(int n) {
    uint kept = 0, count = 0;
    int sent = 0;
    while (sent < n) {
        if (count < 3) {
            bool valid;
            uchar x = read_channel_nb_intel(in, &valid);
            if (valid) { kept = kept << 8 | x; count++; }
        }
        if (count > 0 && write_channel_nb_intel(gathered, (uchar)(kept >> (count - 1) * 8))) { count--; sent++; }
    }
}
__kernel void takes(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(gathered);
}
"""


@pytest.mark.parametrize("board", [BOARD, "de5net"])
def test_a_call_that_does_not_wait_may_decide(board):
    assert planned(GATHERS, board)["gathers"].plan.loops
