"""RequestSlots beside a SkidBuffer: the same cycle by cycle, and the rest of what was taken comes a cycle later."""

import random

import pytest
from amaranth import *

from rtl_lib.interconnect.request_slots import RequestSlots
from rtl_lib.stream import SkidBuffer
from tests.rtl_lib.mem.memory_bench import simulate

BITS = 8


@pytest.mark.parametrize("offers", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("takes", [0.2, 0.6, 1.0])
def test_is_a_skid_buffer_that_shows_what_was_taken(offers, takes):
    dut, skid, rng = RequestSlots(BITS, BITS), SkidBuffer(2 * BITS), random.Random(1)
    m = Module()
    m.submodules += [dut, skid]
    m.d.comb += [
        skid.i.valid.eq(dut.i.valid),
        skid.i.payload.eq(dut.i.payload.as_value()),
        skid.o.ready.eq(dut.o.ready),
    ]
    sent, moved = [], []

    async def bench(ctx):
        taken, stands = None, False
        for _ in range(400):
            if not stands and rng.random() < offers:
                stands = True
                sent.append(rng.getrandbits(2 * BITS))
                ctx.set(dut.i.payload.as_value(), sent[-1])
            ctx.set(dut.i.valid, stands)
            ctx.set(dut.o.ready, rng.random() < takes)
            assert ctx.get(dut.o.valid) == ctx.get(skid.o.valid)
            assert ctx.get(dut.i.ready) == ctx.get(skid.i.ready)
            if ctx.get(dut.o.valid):
                assert ctx.get(dut.o.payload) == ctx.get(skid.o.payload) & (1 << BITS) - 1
            assert taken is None or ctx.get(dut.late) == taken >> BITS
            taken = ctx.get(skid.o.payload) if ctx.get(dut.o.valid & dut.o.ready) else None
            if taken is not None:
                moved.append(taken)
            stands = stands and not ctx.get(dut.i.ready)
            await ctx.tick()

    simulate(m, bench)
    assert moved == sent[: len(moved)] and len(moved) >= 40
