"""ExitBuffer and ExitFifo: results of invocations that end in any order leave in order."""

import random

import pytest
from amaranth.hdl import unsigned

from rtl_lib.exit_buffer import ExitBuffer, ExitFifo

from .bench import collect, simulate, watch_offers


@pytest.mark.pairwise
@pytest.mark.parametrize("part", [ExitBuffer, ExitFifo])
@pytest.mark.parametrize("width", [0, 8])
@pytest.mark.parametrize("entries", [1, 2, 5])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_in_order(part, width, entries, stall):
    """Rules 1 to 3: a result out of turn, lost, given twice, or an entry given back early or never."""
    rng, count = random.Random(entries), 40
    values = [rng.randrange(1 << width) for _ in range(count)]
    dut, seen = part(unsigned(width), entries), []
    ordered = part is ExitFifo

    async def producer(ctx):
        started, running = 0, []  # reserved entries: never more than have come back
        while started < count or running:
            free = entries - (started - len(seen))
            assert free >= 0
            if started < count and free:
                running.append(started)
                started += 1
            chosen = None
            if running and rng.random() < 0.7:
                chosen = running.pop(0 if ordered else rng.randrange(len(running)))
                ctx.set(dut.write.value, values[chosen])
                if not ordered:
                    ctx.set(dut.write.entry, chosen % entries)
            ctx.set(dut.write.valid, chosen is not None)
            await ctx.tick()
        ctx.set(dut.write.valid, 0)

    async def retire_is_acceptance(ctx):
        async for _, _, valid, ready, retire in ctx.tick().sample(dut.o.valid, dut.o.ready, dut.retire):
            assert retire == (valid and ready)

    simulate(
        dut, producer, collect(dut.o, seen, count, rng, stall), background=[watch_offers(dut.o), retire_is_acceptance]
    )
    assert seen == values


@pytest.mark.parametrize("part", [ExitBuffer, ExitFifo])
def test_full_rate(part):
    """Two entries carry one result a cycle: written, seen in the next cycle, and taken in that one."""
    dut, seen = part(unsigned(8), 2), []

    async def bench(ctx):
        ctx.set(dut.o.ready, 1)
        for k in range(10):
            ctx.set(dut.write.valid, 1)
            ctx.set(dut.write.value, k)
            if part is ExitBuffer:
                ctx.set(dut.write.entry, k % 2)
            _, _, valid, value = await ctx.tick().sample(dut.o.valid, dut.o.payload)
            seen.append(value if valid else None)

    simulate(dut, bench)
    assert seen == [None, *range(9)]


@pytest.mark.parametrize("part", [ExitBuffer, ExitFifo])
def test_refuses(part):
    with pytest.raises(ValueError, match="entries"):
        part(unsigned(8), 0)
