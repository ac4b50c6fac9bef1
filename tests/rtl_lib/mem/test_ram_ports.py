"""RamLoadPort and RamStorePort on one RAM, against golden loads and stores."""

import random

import pytest
from amaranth import *
from amaranth.lib.memory import Memory as Ram

from rtl_lib.lsu.load import load
from rtl_lib.lsu.store import store
from rtl_lib.mem.ram_ports import RamLoadPort, RamStorePort
from tests.rtl_lib.mem.memory_bench import receive, send, simulate

SIZE = 256


class Buffer(Elaboratable):
    """A RAM with one port of each kind."""

    def __init__(self, access, word, content):
        options = {"access_bytes": access, "word_bytes": word, "addr_bits": 8}
        self.load, self.store = RamLoadPort(**options), RamStorePort(**options)
        words = [int.from_bytes(content[n : n + word], "little") for n in range(0, SIZE, word)]
        self.ram = Ram(shape=8 * word, depth=SIZE // word, init=words)

    def elaborate(self, platform):
        m = Module()
        m.submodules += [self.load, self.store, self.ram]
        read, write = self.ram.read_port(), self.ram.write_port(granularity=8)
        m.d.comb += [
            read.en.eq(self.load.ram.en),
            read.addr.eq(self.load.ram.addr),
            self.load.ram.data.eq(read.data),
            write.en.eq(self.store.ram.strobe),
            write.addr.eq(self.store.ram.addr),
            write.data.eq(self.store.ram.data),
        ]
        return m


@pytest.mark.parametrize("access, word", [(1, 1), (4, 4), (1, 4), (2, 8)])
@pytest.mark.parametrize("give, take", [(1.0, 1.0), (0.6, 0.5)])
def test_stores_then_loads(access, word, give, take):
    rng = random.Random(word + access)
    content = bytearray(rng.randbytes(SIZE))
    dut, seen = Buffer(access, word, content), []
    stores = [(rng.randrange(SIZE // access) * access, rng.randrange(1 << 8 * access)) for _ in range(50)]
    addresses = [rng.randrange(SIZE // access) * access for _ in range(80)]
    store(content, stores, access)

    async def drive(ctx):
        await send(dut.store.i, [{"addr": a, "data": v} for a, v in stores], give)(ctx)
        ctx.set(dut.store.fence.request.valid, 1)
        await ctx.tick().until(dut.store.fence.request.ready)
        ctx.set(dut.store.fence.request.valid, 0)
        assert ctx.get(dut.store.fence.response.valid) and not ctx.get(dut.store.idle)
        ctx.set(dut.store.fence.response.ready, 1)
        await ctx.tick()
        assert ctx.get(dut.store.idle)
        await send(dut.load.i, addresses, give)(ctx)

    simulate(dut, drive, receive(dut.load.o, len(addresses), seen, take))
    assert seen == load(content, addresses, access)


def test_latency_and_rate():
    content, cycles = bytes(range(256)), []
    dut = Buffer(4, 4, content)

    async def drive(ctx):
        ctx.set(dut.load.o.ready, 1)
        ctx.set(dut.load.i.valid, 1)
        for n in range(20):
            ctx.set(dut.load.i.payload, 4 * n)
            assert ctx.get(dut.load.i.ready)
            for _ in range(dut.load.timing.latency):
                await ctx.tick()
            assert ctx.get(dut.load.o.valid)
            cycles.append(ctx.get(dut.load.o.payload))

    simulate(dut, drive)
    assert cycles == load(content, range(0, 80, 4), 4)
