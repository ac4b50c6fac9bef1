"""AxiLiteControl against its register table."""

import random

import pytest
from amaranth import *

from rtl_lib.axi import register_map as at
from rtl_lib.axi.control import AxiLiteControl
from rtl_lib.axi.register_map import RegisterMap
from rtl_lib.axi.signature import Response
from rtl_lib.event_counters import EventCounters
from tests.rtl_lib.mem.memory_bench import simulate

ARGUMENTS = [("a", 64), ("n", 32), ("flag", 1), ("wide", 160), ("odd", 40)]
COUNTERS = [("accepted", 48), ("stalled", 16)]


class Host:
    """Reads and writes over AXI4-Lite, address and data in random order."""

    def __init__(self, ctx, bus, rng):
        self.ctx, self.bus, self.rng = ctx, bus, rng

    async def write(self, addr, word, strobe=0xF):
        ctx, bus = self.ctx, self.bus
        ctx.set(bus.aw.addr, addr)
        ctx.set(bus.w.data, word)
        ctx.set(bus.w.strb, strobe)
        # either may come first, but neither waits for the other's READY, which AXI forbids
        pending = {bus.aw: self.rng.randint(0, 3), bus.w: self.rng.randint(0, 3)}
        while pending:
            for channel, delay in pending.items():
                ctx.set(channel.valid, delay <= 0)
            taken = await ctx.tick().sample(*(channel.valid & channel.ready for channel in pending))
            for channel, done in zip(list(pending), taken[-len(pending) :], strict=True):
                pending[channel] -= 1
                if done:
                    ctx.set(channel.valid, 0)
                    del pending[channel]
        return await self.answer(bus.b, bus.b.resp)

    async def read(self, addr):
        ctx, bus = self.ctx, self.bus
        ctx.set(bus.ar.addr, addr)
        ctx.set(bus.ar.valid, 1)
        await ctx.tick().until(bus.ar.ready)
        ctx.set(bus.ar.valid, 0)
        self.response = await self.answer(bus.r, bus.r.resp)
        return self.data

    async def answer(self, channel, resp):
        for _ in range(self.rng.randint(0, 2)):
            await self.ctx.tick()
        self.ctx.set(channel.ready, 1)
        response, self.data = await self.ctx.tick().sample(resp, self.bus.r.data).until(channel.valid)
        self.ctx.set(channel.ready, 0)
        return response

    async def read_wide(self, addr):
        low = await self.read(addr)
        return low | await self.read(addr + 4) << 32


def with_host(test):
    """Run ``test(host, dut, ctx)`` on a fresh control part."""
    dut = AxiLiteControl(arguments=ARGUMENTS, counters=COUNTERS, identification=0xC0DE_0001)

    async def testbench(ctx):
        await test(Host(ctx, dut.bus, random.Random(1)), dut, ctx)

    simulate(dut, testbench)


def test_arguments_keep_their_width():
    async def test(host, dut, ctx):
        values = {
            "a": 0x1234_5678_9ABC_DEF0,
            "n": -3,
            "flag": 3,
            "wide": 0x5555_6666_7777_8888_9999_AAAA_BBBB_CCCC_DDDD_EEEE,
            "odd": (1 << 64) - 1,
        }
        for addr, word in dut.map.argument_writes(values):
            assert await host.write(addr, word) == Response.OKAY
        for name, bits in ARGUMENTS:
            expected = values[name] % (1 << bits)
            assert ctx.get(dut.arguments[name]) == expected
            place = dut.map.argument(name)
            halves = [await host.read_wide(place + 8 * k) << 64 * k for k in range(-(-bits // 64))]
            assert sum(halves) == expected
        await host.write(dut.map.argument("a"), 0xAAAA_AAAA, strobe=0b0100)
        assert ctx.get(dut.arguments["a"]) == 0x1234_5678_9AAA_DEF0

    with_host(test)


def test_a_run():
    async def test(host, dut, ctx):
        ctx.set(dut.idle, 1)
        assert await host.read(at.CONTROL) == at.IDLE
        await host.write(at.INTERRUPT, 1)
        assert await host.write(at.CONTROL, at.START) == Response.OKAY
        ctx.set(dut.idle, 0)
        assert await host.read(at.CONTROL) == 1
        assert await host.write(at.CONTROL, at.START) == Response.SLVERR
        assert await host.write(dut.map.argument("n"), 7) == Response.SLVERR
        assert ctx.get(dut.arguments["n"]) == 0
        ctx.set(dut.error, 0b100)
        await ctx.tick()
        ctx.set(dut.error, 0)
        assert not ctx.get(dut.interrupt)
        ctx.set(dut.done, 1)
        await ctx.tick()
        ctx.set(dut.done, 0)
        ctx.set(dut.idle, 1)
        await ctx.tick()
        assert ctx.get(dut.interrupt)
        assert await host.read(at.CONTROL) == at.DONE | at.IDLE
        assert await host.read(at.STATUS) == 0b100
        await host.write(at.CONTROL, at.DONE)
        assert await host.read(at.CONTROL) == at.IDLE
        assert not ctx.get(dut.interrupt)
        assert await host.read(at.IDENTIFICATION) == 0xC0DE_0001

    with_host(test)


@pytest.mark.parametrize("length", [1, 2, 37])
def test_cycles(length):
    async def test(host, dut, ctx):
        for _ in range(2):  # the second run counts from zero again
            await_start = ctx.tick().until(dut.start)
            ctx.set(dut.bus.aw.valid, 1)
            ctx.set(dut.bus.aw.addr, at.CONTROL)
            ctx.set(dut.bus.w.valid, 1)
            ctx.set(dut.bus.w.data, at.START)
            ctx.set(dut.bus.w.strb, 1)
            await ctx.tick().until(dut.bus.aw.ready)
            ctx.set(dut.bus.aw.valid, 0)
            await ctx.tick().until(dut.bus.w.ready)
            ctx.set(dut.bus.w.valid, 0)
            await await_start
            for _ in range(length - 1):
                await ctx.tick()
            ctx.set(dut.done, 1)
            await ctx.tick()
            ctx.set(dut.done, 0)
            await host.answer(dut.bus.b, dut.bus.b.resp)
            assert await host.read_wide(at.CYCLES) == length

    with_host(test)


def test_counters_are_read_whole():
    async def test(host, dut, ctx):
        ctx.set(dut.counters, {"accepted": 0x7FFF_FFFF_FFFF, "stalled": 9})
        low = await host.read(dut.map.counter("accepted"))
        ctx.set(dut.counters, {"accepted": 0x8000_0000_0000, "stalled": 9})
        high = await host.read(dut.map.counter("accepted") + 4)
        assert high << 32 | low == 0x7FFF_FFFF_FFFF
        assert await host.read_wide(dut.map.counter("stalled")) == 9

    with_host(test)


class _Counting(Elaboratable):
    """Control registers of three counters; totals are held elsewhere for the first and the last."""

    def __init__(self):
        counters = [("first", 48), ("level", 16), ("last", 48)]
        self.control = AxiLiteControl(counters=counters, counted=("first", "last"))
        self.totals = EventCounters(3, 48)

    def elaborate(self, platform):
        m = Module()
        m.submodules += [self.control, self.totals]
        m.d.comb += [
            self.totals.slot.eq(self.control.slot),
            self.control.here.eq(self.totals.here),
            self.control.total.eq(self.totals.total),
            self.control.counters.level.eq(5),
        ]
        return m


def test_a_total_is_read_when_it_passes_by():
    """Rule 5: a total that is read too early or too late, from another counter, or with bits of two cycles."""
    dut, rng = _Counting(), random.Random(3)
    counted = [0, 0, 0]

    async def count(ctx):
        async for *_, events in ctx.tick().sample(dut.totals.events):
            for k in range(3):
                counted[k] += events >> k & 1

    async def testbench(ctx):
        host, at_of = Host(ctx, dut.control.bus, rng), dut.control.map.counter
        for _ in range(60):
            ctx.set(dut.totals.events, rng.choice((0, 1, 4, 5)))
            name, place = rng.choice((("first", 0), ("last", 2)))
            before = counted[place]
            assert before - 1 <= await host.read_wide(at_of(name)) <= counted[place]
            assert await host.read_wide(at_of("level")) == 5
        ctx.set(dut.totals.events, 0)
        await ctx.tick()
        assert [await host.read_wide(at_of(name)) for name in ("first", "last")] == [counted[0], counted[2]]
        assert counted[0] > 100 and counted[2] > 100
        for low in (at.COUNTERS + 8 * 3, at.COUNTERS + 8 * 3 + 4):
            await host.read(low)
            assert host.response == Response.SLVERR
        assert await host.read_wide(at_of("last")) == counted[2] and host.response == Response.OKAY

    simulate(dut, testbench, background=(count,))


def test_a_read_waits_for_its_total():
    dut = AxiLiteControl(counters=[("one", 48)], counted=("one",))

    async def testbench(ctx):
        bus = dut.bus
        ctx.set(bus.ar.addr, dut.map.counter("one"))
        ctx.set(bus.ar.valid, 1)
        ctx.set(bus.r.ready, 1)
        await ctx.tick()
        ctx.set(bus.ar.valid, 0)
        for cycle in range(70):
            ctx.set(dut.total, cycle)
            assert not ctx.get(bus.r.valid) and not ctx.get(bus.ar.ready) and ctx.get(dut.slot) == 0
            await ctx.tick()
        ctx.set(dut.here, 1)
        ctx.set(dut.total, 77)
        await ctx.tick()
        ctx.set(dut.total, 78)
        assert ctx.get(bus.r.valid) and ctx.get(bus.r.data) == 77

    simulate(dut, testbench)


def test_registers_are_the_same_where_some_counters_are_totals():
    """With totals the steps of a read have registers between them: whatever is read, in whatever order, is what is read
    without."""
    counters = [("first", 48), ("level", 40), ("last", 48)]
    given = {"first": 0x1234_5678_9ABC, "level": 0x77_1122_3344, "last": 0xFEDC_0000_4321}
    last = RegisterMap(tuple(ARGUMENTS), tuple(counters)).counter("last") + 4
    rng = random.Random(7)
    places = [*range(0, 0x20, 4), *range(at.ARGUMENTS, at.ARGUMENTS + 0x58, 4), *range(at.COUNTERS, last + 16, 4)]
    accesses = [(rng.choice(places), rng.choice((None, None, rng.getrandbits(32)))) for _ in range(300)]
    found = []
    for counted in ((), ("first", "last")):
        dut, seen = AxiLiteControl(arguments=ARGUMENTS, counters=counters, counted=counted), []

        async def testbench(ctx, dut=dut, seen=seen):
            ctx.set(dut.counters, given)
            ctx.set(dut.idle, 1)
            host = Host(ctx, dut.bus, random.Random(2))
            for addr, word in accesses:
                if word is not None and addr != at.CONTROL:
                    seen.append(await host.write(addr, word, rng.getrandbits(4) if addr % 8 else 0xF))
                else:
                    data = await host.read(addr)
                    seen.append((addr, host.response, data if host.response == Response.OKAY else None))

        async def totals(ctx, dut=dut):
            """The totals pass by in turns: that of the slot asked for in the cycle before."""
            turn = 0
            async for *_, slot in ctx.tick().sample(dut.slot):
                turn = (turn + 1) % 3
                ctx.set(dut.here, turn == slot)
                ctx.set(dut.total, list(given.values())[slot] if turn == slot and slot < 3 else 0xBAD)

        rng.seed(8)
        simulate(dut, testbench, background=(totals,))
        found.append(seen)
    assert (
        found[0] == found[1] and len({word for _, _, word in filter(lambda one: isinstance(one, tuple), found[0])}) > 9
    )


def test_no_register_there():
    async def test(host, dut, ctx):
        for addr in (0x18, at.ARGUMENTS + 8 * (len(ARGUMENTS) + 2), at.COUNTERS + 8 * len(COUNTERS)):
            await host.read(addr)
            assert host.response == Response.SLVERR
            assert await host.write(addr, 1) == Response.SLVERR
        assert await host.write(at.COUNTERS, 1) == Response.SLVERR

    with_host(test)


def test_without_arguments_or_counters():
    dut = AxiLiteControl()

    async def testbench(ctx):
        host = Host(ctx, dut.bus, random.Random(0))
        assert await host.read(at.CONTROL) == 0

    simulate(dut, testbench)


@pytest.mark.parametrize(
    "arguments, match",
    [
        ([("a", 30721)], "1 to 30720 bits"),
        ([("a", 0)], "1 to 30720 bits"),
        ([("a", 8), ("a", 8)], "different"),
        ([(f"a{n}", 8) for n in range(481)], "at most 3840 bytes"),
        ([("a", 30000), ("b", 1000)], "at most 3840 bytes"),
    ],
)
def test_map_refuses(arguments, match):
    with pytest.raises(ValueError, match=match):
        RegisterMap(tuple(arguments))


def test_map_refuses_a_counter_that_is_read_in_more_than_two_words():
    with pytest.raises(ValueError, match="1 to 64 bits"):
        RegisterMap((), (("c", 65),))
