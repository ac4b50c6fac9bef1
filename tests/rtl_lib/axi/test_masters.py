"""AXI masters in Amaranth's simulator: cases that an external protocol test cannot reach, reset in mid-burst above
all."""

import random
from collections import deque

import pytest
from amaranth import *

from rtl_lib.axi.read_master import AxiReadMaster
from rtl_lib.axi.signature import Axi4Signature, Response, flat_ports
from rtl_lib.axi.write_master import AxiWriteMaster
from tests.rtl_lib.mem.memory_bench import receive, send, simulate

WORD = 8


class Resettable(Elaboratable):
    """A part in a clock domain whose reset the test drives."""

    def __init__(self, part):
        self.part, self.domain = part, ClockDomain("sync")

    def elaborate(self, platform):
        m = Module()
        m.domains.sync = self.domain
        m.submodules.part = self.part
        return m


def reads_served(axi, rng, rst, bad=()):
    """Subordinate for AR and R which checks that an offer is never withdrawn. Data is the address of its word."""

    async def testbench(ctx):
        due, offered = deque(), None
        while True:
            ready = rng.random() < 0.5
            ctx.set(axi.ar.ready, ready)
            answer = bool(due) and rng.random() < 0.5
            ctx.set(axi.r.valid, answer)
            if answer:
                ctx.set(axi.r.data, due[0][0])
                ctx.set(axi.r.last, due[0][1])
                ctx.set(axi.r.resp, Response.SLVERR if due[0][0] in bad else Response.OKAY)
            offer = (ctx.get(axi.ar.addr), ctx.get(axi.ar.len)) if ctx.get(axi.ar.valid) else None
            if ctx.get(rst):
                assert offer is None, "ARVALID is high in reset"
            else:
                assert offered in (None, offer), "AR was withdrawn or changed"
                offered = None if ready else offer
            if offer and ready:
                due.extend((offer[0] + n * WORD, n == offer[1]) for n in range(offer[1] + 1))
            if answer and ctx.get(axi.r.ready):
                due.popleft()
            await ctx.tick()

    return testbench


def bursts(rng, count):
    return [{"addr": rng.randrange(64) * 64, "words": rng.randint(1, 8)} for _ in range(count)]


def words_of(requests):
    return [r["addr"] + n * WORD for r in requests for n in range(r["words"])]


async def reset(ctx, dut, cycles):
    ctx.set(dut.domain.rst, 1)
    for _ in range(cycles):
        await ctx.tick()
    ctx.set(dut.domain.rst, 0)


@pytest.mark.parametrize("seed", range(4))
def test_reads_after_a_reset_get_their_own_words(seed):
    rng = random.Random(seed)
    part = AxiReadMaster(word_bytes=WORD, addr_bits=16, max_burst=8, outstanding=5)
    dut = Resettable(part)

    async def drive(ctx):
        for attempt in range(4):
            requests, seen = bursts(rng, 4), []
            await send(part.port.request, requests)(ctx)
            if attempt < 3:
                await receive(part.port.response, rng.randrange(len(words_of(requests))), seen, rate=0.7)(ctx)
                await reset(ctx, dut, rng.randint(1, 3))
            else:
                await receive(part.port.response, len(words_of(requests)), seen, rate=0.7)(ctx)
                assert [word.data for word in seen] == words_of(requests)

    simulate(dut, drive, background=[reads_served(part.axi, rng, dut.domain.rst)])


def test_read_errors_are_reported_once_cleared():
    rng = random.Random(0)
    part = AxiReadMaster(word_bytes=WORD, addr_bits=16, max_burst=8)
    dut, seen = Resettable(part), []

    async def drive(ctx):
        ctx.set(part.port.response.ready, 0)
        await send(part.port.request, [{"addr": 0, "words": 4}])(ctx)
        await receive(part.port.response, 4, seen)(ctx)
        assert [word.error for word in seen] == [0, 0, 1, 0]
        assert ctx.get(part.error) == Response.SLVERR
        ctx.set(part.clear, 1)
        await ctx.tick()
        assert ctx.get(part.error) == Response.OKAY

    simulate(dut, drive, background=[reads_served(part.axi, rng, dut.domain.rst, bad=[16])])


def writes_served(axi, rng, rst, memory, bursts_seen):
    """Subordinate for AW, W and B, which checks that bursts are whole and offers are not withdrawn."""

    async def testbench(ctx):
        addresses, words, acks, offered = deque(), [], 0, None
        while True:
            for ready in (axi.aw.ready, axi.w.ready):
                ctx.set(ready, rng.random() < 0.5)
            ctx.set(axi.b.valid, acks > 0 and rng.random() < 0.5)
            word = tuple(ctx.get(x) for x in (axi.w.data, axi.w.strb, axi.w.last)) if ctx.get(axi.w.valid) else None
            if ctx.get(rst):
                assert word is None and not ctx.get(axi.aw.valid), "AWVALID or WVALID is high in reset"
            else:
                assert offered in (None, word), "W was withdrawn or changed"
                offered = None if ctx.get(axi.w.ready) else word
            if word and ctx.get(axi.w.ready):
                words.append(word)
            if ctx.get(axi.aw.valid & axi.aw.ready):
                addresses.append((ctx.get(axi.aw.addr), ctx.get(axi.aw.len) + 1))
            acks -= ctx.get(axi.b.valid & axi.b.ready)
            while addresses and len(words) >= addresses[0][1]:
                addr, count = addresses.popleft()
                burst, words[:] = words[:count], words[count:]
                assert [last for _, _, last in burst] == [0] * (count - 1) + [1]
                memory.update({addr + n * WORD: value for n, (value, strobe, _) in enumerate(burst) if strobe})
                bursts_seen.append(addr)
                acks += 1
            await ctx.tick()

    return testbench


@pytest.mark.parametrize("seed", range(4))
def test_writes_survive_a_reset(seed):
    rng, memory, seen = random.Random(seed), {}, []
    part = AxiWriteMaster(word_bytes=WORD, addr_bits=16, max_burst=8, outstanding=5)
    dut = Resettable(part)

    async def drive(ctx):
        ctx.set(part.port.ack.ready, 1)
        for attempt in range(4):
            requests = bursts(rng, 1 if attempt < 3 else 6)
            total = sum(r["words"] for r in requests)
            values = [{"data": rng.randrange(1 << 64), "strobe": 0xFF} for _ in range(total)]
            await send(part.port.request, requests[:1])(ctx)
            if attempt < 3:
                await send(part.port.data, values[: rng.randint(0, total)])(ctx)
                await reset(ctx, dut, rng.randint(1, 3))
        final.extend(zip(words_of(requests), (value["data"] for value in values), strict=True))
        for n, request in enumerate(requests):
            if n:
                await send(part.port.request, [request])(ctx)
            await send(part.port.data, values[: request["words"]])(ctx)
            del values[: request["words"]]
        await ctx.tick().repeat(100)

    final = []
    simulate(dut, drive, background=[writes_served(part.axi, rng, dut.domain.rst, memory, seen)])
    assert len(seen) == 3 + 6, "a burst was lost or invented"
    assert {addr: memory[addr] for addr, _ in final} == dict(final)


@pytest.mark.parametrize("name", ["m_axi0_araddr", "m_axi0_rlast", "m_axi0_wstrb", "m_axi0_bready", "m_axi0_awlen"])
def test_flat_names(name):
    assert name in flat_ports(Axi4Signature(32, 64).create(), "m_axi0")
