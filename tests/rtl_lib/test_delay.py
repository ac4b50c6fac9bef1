"""EventDelay against a list of events and their times."""

import random

import pytest

from rtl_lib.delay import EventDelay

from .bench import simulate


@pytest.mark.parametrize(
    "slots, cycles", [(1, 1), (1, 2), (1, 3), (1, 7), (1, 64), (2, 3), (3, 40), (4, 127), (4, 128), (5, 2)]
)
def test_repeats(slots, cycles):
    """Rules 1 to 3: an event that is early, late, lost, doubled or of another slot; with one slot, a cancel that is not
    one."""
    rng, dut = random.Random(slots * 1000 + cycles), EventDelay(slots, cycles)

    async def bench(ctx):
        due, seen, cancelled = {}, 0, 0  # cycle -> slot
        for now in range(40 * cycles + 400):
            expected = due.pop(now, None)
            assert ctx.get(dut.o.valid) == (expected is not None)
            if expected is not None:
                assert ctx.get(dut.o.slot) == expected
                seen += 1
            absent = [s for s in range(slots) if s not in (expected, *due.values())]
            event = rng.choice(absent) if absent and rng.random() < 0.7 else None
            ctx.set(dut.i.valid, event is not None)
            ctx.set(dut.i.slot, event or 0)
            if event is not None:
                due[now + cycles] = event
            cancel = slots == 1 and rng.random() < 0.3 / cycles
            ctx.set(dut.cancel, cancel)
            if cancel:
                cancelled += bool(due)
                due.clear()
            await ctx.tick()
        assert seen > 20
        assert cancelled or slots > 1

    simulate(dut, bench)


@pytest.mark.parametrize("bad", [(0, 1), (1, 0), (1, 1.5)])
def test_refuses(bad):
    with pytest.raises(ValueError):
        EventDelay(*bad)
