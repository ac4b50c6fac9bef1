"""Trip counts of loops, compared with counting iterations."""

import random

import pytest

from hls.analysis.induction import trip_count as trips
from hls.analysis.induction.trip_count import Trips, count_trips
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
        loop = (
            choose.randrange(2**BITS),
            choose.choice(["add", "add", "sub", "mul"]),
            choose.choice([0, 1, 1, 2, 3, -1, -2, 7, 16]),
            test,
            choose.randrange(2**BITS),
            choose.random() < 0.5,
            choose.random() < 0.4,
        )
        expected = one_by_one(*loop)
        assert count_trips(counting(*loop), 2**BITS + 2) == expected, loop
        ended += expected is not None
    assert ended > 100


@pytest.mark.parametrize("limit", [9, 10])
def test_limit(limit):
    found = count_trips(counting(0, "add", 1, "slt", 10, True, False), limit)
    assert found == (Trips(10, True) if limit == 10 else None)


def random_loop(choose: random.Random) -> Op:
    """A loop of three carried numbers and a carried condition, each following from others, constants, or a number
    nobody knows."""
    outside, body = Region(), Region()
    outside.args = [Value(COUNTER, "unknown", outside, 0)]
    b, inner = Builder(outside), Builder(body)
    body.args = [*(Value(COUNTER, f"x{k}", body, k) for k in range(3)), Value(BOOL, "on", body, 3)]
    numbers = [*body.args[:3], *outside.args, inner.const(choose.randrange(4), COUNTER), inner.const(1, COUNTER)]
    for _ in range(3):
        numbers.append(inner.value(choose.choice(["add", "and", "mul", "sub"]), *choose.sample(numbers, 2)))
    tests = [inner.value(choose.choice(["slt", "ne", "ult"]), *choose.sample(numbers, 2)) for _ in range(2)]
    tests += [body.args[3], inner.value("and", *tests), inner.value("and", body.args[3], tests[0])]
    inner.op("yield", choose.choice(tests), *(choose.choice(numbers) for _ in range(3)), choose.choice(tests))
    starts = [choose.choice([*outside.args, b.const(choose.randrange(4), COUNTER)]) for _ in range(3)]
    return b.op("loop", b.true(), *starts, b.true(), results=[COUNTER] * 3 + [BOOL], regions=[body])


def test_what_is_forgotten_is_not_waited_for(monkeypatch):
    """Where nothing is known after some iterations, the same is found as by going through all of them."""
    loops = [random_loop(random.Random(seed)) for seed in range(600)]
    found = [count_trips(loop, 40) for loop in loops]
    assert sum(count is not None for count in found) > 20 and len({count.count for count in found if count}) > 2
    monkeypatch.setattr(trips, "_known_late", lambda body, carried, facts: dict.fromkeys(body.args, True))
    assert [count_trips(loop, 40) for loop in loops] == found


def test_a_condition_that_is_carried(monkeypatch):
    """``for (x = 0, on = true; on; x++) on = x < unknown`` has no count, which is seen without 4,096 iterations."""
    outside, body = Region(), Region()
    unknown = Value(COUNTER, "unknown", outside, 0)
    b, inner = Builder(outside), Builder(body)
    body.args = [Value(COUNTER, "x", body, 0), Value(BOOL, "on", body, 1)]
    following = inner.value("add", body.args[0], inner.const(1, COUNTER))
    inner.op("yield", body.args[1], following, inner.value("slt", body.args[0], unknown))
    loop = b.op("loop", b.true(), b.const(0, COUNTER), b.true(), results=[COUNTER, BOOL], regions=[body])
    evaluated = []
    monkeypatch.setattr(trips, "evaluate", lambda *arguments: evaluated.append(arguments) or evaluate(*arguments))
    assert count_trips(loop) is None and len(evaluated) < 10


def test_compiled_iterations_count_what_evaluated_ones_do(monkeypatch):
    """Of loops that carry three numbers, also of those that need what nobody knows."""
    loops = [random_loop(random.Random(seed)) for seed in range(900)]
    monkeypatch.setattr(trips, "_FEW", 10**9)
    one_at_a_time = [count_trips(loop, 40) for loop in loops]
    started, plain = [], trips.compiled_step
    monkeypatch.setattr(trips, "compiled_step", lambda *given: started.append(given[3]) or plain(*given))
    monkeypatch.setattr(trips, "_FEW", 1)
    assert [count_trips(loop, 40) for loop in loops] == one_at_a_time
    assert started.count(set()) > 50 and any(started)
    assert any(found and not found.exact for found in one_at_a_time)


def nest(depth: int, trips: int) -> Op:
    """A nest as one loop: each counter steps where all inside it start again; the exit is that of the outermost."""
    outside, body, wide = Region(), Region(), IntType(32)
    b, inner = Builder(outside), Builder(body)
    body.args = [Value(wide, f"i{k}", body, k) for k in range(depth)]
    carry, nexts = inner.true(), []
    for arg in body.args:
        following = inner.value("add", arg, inner.value("zext", carry, result=wide))
        last = inner.value("eq", following, inner.const(trips, wide))
        nexts.append(inner.value("select", last, inner.const(0, wide), following))
        carry = last
    inner.op("yield", inner.value("xor", carry, inner.true()), *nexts)
    return b.op("loop", b.true(), *(b.const(0, wide) for _ in range(depth)), results=[wide] * depth, regions=[body])


def test_a_long_loop_is_not_evaluated_operation_by_operation(monkeypatch):
    evaluated = []
    monkeypatch.setattr(trips, "evaluate", lambda *arguments: evaluated.append(arguments) or evaluate(*arguments))
    assert count_trips(nest(3, 12)) == Trips(12**3, True)
    assert count_trips(nest(6, 9)) is None  # more than 4,096
    assert len(evaluated) < 2 * trips._FEW * 30
