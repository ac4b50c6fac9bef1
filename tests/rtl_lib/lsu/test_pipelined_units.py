"""The pipelined units against golden reads and writes of a byte memory."""

import random

import pytest

from rtl_lib.lsu.load import load
from rtl_lib.lsu.pipelined import PipelinedLoadUnit, PipelinedStoreUnit
from rtl_lib.lsu.store import store
from tests.rtl_lib.lsu.test_load_units import RATES, SIZE, WIDTHS, fetched, mixed_addresses
from tests.rtl_lib.lsu.test_store_units import fence, in_turn, mixed_stores, payloads, until_idle
from tests.rtl_lib.mem.memory_bench import Memory, receive, send, simulate


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, take, serve", RATES)
def test_loads(access, word, give, take, serve):
    rng = random.Random(word + access)
    addresses = mixed_addresses(rng, access, 60)
    memory, seen = Memory(SIZE, rate=serve), []
    dut = PipelinedLoadUnit(access_bytes=access, word_bytes=word, addr_bits=20, depth=4)
    simulate(
        dut,
        send(dut.i, addresses, give),
        receive(dut.o, len(addresses), seen, take),
        background=[memory.serve_reads(dut.mem)],
    )
    assert seen == load(memory.bytes, addresses, access)
    assert fetched(memory, word) == [address // word * word for address in addresses]


def test_a_load_sees_what_was_written_since():
    memory, seen = Memory(SIZE), []
    dut = PipelinedLoadUnit(access_bytes=4, word_bytes=16, addr_bits=20)

    async def change(ctx, n):
        if n:
            await ctx.tick().repeat(20)
            memory.bytes[32] ^= 0xFF

    before = load(memory.bytes, [32], 4)[0]
    simulate(
        dut, send(dut.i, [32, 32], before=change), receive(dut.o, 2, seen), background=[memory.serve_reads(dut.mem)]
    )
    assert seen == [before, before ^ 0xFF]


def test_loads_follow_each_other_in_every_cycle():
    memory, seen, time = Memory(SIZE, latency=8), [], []
    dut = PipelinedLoadUnit(access_bytes=4, word_bytes=16, addr_bits=20, depth=16)

    async def clock(ctx):
        while True:
            time.append(1)
            await ctx.tick()

    simulate(
        dut, send(dut.i, range(0, 800, 4)), receive(dut.o, 200, seen), background=[memory.serve_reads(dut.mem), clock]
    )
    assert len(time) <= 200 + 20


def test_errors_go_with_their_loads():
    memory, seen = Memory(SIZE, bad=range(32, 48)), []
    dut = PipelinedLoadUnit(access_bytes=4, word_bytes=16, addr_bits=20)
    addresses = [0, 32, 40, 48, 36]
    simulate(
        dut,
        send(dut.i, addresses),
        receive(dut.o, 5, seen, 0.5, extra=dut.error),
        background=[memory.serve_reads(dut.mem)],
    )
    assert [error for _, error in seen] == [0, 1, 1, 0, 1]


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, serve", [(1.0, 1.0), (0.9, 0.4)])
def test_stores(access, word, give, serve):
    rng = random.Random(word + access)
    stores = mixed_stores(rng, access, 50)
    memory = Memory(4096, rate=serve)
    golden = bytearray(memory.bytes)
    store(golden, stores, access)
    dut = PipelinedStoreUnit(access_bytes=access, word_bytes=word, addr_bits=16, outstanding=3)
    finish = until_idle(dut) if give < 1 else fence(dut)
    simulate(dut, in_turn(send(dut.i, payloads(stores), give), finish), background=[memory.serve_writes(dut.mem)])
    assert memory.bytes == golden
    assert len(memory.writes) == len(stores)


def test_a_fence_waits_for_the_stores_before_it():
    memory, order = Memory(4096, latency=15), []
    dut = PipelinedStoreUnit(access_bytes=4, word_bytes=16, addr_bits=16)
    stores = [(n * 16, n + 1) for n in range(6)]

    async def look(ctx):
        for number, (addr, value) in enumerate(stores):
            await in_turn(send(dut.i, payloads([(addr, value)])), fence(dut))(ctx)
            order.append([memory.bytes[a] for a, _ in stores[: number + 1]])

    simulate(dut, look, background=[memory.serve_writes(dut.mem)])
    assert order == [[v for _, v in stores[: n + 1]] for n in range(6)]
