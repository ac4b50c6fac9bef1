"""InvocationWindow against the list of tokens inside."""

import random

import pytest

from rtl_lib.invocation_window import InvocationWindow

from .bench import simulate


@pytest.mark.parametrize("limit, ahead", [(1, 0), (3, 0), (6, 0), (6, 2), (20, 1)])
def test_admits(limit, ahead):
    """Rules 1 to 4: no token enters beside one that it depends on, and any enters that follows such tokens only. A
    token that the window holds back although none of the previous invocation concerns it waits for an older one."""
    rng = random.Random(limit + 100 * ahead)
    dut = InvocationWindow(limit, ahead)

    async def bench(ctx):
        inside, invocation, number, length, seen = [], 0, 0, 0, set()
        for _ in range(3000):
            if number == length:
                invocation, number, length = invocation + 1, 0, rng.choice([1, 2, 3, limit, limit + ahead + 9])
            ctx.set(dut.first, number == 0)
            free = not any(i < invocation and n <= number + ahead for i, n in inside) and len(inside) < limit
            available = ctx.get(dut.available)
            assert not available or free
            if free and all(i >= invocation - 1 for i, _ in inside):
                assert available
            seen.add((free, available, bool(inside) and inside[0][0] < invocation))
            take = available and rng.random() < 0.8
            give = bool(inside) and rng.random() < rng.choice([0.2, 0.9])
            ctx.set(dut.take, take)
            ctx.set(dut.give, give)
            if give:
                inside.pop(0)
            if take:
                inside.append((invocation, number))
                number += 1
            await ctx.tick()
        assert {(True, 1, False), (False, 0, True)} <= seen
        assert limit == 1 or (True, 1, True) in seen, "a token must have entered beside some of an earlier invocation"

    simulate(dut, bench)


@pytest.mark.parametrize("bad", [{"limit": 0, "ahead": 0}, {"limit": 1, "ahead": -1}, {"limit": "2", "ahead": 0}])
def test_refuses(bad):
    with pytest.raises(ValueError):
        InvocationWindow(**bad)
