"""StreamFifo against a queue: order, capacity, latency and rate."""

import random

import pytest
from amaranth.back import verilog

from rtl_lib.mem.fifo import StreamFifo
from tests.rtl_lib.mem.memory_bench import simulate as run

DEPTHS = [1, 2, 3, 8, 32, 33, 50, 64]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("push, pop", [(1.0, 1.0), (0.9, 0.3), (0.3, 0.9), (0.5, 0.5)])
def test_is_a_queue(depth, push, pop):
    rng = random.Random(depth)
    dut, inside, taken = StreamFifo(16, depth, counted=True), [], []

    async def drive(ctx):
        offered, accepted = None, True
        for _ in range(400):
            if accepted or not ctx.get(dut.i.valid):
                ctx.set(dut.i.valid, rng.random() < push)
                ctx.set(dut.i.payload, rng.randrange(1 << 16))
            ctx.set(dut.o.ready, rng.random() < pop)
            assert ctx.get(dut.level) == len(inside) and ctx.get(dut.empty) == (not inside)
            assert ctx.get(dut.i.ready) == (len(inside) < depth)
            valid, payload = ctx.get(dut.o.valid), ctx.get(dut.o.payload)
            if offered is not None:
                assert valid and payload == offered, "an offer was withdrawn"
            if valid:
                assert payload == inside[0]
            offered = payload if valid and not ctx.get(dut.o.ready) else None
            accepted = ctx.get(dut.i.valid & dut.i.ready)
            if valid and ctx.get(dut.o.ready):
                taken.append(inside.pop(0))
            if accepted:
                inside.append(ctx.get(dut.i.payload))
            await ctx.tick()

    run(dut, drive)
    assert len(taken) > 50, "hardly anything came through"


@pytest.mark.parametrize("depth", DEPTHS)
def test_latency(depth):
    dut, seen = StreamFifo(8, depth), []

    async def drive(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.i.payload, 7)
        await ctx.tick()
        ctx.set(dut.i.valid, 0)
        cycles = 1
        while not ctx.get(dut.o.valid):
            await ctx.tick()
            cycles += 1
        seen.append(cycles)

    run(dut, drive)
    assert seen == [dut.timing.latency]


@pytest.mark.parametrize("depth", [depth for depth in DEPTHS if depth > 1])
def test_full_rate(depth):
    dut, taken = StreamFifo(16, depth), []

    async def drive(ctx):
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.i.valid, 1)
        for n in range(200):
            ctx.set(dut.i.payload, n)
            assert ctx.get(dut.i.ready)
            if ctx.get(dut.o.valid):
                taken.append(ctx.get(dut.o.payload))
            await ctx.tick()

    run(dut, drive)
    assert taken == list(range(200 - dut.timing.latency))


@pytest.mark.parametrize("depth", [1, 50])
def test_counts_payloads_of_no_bits(depth):
    assert "module" in verilog.convert(StreamFifo(0, depth), emit_src=False)
    dut = StreamFifo(0, depth, counted=True)

    async def drive(ctx):
        ctx.set(dut.i.valid, 1)
        for n in range(depth):
            assert ctx.get(dut.i.ready) and ctx.get(dut.level) == n
            await ctx.tick()
        assert ctx.get(dut.o.valid) and not ctx.get(dut.i.ready)

    run(dut, drive)


@pytest.mark.parametrize("depth", [0, -1, 2.0])
def test_refuses_bad_depth(depth):
    with pytest.raises(ValueError, match="depth"):
        StreamFifo(8, depth)
