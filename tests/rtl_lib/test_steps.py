"""Counters and pointers that take one step at a time, against plain arithmetic."""

import random

import pytest
from amaranth import Module, Signal
from amaranth.back import verilog
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.steps import LONGEST_RING, after, count, elapsed, less_one, reached, ring_after

from .bench import simulate


class Stepped(wiring.Component):
    """A pointer modulo ``depth`` and a count up to it."""

    def __init__(self, depth):
        self.depth = depth
        super().__init__({"up": In(1), "down": In(1), "pointer": Out(range(depth)), "level": Out(range(depth + 1))})

    def elaborate(self, platform):
        m = Module()
        count(m, self.level, self.up, self.down)
        with m.If(self.up):
            m.d.sync += self.pointer.eq(after(self.pointer, self.depth))
        return m


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8])
def test_steps(depth):
    rng, dut = random.Random(depth), Stepped(depth)

    async def bench(ctx):
        level = pointer = 0
        for _ in range(300):
            assert (ctx.get(dut.level), ctx.get(dut.pointer)) == (level, pointer)
            down = level > 0 and rng.random() < 0.5
            up = level - down < depth and rng.random() < 0.6
            ctx.set(dut.up, up)
            ctx.set(dut.down, down)
            level, pointer = level + up - down, (pointer + up) % depth
            await ctx.tick()

    simulate(dut, bench)


def test_a_pointer_that_wraps_by_itself_is_not_compared():
    pointer = Signal(3)
    assert after(pointer, 8).shape() == pointer.shape()
    assert "?" in verilog.convert(Stepped(7)) and "?" not in verilog.convert(Stepped(8))


class Reached(wiring.Component):
    """Whether a value is the greatest one, ``most``."""

    def __init__(self, most):
        self.most = most
        super().__init__({"value": In(range(most + 1)), "there": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.there.eq(reached(self.value, self.most))
        return m


@pytest.mark.parametrize("most", [1, 4, 6, 7, 16, 91])
def test_the_greatest_value_is_reached_by_no_smaller_one(most):
    dut = Reached(most)

    async def bench(ctx):
        for value in range(most + 1):
            ctx.set(dut.value, value)
            await ctx.tick()
            assert ctx.get(dut.there) == (value == most)

    simulate(dut, bench)


class Ring(wiring.Component):
    """A pointer that moves on in each cycle."""

    def __init__(self, bits):
        self.bits = bits
        super().__init__({"place": Out(bits)})

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.place.eq(ring_after(self.place))
        return m


@pytest.mark.parametrize("bits", range(1, LONGEST_RING + 1))
def test_a_ring_passes_each_place_once_a_round(bits):
    dut, places = Ring(bits), []

    async def bench(ctx):
        for _ in range(1 << bits):
            places.append(ctx.get(dut.place))
            await ctx.tick()
        assert ctx.get(dut.place) == places[0]

    simulate(dut, bench)
    assert sorted(places) == list(range(1 << bits))


class Elapsed(wiring.Component):
    """Whether so many cycles have passed since ``restart``, and a number less one."""

    def __init__(self, cycles):
        self.cycles = cycles
        super().__init__(
            {"restart": In(1), "over": Out(1), "number": In(range(cycles + 1)), "less": Out(range(cycles))}
        )

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.over.eq(elapsed(m, self.restart, self.cycles)),
            self.less.eq(less_one(self.number, (self.cycles - 1).bit_length())),
        ]
        return m


@pytest.mark.parametrize("cycles", [1, 2, 5, 8, 16, 64])
def test_time_elapses_and_numbers_lose_one(cycles):
    rng, dut, seen = random.Random(cycles), Elapsed(cycles), []

    async def bench(ctx):
        passed = 0
        for n in range(400):
            assert ctx.get(dut.over) == (passed >= cycles)
            seen.append(passed >= cycles)
            number = 1 + n % cycles
            ctx.set(dut.restart, rng.random() < 0.5 / cycles)
            ctx.set(dut.number, number)
            assert ctx.get(dut.less) == number - 1
            passed = 0 if ctx.get(dut.restart) else passed + 1
            await ctx.tick()

    simulate(dut, bench)
    assert any(seen) and not all(seen)
