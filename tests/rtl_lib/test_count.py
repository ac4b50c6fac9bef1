"""Counters against plain sums and maxima."""

import random

import pytest

from rtl_lib.count import CauseHistogram, EventCounter, LateAnswers, LeaveInterval, PeakCounter, account

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
def test_histogram(causes):
    """Rules 1 to 4: two accounts for one cycle, none, a wrong priority, or idle cycles counted."""
    rng, dut = random.Random(causes), CauseHistogram(causes, bits=8)
    expected, running_cycles = [0] * (causes + 1), 0

    async def settle(ctx):
        ctx.set(dut.running, 0)
        for _ in range(dut.timing.latency):
            await ctx.tick()

    async def bench(ctx):
        nonlocal running_cycles
        ctx.set(dut.running, 1)
        await ctx.tick()
        ctx.set(dut.clear, 1)  # drops that cycle and its own
        await ctx.tick()
        ctx.set(dut.clear, 0)
        for _ in range(200):
            bits, running = [rng.random() < 0.3 for _ in range(causes)], rng.random() < 0.8
            ctx.set(dut.causes, sum(bit << k for k, bit in enumerate(bits)))
            ctx.set(dut.running, running)
            await ctx.tick()
            chosen = account(bits, running)
            if chosen is not None:
                expected[chosen] += 1
            running_cycles += running
        await settle(ctx)
        values = [ctx.get(dut.values[k]) for k in range(causes + 1)]
        assert values == expected and sum(values) == running_cycles

    simulate(dut, bench)


@pytest.mark.parametrize("latency", [1, 2, 7])
def test_late_answers(latency):
    """Rules 1 to 3: an answer called late within its latency or behind a refused one, one called in time, or requests
    kept over a clear."""
    rng, dut = random.Random(latency), LateAnswers(latency, 64)

    async def bench(ctx):
        asked, answered, found, allowed = [], 0, set(), 0
        for now in range(800):
            overdue = max(0, sum(when <= now - latency for when in asked) - answered)
            late = overdue > allowed
            assert ctx.get(dut.late) == late, now
            found.add(late)
            ask, clear = rng.random() < 0.4, rng.random() < 0.01
            there, refused = len(asked) > answered and rng.random() < 0.6, rng.random() < 0.1
            answer, refused = there and not refused, there and refused
            for port, value in ((dut.asked, ask), (dut.answered, answer), (dut.refused, refused), (dut.clear, clear)):
                ctx.set(port, value)
            await ctx.tick()
            allowed = 0 if clear else overdue if refused else min(allowed, overdue)
            asked, answered = ([], 0) if clear else (asked + [now] * ask, answered + answer)
        assert found == {True, False}

    simulate(dut, bench)


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


@pytest.mark.parametrize("build", [lambda: EventCounter(0), lambda: CauseHistogram(0), lambda: CauseHistogram(2, 0)])
def test_refuses(build):
    with pytest.raises(ValueError):
        build()
