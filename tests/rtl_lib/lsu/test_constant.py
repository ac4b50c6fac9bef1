"""The constant cache against golden reads of a byte memory: several loads at once, misses, refused words,
invalidation."""

import random

import pytest
from amaranth import *
from amaranth.lib import wiring

from rtl_lib.lsu.constant import ConstantCache, ConstantLoadUnit
from rtl_lib.lsu.load import load
from tests.repetitions import sampled
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE, WORD = 4096, 16


class Rig(Elaboratable):
    """A cache with its loads."""

    def __init__(self, accesses, words=8, **options):
        self.cache = ConstantCache(
            accesses=accesses, words=words, word_bytes=WORD, addr_bits=16, max_burst=4, **options
        )
        self.units = [ConstantLoadUnit(access_bytes=size, addr_bits=16) for size in accesses]

    def elaborate(self, platform):
        m = Module()
        m.submodules.cache = self.cache
        for k, (unit, port) in enumerate(zip(self.units, self.cache.loads, strict=True)):
            m.submodules[f"unit{k}"] = unit
            wiring.connect(m, unit.mem, port)
        return m


def addresses(rng, size, count, span):
    """A hot set, and now and then a stretch elsewhere."""
    found = []
    while len(found) < count:
        start = rng.randrange(0, SIZE if rng.random() < 0.2 else span, size)
        found += [(start + k * size) % SIZE for k in range(rng.choice([1, 1, 5]))]
    return found[:count]


@pytest.mark.pairwise
@pytest.mark.parametrize("fill", [1, 4])
@pytest.mark.parametrize("accesses", [(4,), (1, 16, 4)])
@pytest.mark.parametrize("give, take, serve, latency", [(1.0, 1.0, 1.0, 5), (0.8, 0.5, 0.6, 1), (1.0, 0.4, 1.0, 12)])
def test_loads(accesses, give, take, serve, latency, fill):
    rng = random.Random(len(accesses))
    rig, memory = Rig(accesses, fill=fill), Memory(SIZE, rate=serve, latency=latency)
    asked = [addresses(rng, size, 120, 160) for size in accesses]
    seen = [[] for _ in accesses]
    simulate(
        rig,
        *(send(unit.i, each, give, seed=k) for k, (unit, each) in enumerate(zip(rig.units, asked, strict=True))),
        *(
            receive(unit.o, len(each), into, take, seed=9 + k)
            for k, (unit, each, into) in enumerate(zip(rig.units, asked, seen, strict=True))
        ),
        background=[memory.serve_reads(rig.cache.mem)],
    )
    assert seen == [load(memory.bytes, each, size) for each, size in zip(asked, accesses, strict=True)]


@pytest.mark.parametrize("fill", [1, 2, 4])
def test_a_word_is_fetched_once_for_all(fill):
    rig, memory = Rig((4, 4, 4), words=16, fill=fill), Memory(SIZE, latency=7)
    seen = [[], [], []]
    asked = [list(range(0, 256, 4)) * 2, list(range(252, -4, -4)) * 2, [a for a in range(0, 256, 16) for _ in range(8)]]
    simulate(
        rig,
        *(send(unit.i, each) for unit, each in zip(rig.units, asked, strict=True)),
        *(receive(unit.o, 128, into) for unit, into in zip(rig.units, seen, strict=True)),
        background=[memory.serve_reads(rig.cache.mem)],
    )
    assert seen == [load(memory.bytes, each, 4) for each in asked]
    assert sorted(memory.reads) == [(addr, fill) for addr in range(0, 256, 16 * fill)]


def test_statistics_count_the_words_of_bursts():
    rig, memory, seen, counted = Rig((4,), fill=4), Memory(SIZE, latency=7), [], []

    async def count(ctx):
        while True:
            observe = rig.units[0].observe
            _, _, word, burst = await ctx.tick().sample(observe.word, observe.burst)
            counted.append((word, burst))

    simulate(
        rig,
        send(rig.units[0].i, [20, 24, 0, 60, 64]),
        receive(rig.units[0].o, 5, seen),
        background=[memory.serve_reads(rig.cache.mem), count],
    )
    assert [sum(each) for each in zip(*counted, strict=True)] == [8, 2]


def test_hits_are_answered_in_every_cycle():
    rig, memory, seen, time = Rig((4,)), Memory(SIZE), [], []

    async def clock(ctx):
        while True:
            time.append(1)
            await ctx.tick()

    simulate(
        rig,
        send(rig.units[0].i, [n * 4 % 64 for n in range(300)]),
        receive(rig.units[0].o, 300, seen),
        background=[memory.serve_reads(rig.cache.mem), clock],
    )
    assert len(time) < 300 + 8 + 4 * 20 + 10


@pytest.mark.parametrize("fill, wait", [*((1, wait) for wait in range(14)), *((4, wait) for wait in range(28))])
def test_what_is_forgotten_is_read_anew(fill, wait):
    """Memory changes before ``forget``, which comes at any time while loads run: what is taken after it is new."""
    rig, memory, seen = Rig((4, 4), fill=fill), Memory(SIZE, latency=4), [[], []]
    old, new = bytes(memory.bytes), bytes(255 - b for b in memory.bytes)
    moment, taken = [], [[], []]

    async def forget(ctx):
        await ctx.tick().repeat(30 + wait)
        memory.bytes[:] = new
        ctx.set(rig.cache.forget, 1)
        moment.append(True)
        await ctx.tick()
        ctx.set(rig.cache.forget, 0)

    def noting(k):
        async def watch(ctx):
            while True:
                forgotten = bool(moment)
                _, _, valid, ready = await ctx.tick().sample(rig.units[k].i.valid, rig.units[k].i.ready)
                if valid and ready:
                    taken[k].append(forgotten)

        return watch

    asked = [[n * 4 % 96 for n in range(80)], [n * 20 % 300 // 4 * 4 for n in range(60)]]
    simulate(
        rig,
        forget,
        *(send(unit.i, each, 0.9, seed=k) for k, (unit, each) in enumerate(zip(rig.units, asked, strict=True))),
        *(
            receive(unit.o, len(each), into, 0.7, seed=5 + k)
            for k, (unit, each, into) in enumerate(zip(rig.units, asked, seen, strict=True))
        ),
        background=[memory.serve_reads(rig.cache.mem), noting(0), noting(1)],
    )
    for each, values, after in zip(asked, seen, taken, strict=True):
        assert sum(after) > 5
        for addr, value, forgotten in zip(each, values, after, strict=True):
            fresh, stale = (load(text, [addr], 4)[0] for text in (new, old))
            assert value == fresh or (value == stale and not forgotten)


@pytest.mark.parametrize("seed", sampled(range(8)))
def test_periods_begin_again(seed):
    """Memory changes before each of many ``forget``: what is taken after it is at least as new, and an offer stays what
    it is."""
    rng, rig, memory, seen = (
        random.Random(seed),
        Rig((4, 4), period_bits=2, fill=1 + 3 * (seed % 2)),
        Memory(SIZE, latency=3),
        [[], []],
    )
    versions, taken = [0], [[], []]
    memory.bytes[:] = bytes(SIZE)

    async def forget(ctx):
        while True:
            for _ in range(rng.choice([1, 2, 5, 20, 40])):
                await ctx.tick()
            versions.append(versions[-1] + 1)
            memory.bytes[:] = bytes([versions[-1] % 256]) * SIZE
            ctx.set(rig.cache.forget, 1)
            await ctx.tick()
            ctx.set(rig.cache.forget, 0)

    def noting(unit, into):
        async def watch(ctx):
            while True:
                newest = versions[-1]  # a load taken in the cycle of ``forget`` itself is taken after it
                _, _, valid, ready = await ctx.tick().sample(unit.i.valid, unit.i.ready)
                into.extend([newest] if valid and ready else [])

        return watch

    def steady(unit):
        async def watch(ctx):
            offer = None
            while True:
                _, _, valid, ready, value = await ctx.tick().sample(
                    unit.mem.response.valid, unit.mem.response.ready, unit.mem.response.payload
                )
                assert offer is None or (valid and value == offer), "an offer was withdrawn or changed"
                offer = value if valid and not ready else None

        return watch

    asked = [[rng.randrange(0, 128, 4) for _ in range(150)] for _ in rig.units]
    simulate(
        rig,
        *(send(unit.i, each, 0.9, seed=k) for k, (unit, each) in enumerate(zip(rig.units, asked, strict=True))),
        *(
            receive(unit.o, len(each), into, 0.4, seed=5 + k)
            for k, (unit, each, into) in enumerate(zip(rig.units, asked, seen, strict=True))
        ),
        background=[
            memory.serve_reads(rig.cache.mem),
            forget,
            *(noting(*each) for each in zip(rig.units, taken, strict=True)),
            *map(steady, rig.units),
        ],
    )
    assert 12 < versions[-1] < 256
    for values, least in zip(seen, taken, strict=True):
        for value, version in zip(values, least, strict=True):
            number = value & 0xFF
            assert value == number * 0x01010101 and number >= version


@pytest.mark.parametrize("fill", [1, 4])
def test_a_refused_word_is_not_kept(fill):
    """Nor does it disturb the loads of its neighbours in a block."""
    rig, memory, seen = Rig((4, 4), fill=fill), Memory(SIZE, bad=range(32, 48)), [[], []]
    asked = [0, 36, 4, 40, 48]
    simulate(
        rig,
        *(send(unit.i, asked) for unit in rig.units),
        *(receive(unit.o, len(asked), into, 0.7, extra=unit.error) for unit, into in zip(rig.units, seen, strict=True)),
        background=[memory.serve_reads(rig.cache.mem)],
    )
    for each in seen:
        assert [error for _, error in each] == [0, 1, 0, 1, 0]
        assert [value for value, error in each if not error] == load(memory.bytes, [0, 4, 48], 4)
