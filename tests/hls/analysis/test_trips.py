"""How often loops run, against counting them one by one."""

import random

import pytest

from hls.analysis.trips import Trips, count_trips
from hls.ir import Builder, IntType, Op, Region, Value, evaluate
from hls.ir.types import BOOL

BITS = 5
COUNTER = IntType(BITS)


def counting(start: int, change: str, step: int, test: str, bound: int, after: bool, swapped: bool) -> Op:
    """``for (x = start; ; x = x change step) { body; if (!((after ? next x : x) test bound)) break; }``"""
    outside, body = Region(), Region()
    b = Builder(outside)
    enable, first = b.true(), b.const(start, COUNTER)
    body.args = [Value(COUNTER, "x", body, 0)]
    inner = Builder(body)
    by, to = inner.const(step, COUNTER), inner.const(bound, COUNTER)
    following = inner.value(change, body.args[0], by)
    tested = following if after else body.args[0]
    again = inner.value(test, *((to, tested) if swapped else (tested, to)))
    inner.op("yield", again, following)
    return b.op("loop", enable, first, results=[COUNTER], regions=[body])


def one_by_one(start, change, step, test, bound, after, swapped) -> Trips | None:
    x, types = start % 2**BITS, [COUNTER, COUNTER]
    for trip in range(1, 2**BITS + 3):
        following = evaluate(change, [x, step % 2**BITS], types, COUNTER, {})
        pair = [following if after else x, bound % 2**BITS]
        if not evaluate(test, pair[::-1] if swapped else pair, types, BOOL, {}):
            return Trips(trip, True)
        x = following
    return None


@pytest.mark.parametrize("test", ["slt", "sle", "ult", "ule", "eq", "ne"])
def test_counters(test):
    choose = random.Random(test)
    ended = 0
    for _ in range(600):
        loop = (choose.randrange(2**BITS), choose.choice(["add", "add", "sub", "mul"]), choose.choice([0, 1, 1, 2, 3, -1, -2, 7, 16]), test,
                choose.randrange(2**BITS), choose.random() < 0.5, choose.random() < 0.4)
        expected = one_by_one(*loop)
        assert count_trips(counting(*loop)) == expected, loop
        ended += expected is not None
    assert ended > 100


@pytest.mark.parametrize("limit", [9, 10])
def test_limit(limit):
    found = count_trips(counting(0, "add", 1, "slt", 10, True, False), limit)
    assert found == (Trips(10, True) if limit == 10 else None)
