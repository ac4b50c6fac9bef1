"""SlotPool and ReadyQueue against a set and a list."""

import random

import pytest

from rtl_lib.slots import ReadyQueue, SlotPool

from .bench import simulate

SLOTS = [1, 2, 3, 5]


@pytest.mark.parametrize("slots, few", [*((n, SlotPool.few) for n in SLOTS), (1, 0), (2, 0), (5, 0), (7, 0)])
def test_pool(slots, few, monkeypatch):
    """Rules 1 to 5: an offer of a busy slot, an unstable offer, or a freed slot that comes late are all seen."""
    monkeypatch.setattr(SlotPool, "few", few)
    rng, dut = random.Random(slots), SlotPool(slots)

    async def bench(ctx):
        busy, offer, fills = set(), None, 0
        for _ in range(400):
            assert ctx.get(dut.free) == (len(busy) < slots)
            assert ctx.get(dut.busy) == bool(busy)
            now = ctx.get(dut.slot)
            assert len(busy) == slots or now not in busy
            assert offer in (None, now), "the offer moved before it was taken"
            take = len(busy) < slots and rng.random() < 0.6
            candidates = sorted(busy | {now} if take else busy)
            give = rng.choice(candidates) if candidates and rng.random() < 0.5 else None
            ctx.set(dut.take, take)
            ctx.set(dut.give.valid, give is not None)
            ctx.set(dut.give.slot, give or 0)
            offer = None if take or len(busy) == slots else now
            busy = (busy | {now} if take else busy) - {give}
            fills += len(busy) == slots
            await ctx.tick()
        assert fills, "the test must fill the pool"

    simulate(dut, bench)


@pytest.mark.parametrize("slots", SLOTS)
def test_queue(slots):
    """Rules 1 to 3: a wrong order, a late head, or a push refused because the queue is full as the head comes back."""
    rng, dut = random.Random(slots), ReadyQueue(slots)

    async def bench(ctx):
        waiting, comebacks = [], 0
        for _ in range(400):
            assert ctx.get(dut.head.valid) == bool(waiting)
            if waiting:
                assert ctx.get(dut.head.slot) == waiting[0]
            pop = bool(waiting) and rng.random() < 0.6
            popped = waiting.pop(0) if pop else None
            # the popped slot itself may come back at once: its token answered in the cycle of its issue
            absent = [s for s in range(slots) if s not in waiting]
            push = rng.choice(absent) if absent and rng.random() < 0.8 else None
            comebacks += popped is not None and push == popped and len(waiting) == slots - 1
            ctx.set(dut.pop, pop)
            ctx.set(dut.push.valid, push is not None)
            ctx.set(dut.push.slot, push or 0)
            waiting += [] if push is None else [push]
            await ctx.tick()
        assert comebacks, "the test must push the head of a full queue as it is popped"

    simulate(dut, bench)


@pytest.mark.parametrize("part", [SlotPool, ReadyQueue])
@pytest.mark.parametrize("slots", [0, -1, 1.5])
def test_refuses(part, slots):
    with pytest.raises(ValueError, match="slots"):
        part(slots)
