"""StoreUnit and StreamStoreUnit against golden writes to a byte memory."""

import random

import pytest

from rtl_lib.lsu.store import StoreUnit, store
from rtl_lib.lsu.stream_load import run_addresses
from rtl_lib.lsu.stream_store import StreamStoreUnit
from tests.rtl_lib.mem.memory_bench import Memory, send, simulate

SIZE = 4096
WIDTHS = [(1, 4), (4, 4), (4, 16), (64, 64)]
RATES = [(1.0, 1.0), (0.9, 0.5), (0.4, 1.0)]


def mixed_stores(rng, access, count):
    stores, places = [], SIZE // access
    while len(stores) < count:
        addr, step = rng.randrange(places), rng.choice([1, 1, 1, -1, 0, 5])
        for _ in range(rng.randint(1, 30)):
            stores.append((addr % places * access, rng.randrange(1 << 8 * access)))
            addr += step
    return stores[:count]


def fence(dut):
    """Testbench: one fence, asked and answered."""

    async def testbench(ctx):
        ctx.set(dut.fence.request.valid, 1)
        await ctx.tick().until(dut.fence.request.ready)
        ctx.set(dut.fence.request.valid, 0)
        ctx.set(dut.fence.response.ready, 1)
        await ctx.tick().until(dut.fence.response.valid)
        ctx.set(dut.fence.response.ready, 0)

    return testbench


def until_idle(dut):
    async def testbench(ctx):
        await ctx.tick().until(dut.idle)

    return testbench


def in_turn(*testbenches):
    async def testbench(ctx):
        for each in testbenches:
            await each(ctx)

    return testbench


def payloads(stores):
    return [{"addr": addr, "data": value} for addr, value in stores]


def stores_in_turns(rng, access, turns, count):
    """Runs of consecutive places, some descending, that store in turns; now and then one begins elsewhere."""
    places = SIZE // access
    runs, stores = [[rng.randrange(places), rng.choice([1, -1])] for _ in range(turns)], []
    while len(stores) < count:
        for run in runs:
            if rng.random() < 0.05:
                run[:] = rng.randrange(places), rng.choice([1, -1])
            stores.append((run[0] % places * access, rng.randrange(1 << 8 * access)))
            run[0] += run[1]
    return stores[:count]


@pytest.mark.pairwise
@pytest.mark.parametrize("words", [1, 2, 32])
@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, serve", RATES)
def test_store_unit(access, word, give, serve, words):
    rng = random.Random(word + access)
    # of as many runs as words, each store but the first ones of a word joins it; of one more, words leave before they do
    turns = [*stores_in_turns(rng, access, words, 75), *stores_in_turns(rng, access, words + 1, 75)]
    stores = mixed_stores(rng, access, 150) if words == 1 else turns
    memory = Memory(SIZE, rate=serve, burst_align=256)
    golden = bytearray(memory.bytes)
    store(golden, stores, access)
    sizes = {"max_burst": 4, "buffer": 6, "outstanding": 3, "burst_align": 256}
    dut = StoreUnit(access_bytes=access, word_bytes=word, addr_bits=16, words=words, **sizes)
    finish = until_idle(dut) if give < 1 else fence(dut)
    simulate(dut, in_turn(send(dut.i, payloads(stores), give), finish), background=[memory.serve_writes(dut.mem)])
    assert memory.bytes == golden


def test_neighbours_share_words_and_bursts():
    memory = Memory(SIZE)
    dut = StoreUnit(access_bytes=4, word_bytes=16, addr_bits=16, max_burst=16)
    stores = [(addr, addr) for addr in range(0, 1024, 4)]
    simulate(dut, in_turn(send(dut.i, payloads(stores)), fence(dut)), background=[memory.serve_writes(dut.mem)])
    assert memory.writes == [(n * 256, 16) for n in range(4)]


def test_turns_share_words():
    """Rule 2: four runs that store in turns fill four words at a time. Each word is sent once, and with one word that
    stores join, each store is."""
    stores = [(run * 1024 + addr, addr + run) for addr in range(0, 64, 4) for run in range(4)]
    for words, sent in (4, 16), (1, 64):
        memory = Memory(SIZE)
        dut = StoreUnit(access_bytes=4, word_bytes=16, addr_bits=16, words=words)
        simulate(dut, in_turn(send(dut.i, payloads(stores)), fence(dut)), background=[memory.serve_writes(dut.mem)])
        golden = bytearray(SIZE)
        store(golden, stores, 4)
        assert memory.bytes[:64] == golden[:64] and len(memory.writes) == sent


@pytest.mark.parametrize("step", [1, 7], ids=["sequential", "scattered"])
def test_a_word_a_cycle(step):
    """Rule 6. The memory here spends a cycle on each request, so scattered words cost two."""
    count, time = 200, []
    memory = Memory(SIZE, latency=3)
    dut = StoreUnit(access_bytes=8, word_bytes=8, addr_bits=16, outstanding=32)

    async def clock(ctx):
        while True:
            time.append(1)
            await ctx.tick()

    stores = [(n * step * 8 % SIZE, n) for n in range(count)]
    simulate(dut, send(dut.i, payloads(stores)), background=[memory.serve_writes(dut.mem), clock])
    assert len(time) <= count * (17 / 16 if step == 1 else 2) + 10


@pytest.mark.parametrize("seed, words", [(0, 1), (1, 1), (2, 4)])
def test_fences_wait_for_the_stores_before_them(seed, words):
    """When a fence is answered, memory holds every store taken before the fence was."""
    rng = random.Random(seed)
    memory = Memory(SIZE, latency=12, rate=0.6, seed=seed)
    dut = StoreUnit(access_bytes=4, word_bytes=16, addr_bits=16, max_burst=4, buffer=8, words=words)
    golden, expected, answered = bytearray(memory.bytes), [], []
    stores = [(rng.randrange(0, 64, 4), rng.randrange(1 << 32)) for _ in range(60)]

    async def asker(ctx):
        for n, each in enumerate(stores):
            await send(dut.i, payloads([each]))(ctx)
            store(golden, [each], 4)
            if rng.random() < 0.2 or n + 1 == len(stores):
                ctx.set(dut.fence.request.valid, 1)
                await ctx.tick().until(dut.fence.request.ready)
                ctx.set(dut.fence.request.valid, 0)
                expected.append((n, bytes(golden)))

    async def listener(ctx):
        while not expected or len(answered) < len(expected) or expected[-1][0] + 1 < len(stores):
            ctx.set(dut.fence.response.ready, rng.random() < 0.5)
            _, _, valid, ready = await ctx.tick().sample(dut.fence.response.valid, dut.fence.response.ready)
            if valid and ready:
                answered.append(done_words(memory, stores, expected[len(answered)]))

    simulate(dut, asker, listener, background=[memory.serve_writes(dut.mem)])
    assert len(answered) == len(expected) > 3 and all(answered)


def done_words(memory, stores, snapshot):
    """Whether each place stored to before the fence holds that value or a later one stored to it."""
    count, golden = snapshot
    for addr in {addr for addr, _ in stores[: count + 1]}:
        now = int.from_bytes(memory.bytes[addr : addr + 4], "little")
        later = [value for a, value in stores[count + 1 :] if a == addr]
        if now != int.from_bytes(golden[addr : addr + 4], "little") and now not in later:
            return False
    return True


@pytest.mark.parametrize("words", [1, 4])
def test_idle_means_acknowledged(words):
    memory, dut = Memory(SIZE, latency=30), StoreUnit(access_bytes=4, word_bytes=16, addr_bits=16, words=words)

    async def drive(ctx):
        assert ctx.get(dut.idle)
        await send(dut.i, payloads([(16, 5)]))(ctx)
        cycles = 0
        while not ctx.get(dut.idle):
            cycles += 1
            await ctx.tick()
        assert cycles > memory.latency
        assert memory.bytes[16:20] == (5).to_bytes(4, "little")

    simulate(dut, drive, background=[memory.serve_writes(dut.mem)])


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, serve", RATES)
def test_stream_store_unit(access, word, give, serve):
    rng = random.Random(word + access)
    runs = [(rng.randrange(SIZE // 2 // access) * access, rng.choice([0, 1, 2, 20])) for _ in range(16)]
    addresses = run_addresses(runs, access)
    values = [rng.randrange(1 << 8 * access) for _ in addresses]
    memory = Memory(SIZE, rate=serve)
    golden = bytearray(memory.bytes)
    store(golden, zip(addresses, values, strict=True), access)
    dut = StreamStoreUnit(access_bytes=access, word_bytes=word, addr_bits=16, count_bits=8)
    starts = [{"addr": addr, "count": count} for addr, count in runs]
    simulate(
        dut,
        send(dut.start, starts, give),
        in_turn(send(dut.i, values, give), fence(dut)),
        background=[memory.serve_writes(dut.mem)],
    )
    assert memory.bytes == golden


def test_stream_store_has_no_bubble_between_runs():
    dut, runs, length, cycles = StreamStoreUnit(access_bytes=8, word_bytes=8, addr_bits=16), 20, 8, []
    memory = Memory(SIZE)

    async def clock(ctx):
        while True:
            cycles.append(1)
            await ctx.tick()

    starts = [{"addr": n * 8 * length, "count": length} for n in range(runs)]
    simulate(
        dut,
        send(dut.start, starts),
        send(dut.i, range(runs * length)),
        background=[memory.serve_writes(dut.mem), clock],
    )
    assert len(cycles) <= runs * length * 17 / 16 + 10


def test_what_counters_see():
    """64 stores of 4 bytes over 16 words: every strobe as often as it should be."""
    memory = Memory(SIZE, bad=range(256, 512))
    dut = StoreUnit(access_bytes=4, word_bytes=16, addr_bits=16, max_burst=8)
    counts = dict.fromkeys(("accepted", "stalled", "burst", "word", "error"), 0)

    async def count(ctx):
        while True:
            for name in counts:
                counts[name] += ctx.get(getattr(dut.observe, name))
            await ctx.tick()

    stores = [(128 + 4 * n, n) for n in range(64)]
    simulate(dut, in_turn(send(dut.i, payloads(stores)), fence(dut)), background=[memory.serve_writes(dut.mem), count])
    assert counts["accepted"] == 64 and counts["word"] == 16 and counts["burst"] == 2 and counts["error"] == 1
