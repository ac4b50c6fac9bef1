"""CreditCounter against plain arithmetic."""

import random

import pytest

from rtl_lib.credits import CreditCounter

from .bench import simulate


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("gives", [1, 3])
def test_counts(limit, gives):
    """Rules 1 to 6: a wrong reset value, a lost give or a lost take is a wrong ``available`` some cycle later."""
    rng = random.Random(limit * 10 + gives)
    several = limit // 2 + 1
    dut = CreditCounter(limit, gives, several)

    async def bench(ctx):
        left, seen = limit, set()
        for _ in range(300):
            assert ctx.get(dut.available) == (left > 0)
            assert several == 1 or ctx.get(dut.plenty) == (left >= several)
            seen.add(left)
            take = left > 0 and rng.random() < 0.8
            give = rng.sample(range(gives), min(gives, limit - left, rng.choice([0, 0, 1, gives])))
            ctx.set(dut.take, take)
            ctx.set(dut.give, sum(1 << bit for bit in give))
            left += len(give) - take
            await ctx.tick()
        assert seen == set(range(limit + 1)), "the test must reach both ends"

    simulate(dut, bench)


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 1, "gives": 0}, {"limit": "2"}, {"limit": 2, "several": 3}])
def test_refuses(bad):
    with pytest.raises(ValueError):
        CreditCounter(**bad)
