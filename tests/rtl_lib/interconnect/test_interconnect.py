"""Units, interconnect and banks together, against one flat golden memory; and the parts by themselves."""

import random

import pytest
from amaranth import *
from amaranth.lib import wiring
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from rtl_lib.axi.write_master import AxiWriteMaster
from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.arbiter import RoundRobin, next_in_turn
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import WriteInterconnect
from rtl_lib.lsu.load import LoadUnit, load
from rtl_lib.lsu.store import StoreUnit, store
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

SIZE = 8192
MAPS = [
    AddressMap.interleaved(1),
    AddressMap.interleaved(2, 256),
    AddressMap.partitioned(2, SIZE // 2),
    AddressMap.interleaved(4, 256),
]
GEOMETRY = {"word_bytes": 16, "addr_bits": 16, "max_burst": 4}


class Rig(Elaboratable):
    """Units behind an interconnect."""

    def __init__(self, units, interconnect):
        self.units, self.interconnect = units, interconnect

    def elaborate(self, platform):
        m = Module()
        m.submodules.interconnect = self.interconnect
        for n, unit in enumerate(self.units):
            m.submodules[f"unit{n}"] = unit
            wiring.connect(m, unit.mem, self.interconnect.units[n])
        return m


def banks_of(golden, address_map, **options):
    """Memories that hold the bytes of ``golden`` where the map puts them."""
    banks = [Memory(SIZE // address_map.banks, seed=b, burst_align=256, **options) for b in range(address_map.banks)]
    for addr, value in enumerate(golden):
        bank, local = address_map.locate(addr)
        banks[bank].bytes[local] = value
    return banks


def gather(banks, address_map):
    return bytearray(banks[b].bytes[local] for b, local in map(address_map.locate, range(SIZE)))


#: a memory of 2 KiB in four banks, behind another
BEHIND = AddressMap(4, 64, 6 << 11)


@given(st.sampled_from([*MAPS, BEHIND]), st.integers(0, 1 << 40))
def test_map_is_one_to_one(address_map, addr):
    assert address_map.globalize(*address_map.locate(addr)) == addr


@given(st.sampled_from([*MAPS, BEHIND]), st.integers(0, SIZE // 4 - 1))
def test_bits_are_what_the_map_says(address_map, place):
    addr = Const(address_map.base + place, 32)
    found = Simulator(Module())
    bank, local = address_map.locate(address_map.base + place)

    async def check(ctx):
        assert (ctx.get(address_map.bank_bits(addr)), ctx.get(address_map.local_bits(addr))) == (bank, local)

    found.add_testbench(check)
    found.run()


@pytest.mark.parametrize("addr", [0, (6 << 11) - 1, 7 << 11, (6 << 11) + (1 << 30)])
def test_addresses_outside_of_a_memory_lie_beyond_its_banks(addr):
    async def check(ctx):
        assert ctx.get(BEHIND.local_bits(Const(addr, 32))) >= 512

    found = Simulator(Module())
    found.add_testbench(check)
    found.run()


@pytest.mark.parametrize("address_map", MAPS)
def test_map_in_hardware(address_map):
    rng, addr, m = random.Random(1), Signal(20), Module()
    bank, local = Signal(4), Signal(20)
    m.d.comb += [bank.eq(address_map.bank_bits(addr)), local.eq(address_map.local_bits(addr))]

    async def check(ctx):
        for _ in range(100):
            value = rng.randrange(1 << 20 if address_map.granule < SIZE // 2 else SIZE)
            ctx.set(addr, value)
            assert (ctx.get(bank), ctx.get(local)) == address_map.locate(value)

    sim = Simulator(m)
    sim.add_testbench(check)
    sim.run()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_round_robin(count):
    rng, dut = random.Random(count), RoundRobin(count)

    async def check(ctx):
        last = count - 1
        for _ in range(200):
            requests = [rng.random() < 0.5 for _ in range(count)]
            take = rng.random() < 0.7
            ctx.set(dut.requests, sum(on << n for n, on in enumerate(requests)))
            ctx.set(dut.take, take)
            chosen = next_in_turn(requests, last)
            assert ctx.get(dut.any) == (chosen is not None)
            if chosen is not None:
                assert ctx.get(dut.grant) == chosen
                last = chosen if take else last
            await ctx.tick()

    simulate(dut, check)


@pytest.mark.pairwise
@pytest.mark.parametrize("address_map", MAPS)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("rate, latency", [(1.0, 8), (0.6, 3)])
def test_reads(address_map, count, rate, latency):
    rng = random.Random(count)
    golden = rng.randbytes(SIZE)
    banks = banks_of(golden, address_map, rate=rate, latency=latency)
    units = [LoadUnit(access_bytes=4, depth=32, pending=8, burst_align=256, **GEOMETRY) for _ in range(count)]
    interconnect = ReadInterconnect(count=count, address_map=address_map, reorder_words=8, outstanding=5, **GEOMETRY)
    addresses = [
        [
            a
            for _ in range(12)
            for s in [rng.randrange(0, SIZE - 256, 4)]
            for a in range(s, s + rng.choice([4, 16, 200]), 4)
        ]
        for _ in units
    ]
    seen = [[] for _ in units]
    simulate(
        Rig(units, interconnect),
        *(send(unit.i, a, rate) for unit, a in zip(units, addresses, strict=True)),
        *(receive(unit.o, len(a), s, rate) for unit, a, s in zip(units, addresses, seen, strict=True)),
        background=[bank.serve_reads(port) for bank, port in zip(banks, interconnect.banks, strict=True)],
    )
    assert seen == [load(golden, a, 4) for a in addresses]


@pytest.mark.pairwise
@pytest.mark.parametrize("address_map", MAPS)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("rate, latency", [(1.0, 8), (0.6, 3)])
def test_writes(address_map, count, rate, latency):
    """Each unit stores to its own lanes of every word, so that the order among units does not matter."""
    rng = random.Random(count)
    golden = bytearray(rng.randbytes(SIZE))
    banks = banks_of(golden, address_map, rate=rate, latency=latency)
    units = [StoreUnit(access_bytes=4, burst_align=256, buffer=8, outstanding=4, **GEOMETRY) for _ in range(count)]
    interconnect = WriteInterconnect(count=count, address_map=address_map, outstanding=5, **GEOMETRY)
    drivers = []
    for u, unit in enumerate(units):
        stores = [
            (a, rng.randrange(1 << 32))
            for _ in range(12)
            for s in [rng.randrange(0, SIZE - 256, 16)]
            for a in range(s + 4 * u, s + rng.choice([16, 64, 250]), 16)
        ]
        store(golden, stores, 4)
        drivers.append(finishing(unit, send(unit.i, [{"addr": a, "data": v} for a, v in stores], rate)))
    simulate(
        Rig(units, interconnect),
        *drivers,
        background=[bank.serve_writes(port) for bank, port in zip(banks, interconnect.banks, strict=True)],
    )
    assert gather(banks, address_map) == golden


def finishing(unit, driver):
    async def testbench(ctx):
        await driver(ctx)
        ctx.set(unit.fence.request.valid, 1)
        await ctx.tick().until(unit.fence.request.ready)
        ctx.set(unit.fence.request.valid, 0)
        ctx.set(unit.fence.response.ready, 1)
        await ctx.tick().until(unit.fence.response.valid)

    return testbench


def test_two_banks_give_twice_the_words():
    """Two word-wide streams over two interleaved banks: both banks move a word in nearly every cycle."""
    address_map, count, total, cycles = MAPS[1], 2, 200, []
    golden = random.Random(0).randbytes(SIZE)
    banks = banks_of(golden, address_map, latency=12)
    units = [LoadUnit(access_bytes=16, burst_align=256, **GEOMETRY) for _ in range(count)]
    interconnect = ReadInterconnect(count=count, address_map=address_map, **GEOMETRY)
    addresses, seen = [n * 16 for n in range(total)], [[], []]

    async def clock(ctx):
        while True:
            cycles.append(1)
            await ctx.tick()

    simulate(
        Rig(units, interconnect),
        *(send(unit.i, addresses) for unit in units),
        *(receive(unit.o, total, s) for unit, s in zip(units, seen, strict=True)),
        background=[clock, *(bank.serve_reads(p) for bank, p in zip(banks, interconnect.banks, strict=True))],
    )
    assert seen == [load(golden, addresses, 16)] * 2
    assert len(cycles) <= total * 1.1 + 40


def test_a_slow_bank_blocks_nobody_else():
    """Words of the fast bank that wait for their turn never exceed their places, nor hold up the other unit."""
    golden, done = random.Random(0).randbytes(SIZE), []
    slow, fast = banks_of(golden, MAPS[1])
    slow.latency = 60
    units = [LoadUnit(access_bytes=16, pending=32, burst_align=256, **GEOMETRY) for _ in range(2)]
    interconnect = ReadInterconnect(count=2, address_map=MAPS[1], reorder_words=8, **GEOMETRY)
    mixed, other = [0, *range(256, 480, 16), 512], list(range(256, 480, 16)) * 2
    seen = [[], []]

    def noting(n, testbench):
        async def noted(ctx):
            await testbench(ctx)
            done.append(n)

        return noted

    simulate(
        Rig(units, interconnect),
        send(units[0].i, mixed),
        send(units[1].i, other, before=after(20)),
        noting(0, receive(units[0].o, len(mixed), seen[0])),
        noting(1, receive(units[1].o, len(other), seen[1])),
        background=[slow.serve_reads(interconnect.banks[0]), fast.serve_reads(interconnect.banks[1])],
    )
    assert seen == [load(golden, mixed, 16), load(golden, other, 16)]
    assert done == [1, 0]


def after(cycles):
    """Wait that long before the first payload."""

    async def wait(ctx, n):
        if n == 0:
            await ctx.tick().repeat(cycles)

    return wait


def test_a_single_unit_needs_no_arbitration():
    """Its request, word and acknowledgement pass in the cycle in which they are offered, with no register in between."""
    dut = WriteInterconnect(count=1, address_map=AddressMap(1, 64, base=1 << 12), **GEOMETRY)

    async def check(ctx):
        (unit,), (bank,) = dut.units, dut.banks
        ctx.set(unit.request.payload, {"addr": (1 << 12) + 48, "words": 2})
        for source, sink in ((unit.request, bank.request), (unit.data, bank.data), (bank.ack, unit.ack)):
            assert (ctx.get(sink.valid), ctx.get(source.ready)) == (0, 0)
            ctx.set(source.valid, 1)
            ctx.set(sink.ready, 1)
            assert (ctx.get(sink.valid), ctx.get(source.ready)) == (1, 1)
        assert (ctx.get(bank.request.payload.addr), ctx.get(bank.request.payload.words)) == (48, 2)

    sim = Simulator(dut)
    sim.add_testbench(check)
    sim.run()


@pytest.mark.parametrize("late", [0, 1])
def test_acknowledgements_of_a_bank_wait_for_a_late_one(late):
    """A unit that may have more bursts under way than the interconnect has places for acknowledgements of one bank: the
    first burst is at the late bank, and all others are at the other one."""
    address_map = AddressMap.partitioned(2, SIZE // 2)
    banks = [Memory(SIZE, latency=300 if b == late else 1) for b in range(2)]
    unit = StoreUnit(access_bytes=16, burst_align=256, outstanding=32, patience=1, **GEOMETRY)
    interconnect = WriteInterconnect(count=1, address_map=address_map, outstanding=4, **GEOMETRY)
    places = [late * SIZE // 2, *((1 - late) * SIZE // 2 + 48 * n for n in range(20))]
    simulate(
        Rig([unit], interconnect),
        finishing(unit, send(unit.i, [{"addr": place, "data": 1} for place in places])),
        background=[bank.serve_writes(port) for bank, port in zip(banks, interconnect.banks, strict=True)],
    )
    assert [len(bank.writes) for bank in banks] == ([1, 20] if late == 0 else [20, 1])


@pytest.mark.parametrize("burst", [1, 4])
def test_a_bank_writes_a_word_in_every_cycle(burst):
    """Bursts of one word as well as long ones, from a unit whose words lie apart or together."""
    stores, moved = 64, []
    unit = StoreUnit(access_bytes=16, burst_align=256, buffer=32, outstanding=32, **GEOMETRY)
    interconnect = WriteInterconnect(count=1, address_map=MAPS[0], **GEOMETRY)
    master = AxiWriteMaster(word_bytes=16, addr_bits=16, max_burst=4)

    class Port(Elaboratable):
        def elaborate(self, platform):
            m = Module()
            m.submodules.rig, m.submodules.master = Rig([unit], interconnect), master
            wiring.connect(m, interconnect.banks[0], master.port)
            return m

    async def accept(ctx):
        for signal in (master.axi.aw.ready, master.axi.w.ready):
            ctx.set(signal, 1)
        answers = 0
        while True:
            valid, last = ctx.get(master.axi.w.valid), ctx.get(master.axi.w.last)
            moved.append(valid)
            ctx.set(master.axi.b.valid, answers > 0)
            answers += (valid and last) - (answers > 0)
            await ctx.tick()

    step = 16 if burst > 1 else 48
    simulate(
        Port(),
        finishing(unit, send(unit.i, [{"addr": n * step, "data": n} for n in range(stores)])),
        background=[accept],
    )
    first, last = moved.index(1), len(moved) - moved[::-1].index(1)
    assert sum(moved) == stores
    assert last - first <= stores + 4
