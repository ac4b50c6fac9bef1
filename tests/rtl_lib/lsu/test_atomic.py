"""AtomicMemory and its units: several requesters against a byte memory and the table of atomic operations."""

import random
from itertools import pairwise

import pytest
from amaranth import *
from amaranth.lib import wiring

from hls.ir.optable import ATOMIC_OPERANDS, ATOMICS
from hls.model.memory_time import EXECUTED
from rtl_lib.lsu.atomic import AtomicUnit
from rtl_lib.lsu.atomic_functions import FUNCTIONS, OPERANDS
from rtl_lib.lsu.atomic_memory import AtomicMemory
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE = 512


class System(Elaboratable):
    """Units of some functions and widths at one memory."""

    def __init__(self, kinds, word, places=256, addr_bits=10):
        self.units = [AtomicUnit(function=function, access_bytes=size, addr_bits=addr_bits) for function, size in kinds]
        self.memory = AtomicMemory(
            askers=len(kinds), word_bytes=word, addr_bits=addr_bits, functions=FUNCTIONS, places=places
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = self.memory
        for k, (unit, asker) in enumerate(zip(self.units, self.memory.askers, strict=True)):
            m.submodules[f"unit{k}"] = unit
            wiring.connect(m, unit.mem, asker)
        return m


def requests(rng, size, count):
    return [
        {
            "addr": rng.choice([0, 8, 64, 72, 200]) // size * size,
            "a": rng.randrange(1 << 8 * size) >> rng.choice([0, 16]),
            "b": rng.randrange(1 << 8 * size),
        }
        for _ in range(count)
    ]


def until_idle(dut):
    async def testbench(ctx):
        for unit in dut.units:
            await ctx.tick().until(unit.idle)

    return testbench


def count(strobes, into):
    """Testbench that counts the cycles in which each of the strobes is high."""

    async def testbench(ctx):
        async for _, _, *values in ctx.tick().sample(*strobes):
            into[:] = [before + value for before, value in zip(into, values)]

    return testbench


def in_turn(*testbenches):
    async def testbench(ctx):
        for each in testbenches:
            await each(ctx)

    return testbench


def test_functions_are_those_of_the_compiler():
    assert set(FUNCTIONS) == set(ATOMICS) and OPERANDS == ATOMIC_OPERANDS


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("size, word", [(4, 4), (4, 8), (8, 64)])
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
    simulate(
        dut,
        send(unit.i, asked, 0.8),
        in_turn(receive(unit.o, len(asked), found, 0.6), until_idle(dut)),
        background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)],
    )
    assert found == expected
    assert memory.bytes == content


@pytest.mark.parametrize("places", [2, 4, 256])
def test_reads_between_changes(places):
    """Words that are only read, in places of changed ones and the other way round, leave memory as it should be; what
    the units observe of words sums to those that were read and written."""
    rng = random.Random(places)
    dut, memory = System([("add", 4), ("read", 4)], 8, places=places), Memory(SIZE, rate=0.7)
    added = [{"addr": 4 * rng.randrange(SIZE // 4), "a": rng.randrange(1 << 32), "b": 0} for _ in range(150)]
    looked = [{"addr": 4 * rng.randrange(SIZE // 4), "a": 0, "b": 0} for _ in range(150)]
    before, content, found = bytes(memory.bytes), bytearray(memory.bytes), [[], []]
    observed, moved = [one for unit in dut.units for one in (unit.observe.word, unit.observe.burst)], [0] * 4
    for each in added:
        place = slice(each["addr"], each["addr"] + 4)
        content[place] = (int.from_bytes(content[place], "little") + each["a"] & (1 << 32) - 1).to_bytes(4, "little")
    simulate(
        dut,
        *(send(unit.i, asked, 0.6, seed=k) for k, (unit, asked) in enumerate(zip(dut.units, (added, looked)))),
        *(in_turn(receive(unit.o, 150, found[k], 0.6, seed=k), until_idle(dut)) for k, unit in enumerate(dut.units)),
        background=[
            memory.serve_reads(dut.memory.reads),
            memory.serve_writes(dut.memory.writes),
            count(observed, moved),
        ],
    )
    assert memory.bytes == content
    assert moved[0] + moved[2] == len(memory.reads) and min(moved[0], moved[2]) > 0
    assert (moved[1], moved[3]) == (len(memory.writes), 0)
    for each, value in zip(looked, found[1], strict=True):
        sums = [int.from_bytes(before[each["addr"] : each["addr"] + 4], "little")]
        for one in added:
            if one["addr"] == each["addr"]:
                sums.append(sums[-1] + one["a"] & (1 << 32) - 1)
        assert value in sums


def test_several_askers():
    """Nothing is lost or done twice, whoever asks: sums, and the numbers that were handed out."""
    rng = random.Random(5)
    dut, memory = System([("add", 4), ("add", 4), ("add", 8)], 16), Memory(SIZE, rate=0.8)
    memory.bytes[:] = bytes(SIZE)
    asked = [[{"addr": rng.choice([0, 4, 32]), "a": 1, "b": 0} for _ in range(50)] for _ in range(2)]
    asked.append([{"addr": 8, "a": 1 << 33, "b": 0}] * 30)
    found = [[], [], []]
    streams = [(unit, given, into) for unit, given, into in zip(dut.units, asked, found)]
    simulate(
        dut,
        *(send(unit.i, given, 0.7, seed=k) for k, (unit, given, _) in enumerate(streams)),
        *(
            in_turn(receive(unit.o, len(given), into, 0.5, seed=k), until_idle(dut))
            for k, (unit, given, into) in enumerate(streams)
        ),
        background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)],
    )
    for place in (0, 4, 32):
        numbers = sorted(
            n for given, got in zip(asked[:2], found) for each, n in zip(given, got) if each["addr"] == place
        )
        assert numbers == list(range(len(numbers)))
        assert int.from_bytes(memory.bytes[place : place + 4], "little") == len(numbers)
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
    simulate(
        dut,
        *(send(unit.i, given) for unit, given in zip(dut.units, asked)),
        takes_in_turn,
        background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)],
    )
    assert all(b - a in (1, 1 - (1 << 32)) for numbers in found for a, b in pairwise(numbers))


@pytest.mark.parametrize("word, places, latency", [(8, 4, 5), (16, 2, 40), (64, 4, 100), (8, 16, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_words_that_want_the_same_places(word, places, latency, seed):
    """Many more words than places: each is what the operations before have left, wherever it was meanwhile; with fences
    in between."""
    rng = random.Random(seed)
    dut, memory = System([("xchg", 4)], word, places), Memory(SIZE, latency=latency, rate=rng.choice([0.5, 1.0]))
    asked = [
        {"addr": 4 * rng.randrange(SIZE // 4 if rng.random() < 0.6 else 24), "a": rng.randrange(1 << 32), "b": 0}
        for _ in range(300)
    ]
    expected, content = [], bytearray(memory.bytes)
    for each in asked:
        place = slice(each["addr"], each["addr"] + 4)
        expected.append(int.from_bytes(content[place], "little"))
        content[place] = each["a"].to_bytes(4, "little")
    (unit,), found = dut.units, []

    async def fences(ctx):
        """They change nothing, whenever they come; what was answered is in memory behind one."""
        ctx.set(unit.fence.response.ready, 1)
        while len(found) < len(asked):
            for _ in range(rng.randrange(200)):
                await ctx.tick()
            known = len(found)
            ctx.set(unit.fence.request.valid, 1)
            await ctx.tick().until(unit.fence.request.ready)
            ctx.set(unit.fence.request.valid, 0)
            await ctx.tick().until(unit.fence.response.valid)
            later = {each["addr"] for each in asked[known:]}
            for k, each in enumerate(asked[:known]):
                if each["addr"] not in later and all(other["addr"] != each["addr"] for other in asked[k + 1 : known]):
                    assert int.from_bytes(memory.bytes[each["addr"] : each["addr"] + 4], "little") == each["a"]

    simulate(
        dut,
        send(unit.i, asked, rng.choice([0.5, 1.0]), seed=seed),
        in_turn(receive(unit.o, len(asked), found, rng.choice([0.6, 1.0]), seed=seed + 1), until_idle(dut)),
        background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes), fences],
        deadline=60_000,
    )
    assert found == expected
    assert memory.bytes == content


def cycles_of(dut, memory, addresses):
    """Cycles from the first answer to the last of additions of one."""
    (unit,), found, ended = dut.units, [], []

    async def count(ctx):
        cycles = 0
        while len(found) < len(addresses):
            await ctx.tick()
            cycles += len(found) > 0
        ended.append(cycles)

    simulate(
        dut,
        send(unit.i, [{"addr": a, "a": 1, "b": 0} for a in addresses]),
        receive(unit.o, len(addresses), found),
        count,
        background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)],
        deadline=60_000,
    )
    return ended[0]


def test_words_held_take_an_operation_a_cycle():
    """The same word, and a table of a kilobyte in any order: once it is there, every cycle has an operation."""
    rng = random.Random(1)
    same = cycles_of(System([("add", 4)], 64), Memory(SIZE, latency=100), [4] * 600)
    table = cycles_of(
        System([("add", 4)], 64, addr_bits=12), Memory(1024, latency=100), [4 * rng.randrange(256) for _ in range(2000)]
    )
    assert same < 600 + 5
    assert table < 2000 + 200


def test_an_operation_on_a_word_held_takes_as_long_as_the_estimate_says():
    """Each is asked for when the one before is answered; the first one waits for its word."""
    dut, memory, waits = System([("add", 4)], 64), Memory(SIZE, latency=100), []
    (unit,) = dut.units

    async def one_at_a_time(ctx):
        ctx.set(unit.o.ready, 1)
        for _ in range(6):
            ctx.set(unit.i.payload, {"addr": 4, "a": 1, "b": 0})
            ctx.set(unit.i.valid, 1)
            await ctx.tick().until(unit.i.ready)
            ctx.set(unit.i.valid, 0)
            cycles = 1
            while not ctx.get(unit.o.valid):
                await ctx.tick()
                cycles += 1
            waits.append(cycles)
            await ctx.tick()

    serving = [memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)]
    simulate(dut, one_at_a_time, background=serving, deadline=5000)
    first, *others = waits
    assert first > 100 and set(others) == {EXECUTED}


def test_words_far_apart_are_read_ahead_of_their_turn():
    """None is held, and each makes room: as many are under way as an asker has room for, so a memory of 100 cycles
    gives one every few."""
    size, rng = 1 << 20, random.Random(2)
    count = cycles_of(
        System([("add", 4)], 64, addr_bits=20),
        Memory(size, latency=100),
        [64 * rng.randrange(size // 64) for _ in range(1200)],
    )
    assert count < 1200 * 5


def test_a_reset_in_mid_run_forgets_what_was_held():
    """What was changed and not written is lost, as all else is, and no place tells of it."""
    dut, memory, found = System([("add", 4)], 8, places=4), Memory(SIZE), []
    (unit,) = dut.units
    wrapped = ResetInserter(reset := Signal())(dut)

    async def testbench(ctx):
        await send(unit.i, [{"addr": 8 * k, "a": 1, "b": 0} for k in range(12)])(ctx)
        await receive(unit.o, 12, [])(ctx)
        await ctx.tick().repeat(60)
        ctx.set(reset, 1)
        await ctx.tick().repeat(3)
        ctx.set(reset, 0)
        memory.bytes[:] = bytes(SIZE)
        await send(unit.i, [{"addr": 8 * k, "a": 5, "b": 0} for k in range(12)])(ctx)
        await receive(unit.o, 12, found)(ctx)
        await ctx.tick().until(unit.idle)

    simulate(
        wrapped, testbench, background=[memory.serve_reads(dut.memory.reads), memory.serve_writes(dut.memory.writes)]
    )
    assert found == [0] * 12
    assert memory.bytes[:96] == bytes([5, 0, 0, 0, 0, 0, 0, 0] * 12)
