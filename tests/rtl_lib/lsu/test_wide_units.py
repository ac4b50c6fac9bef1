"""WideLoadUnit and WideStoreUnit against golden accesses to a byte memory."""

import random

import pytest

from rtl_lib.lsu.wide import Lanes, wide_load, wide_store
from rtl_lib.lsu.wide_load import WideLoadUnit
from rtl_lib.lsu.wide_store import WideStoreUnit
from tests.rtl_lib.lsu.test_store_units import fence, in_turn, until_idle
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE = 4096
SHAPES = [(1, 4, 8), (3, 4, 16), (4, 4, 16), (5, 1, 8), (16, 4, 64)]  # lanes, bytes of one, of a word
RATES = [(0.9, 0.4, 0.9), (0.7, 1.0, 0.4)]  # of the giver, the taker, the memory


def accesses(rng, lanes, lane_bytes, count, masked):
    """(address, mask) in runs up, runs down, jumps and repeats; masks full, of a tail, or of any lanes but none."""
    found, addr, most = [], 0, (SIZE - 2 * lanes * lane_bytes) // lane_bytes
    while len(found) < count:
        addr, step = rng.randrange(most), rng.choice([lanes, lanes, -lanes, 1, -1, 0, 40])
        for _ in range(rng.randint(1, 30)):
            full = (1 << lanes) - 1
            mask = rng.choice([full, full, full >> rng.randrange(lanes), rng.randint(1, full)]) if masked else full
            found.append((addr % most * lane_bytes, mask))
            addr += step
    return found[:count]


def payloads(pairs, masked, values=None):
    items = [{"addr": addr, "mask": mask} if masked else {"addr": addr} for addr, mask in pairs]
    return items if values is None else [item | {"data": value} for item, value in zip(items, values, strict=True)]


def touched(pairs, lanes, lane_bytes, word):
    """The words in which each access wants a lane."""
    return [
        [k for k in dict.fromkeys((addr + n * lane_bytes) // word for n in range(lanes) if mask >> n & 1)]
        for addr, mask in pairs
    ]


def words_asked(pairs, lanes, lane_bytes, word):
    """Golden: word addresses in order, where the last word of each parity is kept."""
    kept, asked = {}, []
    for words in touched(pairs, lanes, lane_bytes, word):
        for number in sorted(words):
            if kept.get(number % 2) != number:
                kept[number % 2] = number
                asked.append(number * word)
    return asked


@pytest.mark.pairwise
@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("lanes, lane_bytes, word", SHAPES)
@pytest.mark.parametrize("give, take, serve", RATES)
def test_wide_load_unit(lanes, lane_bytes, word, masked, give, take, serve):
    rng = random.Random(word + lanes)
    pairs = accesses(rng, lanes, lane_bytes, 80, masked)
    memory, seen = Memory(SIZE, rate=serve, burst_align=256), []
    dut = WideLoadUnit(
        lanes=lanes,
        lane_bytes=lane_bytes,
        word_bytes=word,
        masked=masked,
        addr_bits=14,
        depth=40,
        max_burst=4,
        pending=9,
        burst_align=256,
    )
    simulate(
        dut,
        send(dut.i, payloads(pairs, masked), give),
        receive(dut.o, len(pairs), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == wide_load(memory.bytes, pairs, lanes, lane_bytes)
    fetched = [addr + n * word for addr, words in memory.reads for n in range(words)]
    assert fetched == words_asked(pairs, lanes, lane_bytes, word)


def test_a_cache_behind_it():
    """Circles of 20 words with one of each parity kept in front: nothing is read twice."""
    pairs = [(n * 12 % 320, 7) for n in range(160)]
    memory, seen = Memory(SIZE), []
    dut = WideLoadUnit(
        lanes=3, lane_bytes=4, word_bytes=16, masked=False, words=64, addr_bits=14, max_burst=4, pending=8
    )
    simulate(
        dut,
        send(dut.i, payloads(pairs, False)),
        receive(dut.o, len(pairs), seen),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == wide_load(memory.bytes, pairs, 3, 4)
    assert sum(words for _, words in memory.reads) == 21


def clock(into):
    async def testbench(ctx):
        while True:
            into.append(1)
            await ctx.tick()

    return testbench


@pytest.mark.parametrize("step", [16, -16, 12], ids=["up", "down", "less than a word"])
@pytest.mark.parametrize("begin", [0, 4, 12])
def test_a_wide_load_a_cycle(step, begin):
    """Rule 3: also where every access lies in two words."""
    count, seen, cycles = 150, [], []
    memory = Memory(SIZE, latency=10)
    pairs = [(begin + (n * step if step > 0 else 2400 + n * step), 15) for n in range(count)]
    dut = WideLoadUnit(lanes=4, lane_bytes=4, word_bytes=16, masked=False, addr_bits=14)
    simulate(
        dut,
        send(dut.i, payloads(pairs, False)),
        receive(dut.o, count, seen),
        background=[memory.serve_reads(dut.mem), clock(cycles)],
    )
    assert seen == wide_load(memory.bytes, pairs, 4, 4)
    assert len(cycles) <= count * (1 if step > 0 else 2) + 40


def test_flush_reads_again():
    memory, seen, golden = Memory(SIZE), [], []
    dut = WideLoadUnit(lanes=4, lane_bytes=4, word_bytes=16, masked=False, addr_bits=14)

    async def change(ctx, n):
        if n % 3 == 0:
            while len(seen) < n:
                await ctx.tick()
            memory.bytes[0:32] = memory.rng.randbytes(32)
            golden.append(bytes(memory.bytes[0:32]))
            ctx.set(dut.flush, 1)
            await ctx.tick()
            ctx.set(dut.flush, 0)

    pairs = [(4 * (n % 5), 15) for n in range(30)]
    simulate(
        dut,
        send(dut.i, payloads(pairs, False), before=change),
        receive(dut.o, 30, seen),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == [wide_load(golden[n // 3], [pair], 4, 4)[0] for n, pair in enumerate(pairs)]


def test_errors_of_lanes_that_are_wanted():
    """Word 2 is bad; lanes of it that are off are not read, and harm nobody."""
    memory, seen = Memory(SIZE, bad=range(32, 48)), []
    dut = WideLoadUnit(lanes=4, lane_bytes=4, word_bytes=16, masked=True, addr_bits=14)
    pairs = [(addr, mask) for addr in range(16, 64, 4) for mask in (1, 8, 15, 6)]
    simulate(
        dut,
        send(dut.i, payloads(pairs, True)),
        receive(dut.o, len(pairs), seen, extra=dut.error),
        background=[memory.serve_reads(dut.mem)],
    )
    assert [bool(error) for _, error in seen] == [2 in words for words in touched(pairs, 4, 4, 16)]


@pytest.mark.pairwise
@pytest.mark.parametrize("masked, descending", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("lanes, lane_bytes, word", SHAPES)
@pytest.mark.parametrize("give, serve", [(1.0, 0.6), (0.4, 1.0)])
def test_wide_store_unit(lanes, lane_bytes, word, masked, descending, give, serve):
    rng = random.Random(word + lanes)
    pairs = accesses(rng, lanes, lane_bytes, 80, masked)
    values = [rng.getrandbits(8 * lanes * lane_bytes) for _ in pairs]
    memory = Memory(SIZE, rate=serve, burst_align=256)
    golden = bytearray(memory.bytes)
    wide_store(golden, [(a, v, mask) for (a, mask), v in zip(pairs, values, strict=True)], lanes, lane_bytes)
    dut = WideStoreUnit(
        lanes=lanes,
        lane_bytes=lane_bytes,
        word_bytes=word,
        masked=masked,
        descending=descending,
        addr_bits=14,
        max_burst=4,
        buffer=6,
        outstanding=3,
        burst_align=256,
    )
    finish = until_idle(dut) if give < 1 else fence(dut)
    simulate(
        dut,
        in_turn(send(dut.i, payloads(pairs, masked, values), give), finish),
        background=[memory.serve_writes(dut.mem)],
    )
    assert memory.bytes == golden


@pytest.mark.parametrize("begin", [0, 4, 12])
@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
def test_a_wide_store_a_cycle(begin, down):
    """Rule 2: no word is written twice, but for the first one where stores go down."""
    count, cycles = 150, []
    memory = Memory(SIZE, latency=3)
    dut = WideStoreUnit(
        lanes=4, lane_bytes=4, word_bytes=16, masked=False, descending=down, addr_bits=14, outstanding=32
    )
    items = [(begin + (count - 1 - n if down else n) * 16, 15) for n in range(count)]
    simulate(
        dut,
        in_turn(send(dut.i, payloads(items, False, range(count))), until_idle(dut)),
        background=[memory.serve_writes(dut.mem), clock(cycles)],
    )
    assert sum(words for _, words in memory.writes) == count + (begin > 0)
    if not down:  # the memory here takes a cycle for each burst: words that go down make bursts of one
        assert len(cycles) <= count * 17 / 16 + 40


def test_a_fence_waits_for_what_is_on_its_way_inside():
    memory = Memory(SIZE, latency=20)
    dut = WideStoreUnit(lanes=4, lane_bytes=4, word_bytes=16, masked=False, addr_bits=14)

    async def drive(ctx):
        assert ctx.get(dut.idle)
        await send(dut.i, [{"addr": 12, "data": (1 << 128) - 1}])(ctx)
        assert not ctx.get(dut.idle)
        await fence(dut)(ctx)
        assert memory.bytes[12:28] == b"\xff" * 16

    simulate(dut, drive, background=[memory.serve_writes(dut.mem)])


@pytest.mark.parametrize(
    "wrong, match",
    [
        ({"lanes": 5}, "lanes"),
        ({"lanes": 0}, "lanes"),
        ({"lane_bytes": 3}, "lane_bytes"),
        ({"lane_bytes": 16}, "lane_bytes"),
        ({"word_bytes": 24}, "word_bytes"),
    ],
)
def test_refuses_wrong_parameters(wrong, match):
    with pytest.raises(ValueError, match=match):
        Lanes(**{"lanes": 4, "lane_bytes": 4, "word_bytes": 16, **wrong})
