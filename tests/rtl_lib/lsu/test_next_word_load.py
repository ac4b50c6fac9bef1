"""NextWordLoadUnit against golden reads of a byte memory."""

import random

import pytest

from rtl_lib.lsu.load import load
from rtl_lib.lsu.next_word_load import NextWordLoadUnit, words_requested
from tests.rtl_lib.lsu.test_load_units import RATES, SIZE, WIDTHS, fetched, mixed_addresses
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate

ALIGN = 256


def unit(access: int, word: int, **more) -> NextWordLoadUnit:
    sizes = {"depth": 40, "max_burst": 4, "pending": 9, "burst_align": ALIGN, **more}
    return NextWordLoadUnit(access_bytes=access, word_bytes=word, addr_bits=20, **sizes)


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, take, serve", RATES)
def test_values_and_requests(access, word, give, take, serve):
    """Words come in any order, so that many are dropped; none is requested outside the block of an address."""
    rng = random.Random(word + access)
    addresses = mixed_addresses(rng, access, 150)
    memory, seen = Memory(SIZE, rate=serve, burst_align=ALIGN), []
    dut = unit(access, word)
    simulate(
        dut,
        send(dut.i, addresses, give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, access)
    wanted = words_requested(addresses, word, ALIGN)
    found = fetched(memory, word)
    assert found == wanted[: len(found)] and len(found) >= len(wanted) - 1  # the last one may not have left yet


def test_a_word_is_there_when_accesses_come_to_it():
    """One access at a time, as in a recurrence: memory is waited for once, and not for each word."""
    memory, seen, waited = Memory(SIZE, latency=30), [], []
    dut = unit(4, 16, pending=16)

    async def go(ctx):
        for addr in range(0, ALIGN, 4):
            ctx.set(dut.i.payload, addr)
            ctx.set(dut.i.valid, 1)
            await ctx.tick().until(dut.i.ready)
            ctx.set(dut.i.valid, 0)
            ctx.set(dut.o.ready, 1)
            cycles = 0
            while not ctx.get(dut.o.valid):
                await ctx.tick()
                cycles += 1
            seen.append(ctx.get(dut.o.payload))
            waited.append(cycles)
            for _ in range(12):
                await ctx.tick()

    simulate(dut, go, background=[memory.serve_reads(dut.mem)])
    assert seen == load(memory.bytes, range(0, ALIGN, 4), 4)
    assert max(waited[1:]) < 6 < waited[0]


@pytest.mark.parametrize("seed", range(6))
def test_words_are_as_new_as_the_last_flush(seed):
    """Memory changes with each flush, whatever has been requested ahead by then."""
    rng = random.Random(seed)
    memory, seen, expected = Memory(SIZE, latency=rng.choice([1, 9])), [], []
    dut = unit(4, 16)

    async def go(ctx):
        addr = 0
        for _ in range(120):
            addr = (addr + rng.choice([0, 4, 4, 4, 16, 32])) % ALIGN
            flush = rng.random() < 0.2
            if flush:
                for _ in range(rng.choice([0, 20])):
                    await ctx.tick()
                memory.bytes[:ALIGN] = rng.randbytes(ALIGN)
                ctx.set(dut.flush, 1)
                if rng.random() < 0.5:
                    await ctx.tick()
                    ctx.set(dut.flush, 0)
            ctx.set(dut.i.payload, addr)
            ctx.set(dut.i.valid, 1)
            expected.append(int.from_bytes(memory.bytes[addr : addr + 4], "little"))
            while True:
                ready = ctx.get(dut.i.ready)
                await ctx.tick()
                if ready:
                    break
            ctx.set(dut.i.valid, 0)
            ctx.set(dut.flush, 0)
            ctx.set(dut.o.ready, 1)
            while not ctx.get(dut.o.valid):
                await ctx.tick()
            seen.append(ctx.get(dut.o.payload))
            await ctx.tick()
            ctx.set(dut.o.ready, 0)

    simulate(dut, go, background=[memory.serve_reads(dut.mem)])
    assert seen == expected
