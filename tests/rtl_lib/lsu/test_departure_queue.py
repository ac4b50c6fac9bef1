"""Departures against a list of keys."""

import random

import pytest

from rtl_lib.lsu.departure_queue import Departures
from tests.rtl_lib.mem.memory_bench import simulate


@pytest.mark.parametrize("places", [2, 8])
@pytest.mark.parametrize("seed", range(3))
def test_random_comings_and_goings(places, seed):
    rng, dut, inside = random.Random(seed), Departures(key_bits=4, places=places), []

    async def testbench(ctx):
        for _ in range(600):
            enters, key, asked, gone = (
                rng.random() < 0.6,
                rng.randrange(16),
                rng.randrange(16),
                bool(inside) and rng.random() < 0.5,
            )
            ctx.set(dut.enter.valid, enters)
            ctx.set(dut.enter.payload, key)
            ctx.set(dut.asked, asked)
            ctx.set(dut.gone, gone)
            ready, leaving = ctx.get(dut.enter.ready), ctx.get(dut.leaving)
            assert ready == (len(inside) < places)
            assert leaving == (asked in inside or enters and ready and asked == key)
            await ctx.tick()
            inside.extend([key] * (enters and ready))
            del inside[: int(gone)]

    simulate(dut, testbench)
