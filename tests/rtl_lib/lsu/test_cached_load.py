"""CachedLoadUnit against golden reads of a byte memory, and WordFinder against its golden list of misses."""

import random

import pytest

from rtl_lib.lsu.barrier_loop_guard import PlaceGuard
from rtl_lib.lsu.burst import words_read
from rtl_lib.lsu.cached_load import CachedLoadUnit
from rtl_lib.lsu.cam_lookup import WordFinder, fold, words_placed
from rtl_lib.lsu.load import load
from rtl_lib.lsu.word_assembler import WordBuffer
from tests.repetitions import sampled
from tests.rtl_lib.lsu.test_load_units import hit_times
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE = 8192
WIDTHS = [(1, 4), (4, 4), (4, 16), (2, 64), (64, 64)]
LOOKUPS = [False, True]  # whether the comparison of a lookup is registered
RATES = [(1.0, 1.0, 1.0), (0.9, 0.4, 0.9), (0.7, 1.0, 0.4)]  # of the giver, the taker, the memory


def returning_addresses(rng, access, word, count):
    """Rows read in turns, now and then another set of rows, and stray accesses."""
    addresses = []
    while len(addresses) < count:
        rows = [rng.randrange(SIZE // word) * word for _ in range(rng.randint(1, 7))]
        for n in range(rng.randint(1, 20)):
            addresses += [(row + n * access) % SIZE for row in rows]
        addresses += [rng.randrange(SIZE // access) * access for _ in range(rng.randint(0, 3))]
    return addresses[:count]


def fetched(memory, word):
    return [addr + n * word for addr, words in memory.reads for n in range(words)]


def unit(access, word, **options):
    return CachedLoadUnit(
        **{
            "access_bytes": access,
            "word_bytes": word,
            "addr_bits": 20,
            "depth": 40,
            "max_burst": 4,
            "words": 16,
            "pending": 5,
            "burst_align": 256,
            **options,
        }
    )


@pytest.mark.pairwise
@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, take, serve", RATES)
@pytest.mark.parametrize("registered", LOOKUPS)
def test_cached_load_unit(access, word, give, take, serve, registered):
    addresses = returning_addresses(random.Random(word + access), access, word, 300)
    memory, seen = Memory(SIZE, rate=serve, burst_align=256), []
    dut = unit(access, word, registered=registered)
    simulate(
        dut,
        send(dut.i, addresses, give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, access)
    if access < word:
        assert len(fetched(memory, word)) < len(words_read(addresses, word)), "nothing was used again"


def test_places_are_used_again_in_order_and_late_responses_overwrite_nothing():
    """A small ring, a slow memory and a slow reader: the window between reservation and use is always full."""
    rng = random.Random(5)
    addresses = returning_addresses(rng, 4, 16, 400)
    memory, seen = Memory(SIZE, latency=30), []
    dut = unit(4, 16, words=8, pending=6)
    simulate(
        dut, send(dut.i, addresses), receive(dut.o, len(addresses), seen, 0.5), background=[memory.serve_reads(dut.mem)]
    )
    assert seen == load(memory.bytes, addresses, 4)


@pytest.mark.parametrize("give", [1.0, 0.6])
@pytest.mark.parametrize("apart, length", [(256, 16), (1024, 4)])
@pytest.mark.parametrize("registered", LOOKUPS)
def test_each_word_is_fetched_once_while_all_fit(apart, length, give, registered):
    """Rule 2, with words that share no index: rows a power of two apart, read in turns, twice."""
    rows, word = 8, 16
    addresses = [row * apart + n * 4 for _ in range(2) for n in range(length) for row in range(rows)]
    memory, seen = Memory(SIZE), []
    dut = unit(4, word, words=64, pending=16, registered=registered)
    simulate(
        dut,
        send(dut.i, addresses, give),
        receive(dut.o, len(addresses), seen),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, 4)
    assert sorted(fetched(memory, word)) == sorted({a // word * word for a in addresses})


@pytest.mark.parametrize("registered", LOOKUPS)
def test_more_words_stay_while_few_are_under_way(registered):
    """Circles of 50 words through 64 places, 32 of which are for words under way, but hardly any is."""
    addresses = [n * 64 + k * 4 for _ in range(3) for n in range(50) for k in range(16)]
    memory, seen = Memory(SIZE), []
    dut = unit(4, 64, words=64, pending=32, registered=registered)
    simulate(
        dut, send(dut.i, addresses), receive(dut.o, len(addresses), seen), background=[memory.serve_reads(dut.mem)]
    )
    assert seen == load(memory.bytes, addresses, 4)
    assert len(fetched(memory, 64)) == 50


def deep_addresses(rng):
    """Two words of new ones, one that was fetched long ago, and then a crowd of new ones; in between all comes to
    rest."""
    fresh, order, addresses = iter(range(SIZE // 4)), [], []
    for _ in range(20):
        for crowd in (rng.randint(6, 14), 1):
            order += [4 * next(fresh) for _ in range(crowd)]
            addresses += order[-crowd:]
            addresses += [order[-1]] * (40 if crowd > 1 else 0)
        addresses.append(order[-rng.randint(8, 14)])
    return addresses


@pytest.mark.parametrize("take", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("registered", LOOKUPS)
def test_words_that_are_waited_for_stay_when_a_crowd_comes(take, registered):
    rng = random.Random(8)
    addresses = deep_addresses(rng)
    memory, seen = Memory(SIZE, latency=30), []
    dut = unit(4, 4, words=16, pending=8, registered=registered)
    simulate(
        dut,
        send(dut.i, addresses),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, 4)
    ways = words_placed([a // 4 for a in addresses], 16, 8, 6)
    assert len(fetched(memory, 4)) < len(ways), "no word was found deep in the ring"


@pytest.mark.parametrize("seed", sampled(range(20)))
def test_guard_lets_no_more_words_be_placed_than_a_deep_one_can_stand(seed):
    """Rules 1 and 2, against a list of the accesses under way."""
    rng, margin = random.Random(seed), 4
    dut = PlaceGuard(depth=12, margin=margin)

    async def drive(ctx):
        under_way, held, most = [], 0, 0  # of each: words placed since if it is deep, else None
        for _ in range(400):
            hold, deep_ones = ctx.get(dut.hold), [n for n in under_way if n is not None]
            assert all(n <= margin for n in deep_ones)
            assert deep_ones or not hold
            held += hold
            most = max([most, *deep_ones])
            kind = rng.choice(["", "deep", "hit", "placed", "placed"]) if len(under_way) < 12 else ""
            kind = "" if kind == "placed" and hold else kind
            answered = bool(under_way) and rng.random() < 0.45
            for port, value in (
                (dut.deep, kind == "deep"),
                (dut.placed, kind == "placed"),
                (dut.level, len(under_way)),
                (dut.answered, answered),
            ):
                ctx.set(port, value)
            if kind == "placed":
                under_way = [n if n is None else n + 1 for n in under_way]
            under_way = under_way[answered:] + [0 if kind == "deep" else None] * bool(kind)
            await ctx.tick()
        assert held and most == margin

    simulate(dut, drive)


def test_guard_holds_nothing_where_words_are_rare():
    """A deep access every cycle but that of every tenth, which places a word: eight are under way, and each stretch is
    longer than that."""
    dut, held = PlaceGuard(depth=8, margin=4), []

    async def drive(ctx):
        for n in range(300):
            ctx.set(dut.placed, n % 10 == 9)
            ctx.set(dut.deep, n % 10 != 9)
            ctx.set(dut.level, min(n, 8))
            ctx.set(dut.answered, n >= 8)
            held.append(ctx.get(dut.hold))
            await ctx.tick()

    simulate(dut, drive)
    assert not any(held)


@pytest.mark.parametrize("registered", LOOKUPS)
def test_an_access_a_cycle(registered):
    """Hits and misses pass at one a cycle when the words under way are covered by ``pending``."""
    rows, count = 7, 420
    addresses = [n % rows * 1024 + n // rows * 4 for n in range(count)]
    memory, seen, times = Memory(SIZE, latency=20), [], []
    dut = CachedLoadUnit(access_bytes=4, word_bytes=16, addr_bits=20, words=128, pending=64, registered=registered)

    async def clock(ctx):
        while True:
            times.append(len(seen))
            await ctx.tick()

    simulate(dut, send(dut.i, addresses), receive(dut.o, count, seen), background=[memory.serve_reads(dut.mem), clock])
    assert seen == load(memory.bytes, addresses, 4)
    started = times.index(next(n for n in times if n))
    assert len(times) - started <= count + 8
    words = {a // 16 * 16 for a in addresses}
    assert sorted(fetched(memory, 16)) == sorted(words)


@pytest.mark.parametrize("registered", LOOKUPS)
def test_latency_of_a_miss_and_of_a_hit(registered):
    memory, times = Memory(SIZE, latency=5), []
    dut = CachedLoadUnit(access_bytes=4, word_bytes=16, addr_bits=20, words=128, registered=registered)

    async def chase(ctx):
        ctx.set(dut.o.ready, 1)
        for n in [0, 1, 2, 0, 1, 2]:
            ctx.set(dut.i.payload, n * 256)
            ctx.set(dut.i.valid, 1)
            await ctx.tick().until(dut.i.ready)
            ctx.set(dut.i.valid, 0)
            cycles = 1
            while not ctx.get(dut.o.valid):
                await ctx.tick()
                cycles += 1
            times.append(cycles)
            await ctx.tick()

    simulate(dut, chase, background=[memory.serve_reads(dut.mem)])
    finder = WordFinder.timing_of(registered).latency
    assert times == [finder + memory.latency + 3] * 3 + [finder + 2 + WordBuffer.timing.latency] * 3


@pytest.mark.parametrize("registered", LOOKUPS)
def test_a_hit_in_the_word_in_use_is_not_looked_up(registered):
    """Rule 5: neither the first access to a word, nor one that returns to it, nor one after a flush."""
    memory = Memory(SIZE, latency=5)
    dut = CachedLoadUnit(access_bytes=4, word_bytes=16, addr_bits=20, words=128, registered=registered)
    finder = WordFinder.timing_of(registered).latency
    looked_up, fetched_in = finder + 2 + WordBuffer.timing.latency, finder + memory.latency + 3
    times = hit_times(dut, memory, [0, 4, 64, 68, 0, 12, 12, 8], flushed={6})
    assert times == [fetched_in, 1, fetched_in, 1, looked_up, 1, fetched_in, 1]


@pytest.mark.pairwise
@pytest.mark.parametrize("give", [0.6, 0.3, 0.15])
@pytest.mark.parametrize("take", [1.0, 0.4])
@pytest.mark.parametrize("registered", LOOKUPS)
def test_accesses_with_pauses_stay_in_order(give, take, registered):
    """The unit comes to rest now and then, with accesses to the word in use and to others in any order."""
    rng, memory, seen = random.Random(6), Memory(SIZE, latency=3), []
    addresses = [4 * rng.randrange(8) + 64 * rng.randrange(2) * (n % 5 == 0) for n in range(400)]
    dut = unit(4, 16, registered=registered)
    simulate(
        dut,
        send(dut.i, addresses, give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, 4)


@pytest.mark.parametrize("rate, take", [(1.0, 1.0), (0.5, 0.5), (0.15, 1.0)])
@pytest.mark.parametrize("registered", LOOKUPS)
def test_flush_at_any_time_shows_what_was_written_before(rate, take, registered):
    """Memory changes and is flushed at random moments: an access sees a value at least as new as its last flush."""
    rng = random.Random(int(rate * 10))
    memory, seen, writes, floor = Memory(SIZE), [], [0], []
    dut = unit(4, 16, registered=registered)
    addresses = [4 * rng.randrange(24 if rate > 0.2 else 6) for _ in range(400)]

    async def change(ctx):
        for version in range(1, 1000):
            for _ in range(rng.randrange(12)):
                await ctx.tick()
            for a in range(0, 128, 4):
                memory.bytes[a : a + 4] = version.to_bytes(4, "little")
            ctx.set(dut.flush, 1)
            writes.append(version)
            await ctx.tick()
            ctx.set(dut.flush, 0)

    async def watch(ctx):
        while True:
            _, _, valid, ready = await ctx.tick().sample(dut.i.valid, dut.i.ready)
            if valid and ready:
                floor.append(version_in_force[0])

    async def versions(ctx):
        while True:
            if ctx.get(dut.flush):
                version_in_force[0] = writes[-1]
            await ctx.delay(0.1e-6)

    version_in_force = [0]
    for a in range(0, 128, 4):
        memory.bytes[a : a + 4] = bytes(4)
    simulate(
        dut,
        send(dut.i, addresses, rate),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem), change, watch, versions],
    )
    assert len(floor) == len(seen)
    assert all(value >= least for value, least in zip(seen, floor, strict=True))


def test_errors_go_with_their_access():
    memory, seen = Memory(SIZE, bad=range(32, 64)), []
    dut = CachedLoadUnit(access_bytes=4, word_bytes=16, addr_bits=20, words=128)
    addresses = list(range(0, 128, 4)) * 2
    simulate(
        dut, send(dut.i, addresses), receive(dut.o, 64, seen, extra=dut.error), background=[memory.serve_reads(dut.mem)]
    )
    assert [bool(error) for _, error in seen] == [a in memory.bad for a in addresses]


@pytest.mark.pairwise
@pytest.mark.parametrize("calm", [0, 1])
@pytest.mark.parametrize("take", [1.0, 0.4])
@pytest.mark.parametrize("give", [0.2, 1.0])
@pytest.mark.parametrize("registered", LOOKUPS)
@pytest.mark.parametrize("often, stray", [(8, 1 << 10), (3, 6), (17, 18)])
def test_finder_misses_what_the_golden_function_misses(give, take, calm, registered, often, stray):
    """Words that come back at once, also after one other, and such as come back when their place is used again."""
    rng, reach = random.Random(11), 14 if calm else 11
    words = [rng.choice([rng.randrange(stray), *range(often)]) for _ in range(500)]
    geometry = {"word_bits": 12, "offset_bits": 3, "places": 16, "kept": 11, "reach": 14, "index_bits": 12}
    dut, seen = WordFinder(**geometry, registered=registered), []

    async def set_calm(ctx):
        ctx.set(dut.calm, calm)

    simulate(
        dut,
        set_calm,
        send(dut.i, [{"word": w, "offset": w & 7} for w in words], give),
        receive(dut.o, len(words), seen, take),
    )
    ring, latest = [], None
    for word, found in zip(words, seen, strict=True):
        assert (found.word, found.offset) == (word, word & 7)
        if found.next:
            latest = len(ring)
            ring.append(word)
        elif found.again:
            latest = max(n for n in range(len(ring)) if n % 16 == found.place)
        assert ring[latest] == word and (found.next or len(ring) - latest <= reach)
        assert found.deep == (found.again and len(ring) - latest > 11)
    assert ring == words_placed(words, 16, reach, 12)


@pytest.mark.parametrize("take", [1.0, 0.5])
@pytest.mark.parametrize("registered", LOOKUPS)
def test_finder_tells_neighbours_that_share_an_index_apart(take, registered):
    """One index for all: the words behind each other have read stale hints, and must not believe them."""
    rng = random.Random(3)
    words = [rng.choice([0, 0x11, 0x22, 0x33]) for _ in range(300)]
    assert len({fold(word, 4) for word in words}) == 1
    memory, seen = Memory(SIZE), []
    dut = unit(4, 4, words=8, pending=4, registered=registered)
    simulate(
        dut,
        send(dut.i, [4 * w for w in words]),
        receive(dut.o, len(words), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, [4 * w for w in words], 4)


def test_guard_refuses_an_odd_margin():
    with pytest.raises(ValueError, match="margin must be an even number of words, not 3"):
        PlaceGuard(depth=4, margin=3)


@pytest.mark.parametrize(
    "wrong, match",
    [
        ({"words": 24}, "words"),
        ({"words": 16, "pending": 16}, "pending"),
        ({"access_bytes": 3}, "access_bytes"),
        ({"pending": 3}, "pending"),
        ({"word_bytes": 24}, "word_bytes"),
        ({"burst_align": 8192}, "burst_align"),
    ],
)
def test_refuses_wrong_parameters(wrong, match):
    with pytest.raises(ValueError, match=match):
        unit(
            **{
                "access": 4,
                "word": 16,
                **{{"access_bytes": "access", "word_bytes": "word"}.get(k, k): v for k, v in wrong.items()},
            }
        ).elaborate(None)
