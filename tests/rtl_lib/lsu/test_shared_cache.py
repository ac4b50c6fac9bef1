"""A cache that several loads share against golden reads of a byte memory: hits on words under way, small rings, loads
whose answers are not taken, refused words, flushes."""

import random

import pytest
from amaranth import *
from amaranth.lib import wiring

from rtl_lib.lsu import shared_cache, shared_lookup
from rtl_lib.lsu.load import load
from rtl_lib.lsu.shared_cache import SharedCache, SharedLoadUnit
from tests.rtl_lib.lsu.test_cached_load import fetched, returning_addresses
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE = 8192


class Rig(Elaboratable):
    """A cache with its loads."""

    def __init__(self, loads=3, access=4, word=16, depth=40, **options):
        given = {"words": 32, "pending": 9, "max_burst": 4, "burst_align": 256, **options}
        self.cache = SharedCache(loads=loads, access_bytes=access, word_bytes=word, addr_bits=20, depth=depth, **given)
        self.units = [SharedLoadUnit(access_bytes=access, addr_bits=20, depth=depth) for _ in range(loads)]

    def elaborate(self, platform):
        m = Module()
        m.submodules.cache = self.cache
        for k, (unit, port) in enumerate(zip(self.units, self.cache.loads, strict=True)):
            m.submodules[f"unit{k}"] = unit
            wiring.connect(m, unit.mem, port)
        return m


def run(rig, memory, asked, give=1.0, take=1.0, background=()):
    """The values that each load gets."""
    seen = [[] for _ in asked]
    pairs = list(zip(rig.units, asked, seen, strict=True))
    simulate(
        rig,
        *(send(unit.i, each, give, seed=k) for k, (unit, each, _) in enumerate(pairs)),
        *(receive(unit.o, len(each), into, take, seed=9 + k) for k, (unit, each, into) in enumerate(pairs)),
        background=[memory.serve_reads(rig.cache.mem), *background],
    )
    return seen


@pytest.mark.pairwise
@pytest.mark.parametrize("access, word", [(1, 4), (4, 16), (2, 64)])
@pytest.mark.parametrize("give, take, serve, latency", [(1.0, 1.0, 1.0, 5), (0.9, 0.4, 0.9, 1), (0.7, 1.0, 0.4, 30)])
@pytest.mark.parametrize("words, pending", [(32, 9), (16, 15)])
def test_loads(access, word, give, take, serve, latency, words, pending):
    rng = random.Random(word + access + words)
    asked = [returning_addresses(rng, access, word, 160) for _ in range(3)]
    asked[2] = asked[0][:]  # two loads of the same words at the same time
    memory = Memory(SIZE, rate=serve, latency=latency, burst_align=256)
    rig = Rig(access=access, word=word, words=words, pending=pending)
    assert run(rig, memory, asked, give, take) == [load(memory.bytes, each, access) for each in asked]


@pytest.mark.parametrize("give", [1.0, 0.6])
@pytest.mark.parametrize("latency", [3, 40])
def test_a_word_is_fetched_once_for_all(give, latency):
    """Also while it is under way: all loads ask for the same words in different orders."""
    rng, words = random.Random(4), [n * 16 for n in range(20)]
    asked = [[n + 4 * rng.randrange(4) for _ in range(3) for n in rng.sample(words, 20)] for _ in range(4)]
    memory = Memory(SIZE, latency=latency)
    rig = Rig(loads=4, words=64, pending=32)
    assert run(rig, memory, asked, give) == [load(memory.bytes, each, 4) for each in asked]
    assert sorted(fetched(memory, 16)) == words


def test_each_load_is_answered_in_every_cycle():
    """Four loads of words that are here take no longer than one."""
    memory, times = Memory(SIZE, latency=5), []

    async def clock(ctx):
        while True:
            times.append(1)
            await ctx.tick()

    rig = Rig(loads=4, words=32, pending=8)
    asked = [[(n * 4 + 16 * k) % 256 for n in range(400)] for k in range(4)]
    assert run(rig, memory, asked, background=[clock]) == [load(memory.bytes, each, 4) for each in asked]
    assert len(times) < 400 + 60


def test_a_load_whose_answers_nobody_takes_holds_up_no_other():
    memory, seen = Memory(SIZE, latency=5), [[], []]
    rig = Rig(loads=2, words=16, pending=8, depth=6)
    rng = random.Random(2)
    asked = [[rng.randrange(SIZE // 4) * 4 for _ in range(60)] for _ in range(2)]

    async def late(ctx):
        while len(seen[1]) < 60:
            await ctx.tick()
        await receive(rig.units[0].o, 60, seen[0])(ctx)

    simulate(
        rig,
        *(send(unit.i, each) for unit, each in zip(rig.units, asked, strict=True)),
        receive(rig.units[1].o, 60, seen[1]),
        late,
        background=[memory.serve_reads(rig.cache.mem)],
    )
    assert seen == [load(memory.bytes, each, 4) for each in asked]


@pytest.mark.parametrize("wait", range(1, 16, 3))
def test_what_is_flushed_is_read_anew(wait):
    """Memory changes, one load flushes, and all take addresses from that cycle on: they see what is new."""
    memory = Memory(SIZE, latency=4)
    rig, seen, rng = Rig(loads=2, words=32, pending=8), [[], []], random.Random(wait)
    first = [[rng.randrange(64) * 4 for _ in range(40)] for _ in range(2)]
    then = [[rng.randrange(64) * 4 for _ in range(40)] for _ in range(2)]
    old = bytes(memory.bytes)

    async def flush(ctx):
        while not all(len(each) == 40 for each in seen):
            await ctx.tick()
        await ctx.tick().repeat(wait)
        memory.bytes[:] = bytes(255 - b for b in old)
        ctx.set(rig.units[wait % 4 // 2].flush, 1)
        await ctx.tick()
        ctx.set(rig.units[wait % 4 // 2].flush, 0)

    def sender(k):
        async def both(ctx):
            await send(rig.units[k].i, first[k])(ctx)
            while bytes(memory.bytes) == old:
                await ctx.tick()
            await send(rig.units[k].i, then[k])(ctx)

        return both

    simulate(
        rig,
        *(sender(k) for k in range(2)),
        *(receive(rig.units[k].o, 80, seen[k]) for k in range(2)),
        background=[memory.serve_reads(rig.cache.mem), flush],
    )
    assert seen == [load(old, a, 4) + load(memory.bytes, b, 4) for a, b in zip(first, then, strict=True)]


def overtaken(delay):
    """Whether a load gets right values whose queue is full of accesses to a word that comes late, and to old words
    behind them, while another load, after a ``delay``, allocates places as fast as it can. The words of those follow the
    late one without a gap."""
    memory, rig, seen = Memory(SIZE, latency=5), Rig(loads=2, words=32, pending=15, depth=60), [[], []]
    old, fresh = [n * 16 for n in range(16)], [1024 + n * 16 for n in range(60)]
    asked = [[*old, *[512] * 38, *old], fresh]

    async def late(ctx):
        while len(seen[0]) < 16:
            await ctx.tick()
        memory.latency = 120
        await ctx.tick().repeat(delay)
        memory.latency = 5
        await send(rig.units[1].i, fresh)(ctx)

    async def first(ctx):
        await send(rig.units[0].i, old)(ctx)
        while len(seen[0]) < 16:
            await ctx.tick()
        await send(rig.units[0].i, asked[0][16:])(ctx)

    simulate(
        rig,
        first,
        late,
        *(receive(unit.o, len(each), into) for unit, each, into in zip(rig.units, asked, seen, strict=True)),
        background=[memory.serve_reads(rig.cache.mem)],
    )
    return seen == [load(memory.bytes, each, 4) for each in asked]


DELAYS = range(20, 70, 10)


def test_no_place_is_overwritten_that_an_access_waits_for():
    assert all(overtaken(delay) for delay in DELAYS)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # senders that the failure cuts short
def test_a_place_that_is_overwritten_too_early_is_noticed(monkeypatch):
    monkeypatch.setattr(shared_cache, "SLACK", -40)
    with pytest.raises(AssertionError):
        assert all(overtaken(delay) for delay in DELAYS)


def test_words_that_are_not_found_again_are_noticed(monkeypatch):
    """With hints that most words share, words are fetched again; the values are right all the same."""
    counts = []
    for broken in (False, True):
        if broken:
            monkeypatch.setattr(shared_lookup, "fold", lambda word, bits: word[:1])
        memory, rng = Memory(SIZE, latency=9), random.Random(3)
        asked = [[rng.randrange(20) * 16 for _ in range(150)] for _ in range(3)]
        assert run(Rig(words=64, pending=32), memory, asked) == [load(memory.bytes, each, 4) for each in asked]
        counts.append(len(fetched(memory, 16)))
    assert counts[0] == 20 < counts[1]
