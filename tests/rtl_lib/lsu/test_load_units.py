"""LoadUnit and StreamLoadUnit against golden reads of a byte memory."""

import random

import pytest

from rtl_lib.lsu.burst import words_read
from rtl_lib.lsu.load import LoadUnit, load
from rtl_lib.lsu.stream_load import StreamLoadUnit, run_addresses
from rtl_lib.lsu.stream_run import words_ahead
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE = 8192
WIDTHS = [(1, 4), (4, 4), (4, 16), (2, 64), (64, 64)]
RATES = [(1.0, 1.0, 1.0), (0.9, 0.4, 0.9), (0.7, 1.0, 0.4)]  # of the giver, the taker, the memory


def mixed_addresses(rng, access, count):
    """Runs up, runs down, jumps and repeats."""
    addresses, addr = [], 0
    while len(addresses) < count:
        addr, step = rng.randrange(SIZE // access), rng.choice([1, 1, 1, -1, 0, 5])
        for _ in range(rng.randint(1, 40)):
            addresses.append(addr % (SIZE // access) * access)
            addr += step
    return addresses[:count]


def fetched(memory, word):
    return [addr + n * word for addr, words in memory.reads for n in range(words)]


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, take, serve", RATES)
def test_load_unit(access, word, give, take, serve):
    rng = random.Random(word + access)
    addresses = mixed_addresses(rng, access, 150)
    memory, seen = Memory(SIZE, rate=serve, burst_align=256), []
    dut = LoadUnit(
        access_bytes=access, word_bytes=word, addr_bits=20, depth=40, max_burst=4, pending=9, burst_align=256
    )
    simulate(
        dut,
        send(dut.i, addresses, give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, access)
    assert fetched(memory, word) == words_read(addresses, word)


@pytest.mark.parametrize("word", [4, 64])
@pytest.mark.parametrize("give, take, serve", RATES)
def test_own_words(word, give, take, serve):
    """Each access fetches its word, also that of the access before it."""
    rng = random.Random(word)
    addresses = mixed_addresses(rng, word, 150)
    memory, seen = Memory(SIZE, rate=serve, burst_align=256), []
    sizes = {"depth": 40, "max_burst": 4, "pending": 9, "burst_align": 256}
    dut = LoadUnit(access_bytes=word, word_bytes=word, addr_bits=20, own_words=True, **sizes)
    simulate(
        dut,
        send(dut.i, addresses, give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, word)
    assert fetched(memory, word) == addresses


def runs_of(rng, access, word, count):
    """Addresses with the last one of their run: steps of up to a word, some runs of one access or of none ahead."""
    addresses = []
    while len(addresses) < count:
        addr, step = (
            rng.randrange(SIZE // access) * access,
            rng.choice([access, access, rng.randint(1, word // access) * access]),
        )
        run = list(range(addr, min(SIZE, addr + rng.choice([1, 5, 100]) * step), step))
        known = rng.choice([run[-1], run[-1], run[len(run) // 2], None])  # not all of a run need be known
        addresses += [(a, max(a, known) if known is not None else a) for a in run]
    return addresses[:count] if addresses[count - 1][0] // word == addresses[count - 1][1] // word else addresses


def given_runs(addresses):
    return [{"addr": addr, "last": last} for addr, last in addresses]


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, take, serve", RATES)
def test_load_unit_that_reads_ahead(access, word, give, take, serve):
    """Every word is fetched once, and nothing but what accesses ask for."""
    rng = random.Random(word + access)
    addresses = runs_of(rng, access, word, 150)
    memory, seen = Memory(SIZE, rate=serve, burst_align=256), []
    dut = LoadUnit(
        access_bytes=access,
        word_bytes=word,
        addr_bits=20,
        depth=40,
        max_burst=4,
        pending=9,
        burst_align=256,
        reads_ahead=True,
    )
    simulate(
        dut,
        send(dut.i, given_runs(addresses), give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, [addr for addr, _ in addresses], access)
    assert fetched(memory, word) == words_read([addr for addr, _ in addresses], word)


@pytest.mark.parametrize("start, count", [(0, 1024), (40, 700), (1000, 3), (128, 900), (244, 900), (240, 1300)])
def test_scalars_of_a_run_come_in_long_bursts(start, count):
    """A burst for each block of 16 words, but for the first word of all, which waits for none."""
    memory, seen = Memory(SIZE, latency=20), []
    dut = LoadUnit(access_bytes=4, word_bytes=16, addr_bits=20, pending=64, reads_ahead=True)
    last = start + 4 * (count - 1)
    simulate(
        dut,
        send(dut.i, given_runs((a, last) for a in range(start, last + 4, 4))),
        receive(dut.o, count, seen),
        background=[memory.serve_reads(dut.mem)],
    )
    blocks = last // 256 - start // 256 + 1
    assert seen == load(memory.bytes, range(start, last + 4, 4), 4)
    assert len(memory.reads) <= blocks + 1
    assert fetched(memory, 16)[1:] == [16 * w for w in range(start // 16 + 1, last // 16 + 1)]


def test_what_a_run_asks_for():
    assert words_ahead(5, 40, 16) == list(range(6, 16))
    assert words_ahead(5, 9, 16) == [6, 7, 8, 9]
    assert words_ahead(8, 40, 16) == list(range(9, 32))
    assert words_ahead(15, 31, 16) == list(range(16, 32))
    assert words_ahead(15, 15, 16) == words_ahead(7, 7, 16) == []
    assert words_ahead(4, 40, 6) == [5, 6, 7]  # blocks of four


def test_a_flush_within_a_run_counts_from_its_end_on():
    memory, seen, expected = Memory(SIZE), [], []
    dut = LoadUnit(access_bytes=4, word_bytes=16, addr_bits=20, reads_ahead=True)

    async def go(ctx):
        for addr in (*range(0, 64, 4), 60):
            if addr == 8:
                ctx.set(dut.flush, 1)
                await ctx.tick()
                ctx.set(dut.flush, 0)
            if len(seen) == 13:  # the last word has been reached, and not yet been read again
                memory.bytes[48:64] = memory.rng.randbytes(16)
            ctx.set(dut.i.payload, {"addr": addr, "last": 60})
            ctx.set(dut.i.valid, 1)
            await ctx.tick().until(dut.i.ready)
            ctx.set(dut.i.valid, 0)
            expected.append((addr, bytes(memory.bytes[addr : addr + 4])))
            while len(seen) < len(expected):
                await ctx.tick()

    simulate(dut, go, receive(dut.o, 17, seen), background=[memory.serve_reads(dut.mem)])
    assert seen == [int.from_bytes(data, "little") for _, data in expected]
    assert fetched(memory, 16) == [0, 16, 32, 48, 48]


@pytest.mark.parametrize("burst_align, max_burst", [(1024, 16), (64, 16), (16, 16), (1024, 3), (1024, 1)])
def test_sequential_words_make_long_bursts(burst_align, max_burst):
    word, count = 16, 256
    memory, seen = Memory(SIZE, latency=20, burst_align=burst_align), []
    dut = LoadUnit(access_bytes=word, word_bytes=word, addr_bits=20, max_burst=max_burst, burst_align=burst_align)
    simulate(
        dut,
        send(dut.i, range(0, count * word, word)),
        receive(dut.o, count, seen),
        background=[memory.serve_reads(dut.mem)],
    )
    longest = min(max_burst, burst_align // word)
    assert len(memory.reads) <= count // longest + 3 + count * word // burst_align * (longest != burst_align // word)


def cycles(dut, inputs, count, memory):
    """Cycles from the first input to the last output."""
    seen, time = [], {}

    async def clock(ctx):
        now = 0
        while True:
            now += 1
            if seen and "first" not in time:
                time["first"] = now
            time["last"] = now if len(seen) < count else time["last"]
            await ctx.tick()

    simulate(dut, send(*inputs), receive(dut.o, count, seen), background=[memory.serve_reads(dut.mem), clock])
    return seen, time


@pytest.mark.parametrize("step", [1, 2, 7], ids=["sequential", "every second", "scattered"])
def test_a_word_a_cycle(step):
    """Rule 5: distinct words come one a cycle, however they lie."""
    word, count = 8, 250
    addresses = [n * step * word % SIZE for n in range(count)]
    memory = Memory(SIZE, latency=20)
    dut = LoadUnit(access_bytes=word, word_bytes=word, addr_bits=20, pending=64)
    seen, time = cycles(dut, (dut.i, addresses), count, memory)
    assert seen == load(memory.bytes, addresses, word)
    assert time["last"] - time["first"] <= count + 20  # the last word waits for another one first


def test_latency_when_nothing_is_outstanding():
    """A chain of dependent loads pays the memory's latency and three cycles."""
    memory, times = Memory(SIZE, latency=5), []
    dut = LoadUnit(access_bytes=4, word_bytes=16, addr_bits=20)

    async def chase(ctx):
        ctx.set(dut.o.ready, 1)
        for n in range(10):
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
    assert times == [memory.latency + 3] * 10


def hit_times(dut, memory, addresses, flushed=()):
    """Cycles from each access to its data, one at a time; there is a flush in the cycle of those whose number is in
    ``flushed``."""
    times = []

    async def ask(ctx):
        ctx.set(dut.o.ready, 1)
        for n, address in enumerate(addresses):
            ctx.set(dut.flush, n in flushed)
            ctx.set(dut.i.payload, address)
            ctx.set(dut.i.valid, 1)
            await ctx.tick().until(dut.i.ready)
            ctx.set(dut.i.valid, 0)
            ctx.set(dut.flush, 0)
            cycles = 1
            while not ctx.get(dut.o.valid):
                await ctx.tick()
                cycles += 1
            assert ctx.get(dut.o.payload) == load(memory.bytes, [address], 4)[0]
            times.append(cycles)
            await ctx.tick()

    simulate(dut, ask, background=[memory.serve_reads(dut.mem)])
    return times


def test_an_access_to_the_word_in_use_is_answered_in_the_next_cycle():
    """Rule 6 of the path: not the first access to a word, and not after a flush."""
    memory = Memory(SIZE, latency=5)
    dut = LoadUnit(access_bytes=4, word_bytes=16, addr_bits=20)
    fetched_in = memory.latency + 3
    times = hit_times(dut, memory, [0, 4, 12, 0, 0, 16, 20], flushed={4})
    assert times == [fetched_in, 1, 1, 1, fetched_in, fetched_in, 1]


@pytest.mark.parametrize("take", [1.0, 0.5, 0.2])
def test_accesses_to_the_word_in_use_do_not_overtake(take):
    """Pauses let the unit come to rest between accesses to one word and to others."""
    rng, memory, seen = random.Random(4), Memory(SIZE, latency=3), []
    dut = LoadUnit(access_bytes=4, word_bytes=16, addr_bits=20)
    addresses = [4 * (rng.randrange(8) + 4 * (n // 9)) for n in range(400)]
    simulate(
        dut,
        send(dut.i, addresses, 0.4),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, 4)


def test_flush_fetches_again():
    memory, seen = Memory(SIZE), []
    dut = LoadUnit(access_bytes=4, word_bytes=16, addr_bits=20)

    async def change(ctx, n):
        if n % 3 == 0:
            while len(seen) < n:
                await ctx.tick()
            memory.bytes[0:16] = memory.rng.randbytes(16)
            expected.append(bytes(memory.bytes[0:16]))
            ctx.set(dut.flush, 1)
            await ctx.tick()
            ctx.set(dut.flush, 0)

    expected, addresses = [], [4 * (n % 4) for n in range(30)]
    simulate(
        dut, send(dut.i, addresses, before=change), receive(dut.o, 30, seen), background=[memory.serve_reads(dut.mem)]
    )
    assert seen == [load(expected[n // 3], [a], 4)[0] for n, a in enumerate(addresses)]
    assert len(memory.reads) == 10


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, take, serve", RATES)
def test_stream_load_unit(access, word, give, take, serve):
    rng = random.Random(word * 3 + access)
    runs = [(rng.randrange(SIZE // 2 // access) * access, rng.choice([0, 1, 2, 5, 60])) for _ in range(14)]
    addresses = run_addresses(runs, access)
    memory, seen = Memory(SIZE, rate=serve, burst_align=256), []
    dut = StreamLoadUnit(
        access_bytes=access, word_bytes=word, addr_bits=20, count_bits=10, max_burst=4, pending=9, burst_align=256
    )
    payloads = [{"addr": addr, "count": count} for addr, count in runs]
    simulate(
        dut,
        send(dut.start, payloads, give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, access)
    wanted = [w for addr, count in runs for w in words_read(run_addresses([(addr, count)], access), word)]
    assert fetched(memory, word) == wanted


@pytest.mark.parametrize("length", [1, 3, 64])
def test_runs_follow_without_a_bubble(length):
    word, total = 8, 192
    runs = [{"addr": n * 64 % SIZE, "count": length} for n in range(total // length)]
    memory = Memory(SIZE, latency=20)
    dut = StreamLoadUnit(access_bytes=word, word_bytes=word, addr_bits=20, runs=32, pending=64)
    seen, time = cycles(dut, (dut.start, runs), len(runs) * length, memory)
    assert time["last"] - time["first"] <= len(seen) + 10


def test_errors_go_with_their_access():
    memory, seen = Memory(SIZE, bad=range(32, 64)), []
    dut = LoadUnit(access_bytes=4, word_bytes=16, addr_bits=20)
    addresses = list(range(0, 128, 4))
    simulate(
        dut, send(dut.i, addresses), receive(dut.o, 32, seen, extra=dut.error), background=[memory.serve_reads(dut.mem)]
    )
    assert [bool(error) for _, error in seen] == [a in memory.bad for a in addresses]


@pytest.mark.parametrize(
    "wrong, match",
    [
        ({"access_bytes": 3}, "access_bytes"),
        ({"access_bytes": 32}, "access_bytes"),
        ({"word_bytes": 24}, "word_bytes"),
        ({"pending": 8}, "pending"),
        ({"burst_align": 8192}, "burst_align"),
        ({"max_burst": 0}, "max_burst"),
    ],
)
def test_refuses_wrong_parameters(wrong, match):
    with pytest.raises(ValueError, match=match):
        dut = LoadUnit(**{"access_bytes": 4, "word_bytes": 16, **wrong})
        dut.elaborate(None)
