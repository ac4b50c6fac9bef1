"""AtomicMemory and its units: several askers against a byte memory and the table of what atomic operations do."""

import random
from itertools import pairwise

import pytest
from amaranth import *
from amaranth.lib import wiring

from hls.ir.optable import ATOMICS
from rtl_lib.lsu.atomic import AtomicMemory, AtomicUnit
from rtl_lib.lsu.atomic_functions import FUNCTIONS
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE = 512


class System(Elaboratable):
    """Units of some functions and widths at one memory."""

    def __init__(self, kinds, word):
        self.units = [AtomicUnit(function=function, access_bytes=size, addr_bits=10) for function, size in kinds]
        self.memory = AtomicMemory(askers=len(kinds), word_bytes=word, addr_bits=10, functions=FUNCTIONS)

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = self.memory
        for k, (unit, asker) in enumerate(zip(self.units, self.memory.askers, strict=True)):
            m.submodules[f"unit{k}"] = unit
            wiring.connect(m, unit.mem, asker)
        return m


def requests(rng, size, count):
    return [{"addr": rng.choice([0, 8, 64, 72, 200]) // size * size, "a": rng.randrange(1 << 8 * size) >> rng.choice([0, 16]),
             "b": rng.randrange(1 << 8 * size)} for _ in range(count)]


def until_idle(dut):
    async def testbench(ctx):
        for unit in dut.units:
            await ctx.tick().until(unit.idle)
    return testbench


def in_turn(*testbenches):
    async def testbench(ctx):
        for each in testbenches:
            await each(ctx)
    return testbench


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("size, word", [(4, 8), (8, 64)])
def test_one_asker(function, size, word):
    """Answers and memory are those of one operation after the other."""
    rng = random.Random(size)
    dut, memory, asked, found = System([(function, size)], word), Memory(SIZE, rate=0.7), requests(rng, size, 60), []
    if function == "cmpxchg":  # a comparison that holds, often
        for k, each in enumerate(asked):
            each["addr"], each["a"] = 0, asked[max(0, k - 2)]["b"]
    expected, content = [], bytearray(memory.bytes)
    for each in asked:
        place = slice(each["addr"], each["addr"] + size)
        expected.append(int.from_bytes(content[place], "little"))
        new = ATOMICS[function](expected[-1], (each["a"], each["b"]), 8 * size) & (1 << 8 * size) - 1
        content[place] = new.to_bytes(size, "little")
    (unit,) = dut.units
    simulate(dut, send(unit.i, asked, 0.8), in_turn(receive(unit.o, len(asked), found, 0.6), until_idle(dut)),
             background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)])
    assert found == expected
    assert memory.bytes == content


def test_several_askers():
    """Nothing is lost or done twice, whoever asks: sums, and the numbers that were handed out."""
    rng = random.Random(5)
    dut, memory = System([("add", 4), ("add", 4), ("add", 8)], 16), Memory(SIZE, rate=0.8)
    memory.bytes[:] = bytes(SIZE)
    asked = [[{"addr": rng.choice([0, 4, 32]), "a": 1, "b": 0} for _ in range(50)] for _ in range(2)]
    asked.append([{"addr": 8, "a": 1 << 33, "b": 0}] * 30)
    found = [[], [], []]
    streams = [(unit, given, into) for unit, given, into in zip(dut.units, asked, found)]
    simulate(dut, *(send(unit.i, given, 0.7, seed=k) for k, (unit, given, _) in enumerate(streams)),
             *(in_turn(receive(unit.o, len(given), into, 0.5, seed=k), until_idle(dut)) for k, (unit, given, into) in enumerate(streams)),
             background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)])
    for place in (0, 4, 32):
        numbers = sorted(n for given, got in zip(asked[:2], found) for each, n in zip(given, got) if each["addr"] == place)
        assert numbers == list(range(len(numbers)))
        assert int.from_bytes(memory.bytes[place:place + 4], "little") == len(numbers)
    assert int.from_bytes(memory.bytes[8:16], "little") == 30 << 33


def test_fence_and_flush():
    """Behind a fence memory has what was asked before; behind a flush a request sees what others have stored."""
    dut, memory, found = System([("add", 4)], 8), Memory(SIZE), []
    (unit,), before = dut.units, int.from_bytes(memory.bytes[:4], "little")

    async def testbench(ctx):
        await send(unit.i, [{"addr": 0, "a": 3, "b": 0}])(ctx)
        await receive(unit.o, 1, found)(ctx)
        ctx.set(unit.fence.request.valid, 1)
        ctx.set(unit.fence.response.ready, 1)
        await ctx.tick().until(unit.fence.request.ready)
        ctx.set(unit.fence.request.valid, 0)
        await ctx.tick().until(unit.fence.response.valid)
        assert int.from_bytes(memory.bytes[:4], "little") == (before + 3) % (1 << 32)
        memory.bytes[:4] = (77).to_bytes(4, "little")
        ctx.set(unit.flush, 1)
        await ctx.tick()
        ctx.set(unit.flush, 0)
        await send(unit.i, [{"addr": 0, "a": 1, "b": 0}])(ctx)
        await receive(unit.o, 2, found)(ctx)

    simulate(dut, testbench, background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)])
    assert found == [before, 77]


def test_answers_that_wait_for_others():
    """Rule 4: an asker whose answers are not taken does not hold up another whose answers come first."""
    dut, memory = System([("add", 4), ("add", 4)], 8), Memory(SIZE)
    found = [[], []]

    async def takes_in_turn(ctx):
        for _ in range(20):
            for unit, into in zip(dut.units[::-1], found[::-1]):
                await receive(unit.o, len(into) + 1, into)(ctx)

    asked = [[{"addr": 8 * k, "a": 1, "b": 0}] * 20 for k in range(2)]
    simulate(dut, *(send(unit.i, given) for unit, given in zip(dut.units, asked)), takes_in_turn,
             background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)])
    assert all(b - a in (1, 1 - (1 << 32)) for numbers in found for a, b in pairwise(numbers))
