"""Counters against plain sums and maxima."""

import random

import pytest
from amaranth import Module, ResetInserter, Signal

from rtl_lib.count import CycleAccount, EventCounter, LateAnswers, LaterEvents, LeaveInterval, PeakCounter, account
from rtl_lib.event_counters import EventCounters

from .bench import simulate


@pytest.mark.parametrize("bits", [3, 16])
def test_events(bits):
    """Rules 1 to 3: a missed event, a count that wraps, or an event that survives its clear."""
    rng, dut = random.Random(bits), EventCounter(bits)

    async def bench(ctx):
        count, full = 0, (1 << bits) - 1
        for _ in range(200):
            assert ctx.get(dut.value) == count
            event, clear = rng.random() < 0.7, rng.random() < 0.04
            ctx.set(dut.event, event)
            ctx.set(dut.clear, clear)
            await ctx.tick()
            count = 0 if clear else min(count + event, full)

    simulate(dut, bench)


def test_peak():
    """A peak that is missed, forgotten, or survives its clear."""
    rng, dut = random.Random(4), PeakCounter(6)

    async def bench(ctx):
        most = 0
        for _ in range(300):
            assert ctx.get(dut.value) == most
            number, clear = rng.randrange(rng.choice([4, 64])), rng.random() < 0.05
            ctx.set(dut.number, number)
            ctx.set(dut.clear, clear)
            await ctx.tick()
            most = number if clear else max(most, number)

    simulate(dut, bench)


@pytest.mark.parametrize("causes", [1, 2, 5])
def test_account_of_a_cycle(causes):
    """Rules 1 to 3: two accounts for one cycle, none, a wrong priority, or idle cycles attributed."""
    rng, dut = random.Random(causes), CycleAccount(causes)

    async def bench(ctx):
        expected = None
        for _ in range(200):
            assert ctx.get(dut.accounts) == (0 if expected is None else 1 << expected)
            bits, running = [rng.random() < 0.3 for _ in range(causes)], rng.random() < 0.8
            clear = rng.random() < 0.1
            ctx.set(dut.causes, sum(bit << k for k, bit in enumerate(bits)))
            ctx.set(dut.running, running)
            ctx.set(dut.clear, clear)
            await ctx.tick()
            expected = account(bits, running and not clear)

    simulate(dut, bench)


@pytest.mark.parametrize("counters", [1, 2, 3, 7, 64, 65, 70])
def test_event_counters(counters):
    """Rules 1 to 4: an event lost or counted twice where residues wrap, kept over a clear, or a total that is not
    shown in time, also with many clears. Some bits are high in all cycles for longer than a round."""
    rng, dut = random.Random(counters), EventCounters(counters, 12)

    async def bench(ctx):
        now, waited, chance = [0] * counters, 0, [1.0] * counters
        earlier = [now] * EventCounters.LATENCY
        slot = asked = seen = 0
        often = (0.002, 0.0, 0.3)  # clears, also more often than a round lasts
        for cycle in range(1500):
            if cycle % 150 == 0:
                chance = [rng.choice([0.0, 0.5, 1.0]) for _ in range(counters)]
            if rng.random() < 0.02:
                slot, waited = rng.randrange(counters), 0
            ctx.set(dut.slot, slot)
            waited += 1
            if ctx.get(dut.here):
                assert ctx.get(dut.total) == earlier[0][asked], cycle
                waited, seen = 0, seen + 1
            assert waited <= dut.round
            events, clear = [rng.random() < one for one in chance], rng.random() < often[cycle // 500]
            ctx.set(dut.events, sum(event << k for k, event in enumerate(events)))
            ctx.set(dut.clear, clear)
            await ctx.tick()
            earlier, asked = [*earlier[1:], now], slot
            now = [0 if clear else (one + event) % 4096 for one, event in zip(now, events, strict=True)]
        assert seen > 10

    simulate(dut, bench)


@pytest.mark.parametrize("latency", [1, 2, 7, 40])
def test_late_answers(latency):
    """Rules 1 and 2, behind the events that say when a request is due: an answer called late within its latency or
    behind a refused one, or one called in time; with more than the shortest table's latency, too."""
    rng, m, dut, delay = random.Random(latency), Module(), LateAnswers(latency, 80), LaterEvents(1, latency - 1)
    m.submodules.dut, m.submodules.delay = dut, delay
    m.d.comb += dut.due.eq(delay.o)

    async def bench(ctx):
        asked, answered, found, allowed = [], 0, set(), 0
        for now in range(1600):
            overdue = max(0, sum(when <= now - latency for when in asked) - answered)
            late = overdue > allowed
            assert ctx.get(dut.late) == late, now
            found.add(late)
            ask = rng.random() < (0.4 if len(asked) - answered < 80 else 0)
            often = 0.6 if now // 200 % 2 else 0.2
            there, refused = len(asked) > answered and rng.random() < often, rng.random() < 0.1
            answer, refused = there and not refused, there and refused
            for port, value in ((delay.i, ask), (dut.answered, answer), (dut.refused, refused)):
                ctx.set(port, value)
            await ctx.tick()
            allowed = overdue if refused else min(allowed, overdue)
            asked, answered = asked + [now] * ask, answered + answer
        assert found == {True, False}

    simulate(m, bench)


@pytest.mark.parametrize("cycles", [0, 1, LaterEvents.SHORT, LaterEvents.SHORT + 1, 50])
def test_later_events(cycles):
    """Rule 1, and nothing of the time before a reset."""
    rng, dut = random.Random(cycles), LaterEvents(3, cycles)
    reset = Signal()

    async def bench(ctx):
        seen = []
        for now in range(300):
            ctx.set(dut.i, event := rng.randrange(8))
            ctx.set(reset, drop := now in (100, 130))
            seen.append(event)
            assert ctx.get(dut.o) == (seen[-1 - cycles] if len(seen) > cycles else 0), now
            await ctx.tick()
            seen = [] if drop else seen

    simulate(ResetInserter(reset)(dut), bench)


@pytest.mark.parametrize("interval", [1, 3, 10])
def test_leave_interval(interval):
    """Tokens issued early, in a bunch, that leave at an interval: the interval is found, whatever the latency and the
    stretches."""
    dut = LeaveInterval(8)

    async def bench(ctx):
        issued = starts = busy = 0
        for tokens in (1, 5, 9):
            first = ctx.get(dut.busy)
            assert not first
            for now in range(20 + tokens * interval):
                left = now >= 12 and (now - 12) % interval == 0 and (now - 12) // interval < tokens
                ctx.set(dut.issued, now < tokens)
                ctx.set(dut.left, left)
                issued, starts, busy = issued + (now < tokens), starts + ctx.get(dut.starts), busy + ctx.get(dut.busy)
                await ctx.tick()
        assert starts == 3 and (busy - starts) / (issued - starts) == interval

    simulate(dut, bench)


@pytest.mark.parametrize(
    "build",
    [lambda: EventCounter(0), lambda: CycleAccount(0), lambda: EventCounters(0, 9), lambda: EventCounters(7, 3)],
)
def test_refuses(build):
    with pytest.raises(ValueError):
        build()
