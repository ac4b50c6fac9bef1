"""SlotRegister and SlotReady against a list."""

import random

import pytest
from amaranth.hdl import unsigned

from rtl_lib.state import SlotReady, SlotRegister

from .bench import simulate

SLOTS = [1, 2, 5]


@pytest.mark.parametrize("transparent", [False, True])
@pytest.mark.parametrize("slots", SLOTS)
def test_register(slots, transparent):
    """Rules 1 and 2: wrong slot, late read, or a read that already sees this cycle's write, or does not where it
    should."""
    rng, dut = random.Random(slots), SlotRegister(unsigned(8), slots, transparent=transparent)

    async def bench(ctx):
        kept = [None] * slots
        for _ in range(300):
            slot, write, value = rng.randrange(slots), rng.random() < 0.5, rng.randrange(256)
            target = rng.choice([slot, rng.randrange(slots)])
            ctx.set(dut.write.valid, write)
            ctx.set(dut.write.slot, target)
            ctx.set(dut.write.value, value)
            ctx.set(dut.read.slot, slot)
            seen = value if transparent and write and target == slot else kept[slot]
            assert seen in (None, ctx.get(dut.read.value))
            await ctx.tick()
            kept[target] = value if write else kept[target]
        assert None not in kept

    simulate(dut, bench)


def test_preset_register():
    """Rule 3: what it begins with, also when a write comes in the cycle of the restart."""
    rng, dut = random.Random(3), SlotRegister(unsigned(8), 1, preset=0x5A)

    async def bench(ctx):
        kept, collisions = None, 0
        for _ in range(200):
            restart, write, value = rng.random() < 0.2, rng.random() < 0.5, rng.randrange(256)
            ctx.set(dut.restart, restart)
            ctx.set(dut.write.valid, write)
            ctx.set(dut.write.value, value)
            assert kept in (None, ctx.get(dut.read.value))
            await ctx.tick()
            kept = 0x5A if restart else value if write else kept
            collisions += restart and write
        assert collisions

    simulate(dut, bench)
    with pytest.raises(ValueError, match="a preset register has one slot, not 2"):
        SlotRegister(unsigned(8), 2, preset=0)


@pytest.mark.parametrize("slots", SLOTS)
def test_ready(slots):
    """Rules 1 to 4: set before clear when both name one slot, any pair of slots in one cycle."""
    rng, dut = random.Random(slots), SlotReady(slots)

    async def bench(ctx):
        ready, collisions = [False] * slots, 0
        for _ in range(400):
            slot = rng.randrange(slots)
            ctx.set(dut.test.slot, slot)
            assert ctx.get(dut.test.ready) == ready[slot]
            clear = slot if ready[slot] and rng.random() < 0.7 else None
            settable = [s for s in range(slots) if not ready[s] or s == clear]
            new = rng.choice(settable) if settable and rng.random() < 0.6 else None
            for event, named in ((dut.clear, clear), (dut.set, new)):
                ctx.set(event.valid, named is not None)
                ctx.set(event.slot, named or 0)
            collisions += clear is not None and clear == new
            await ctx.tick()
            if clear is not None:
                ready[clear] = False
            if new is not None:
                ready[new] = True
        assert collisions, "the test must set and clear one slot in one cycle"

    simulate(dut, bench)
