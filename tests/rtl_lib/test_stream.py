"""Join, Fork, RoundRobin and SkidBuffer against lists."""

import random

import pytest
from amaranth.hdl import unsigned

from rtl_lib.stream import Fork, Join, RoundRobin, SkidBuffer

from .bench import collect, drive, simulate, watch_offers

PRESSURE = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.4, 0.4)]
COUNT = 30


def payloads(rng, count=COUNT):
    return [rng.randrange(256) for _ in range(count)]


@pytest.mark.parametrize("idle, stall", PRESSURE)
@pytest.mark.parametrize("inputs", [1, 3])
def test_join(inputs, idle, stall):
    """Rules 1 and 2: an input taken alone shifts every later tuple."""
    rng, seen = random.Random(inputs), []
    names = "abc"[:inputs]
    sent = {name: payloads(rng) for name in names}
    dut = Join({name: unsigned(8) for name in names})
    drivers = [drive(getattr(dut.i, name), sent[name], rng, idle) for name in names]
    simulate(dut, *drivers, collect(dut.o, seen, COUNT, rng, stall), background=[watch_offers(dut.o)])
    assert [tuple(item[name] for name in names) for item in seen] == list(zip(*sent.values(), strict=True))


@pytest.mark.parametrize("idle, stall", PRESSURE)
@pytest.mark.parametrize("outputs", [1, 3])
def test_fork(outputs, idle, stall):
    """Rules 1 and 3: a copy lost, given twice, or an input taken before all copies are."""
    rng, seen = random.Random(outputs), [[] for _ in range(outputs)]
    sent, dut = payloads(rng), Fork(unsigned(8), outputs)
    takers = [collect(dut.o[k], seen[k], COUNT, rng, stall) for k in range(outputs)]
    simulate(dut, drive(dut.i, sent, rng, idle), *takers, background=[watch_offers(o) for o in dut.o])
    assert seen == [sent] * outputs


def test_fork_is_eager():
    """Rule 2: the ready output has its copy although the other never takes one."""
    dut, seen = Fork(unsigned(8), 2), []
    rng = random.Random(0)

    async def offer(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.i.payload, 7)
        for _ in range(5):
            _, _, taken = await ctx.tick().sample(dut.i.ready)
            assert not taken

    simulate(dut, offer, collect(dut.o[0], seen, 1, rng))
    assert seen == [7]


@pytest.mark.parametrize("idle, stall", PRESSURE)
@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_round_robin(inputs, idle, stall):
    """Rules 1 and 3: payloads lost, mixed up, or an offer replaced by a later arrival."""
    rng, seen = random.Random(inputs), []
    sent = [payloads(rng) for _ in range(inputs)]
    dut = RoundRobin(unsigned(8), inputs)
    drivers = [drive(dut.i[k], sent[k], rng, idle) for k in range(inputs)]
    simulate(dut, *drivers, collect(dut.o, seen, inputs * COUNT, rng, stall), background=[watch_offers(dut.o)])
    for k in range(inputs):
        assert [item.value for item in seen if item.source == k] == sent[k]


def test_round_robin_is_fair_and_dense():
    """Rules 2 and 4: with all inputs busy they are served in turn, one a cycle."""
    dut, seen = RoundRobin(unsigned(8), 3), []

    async def bench(ctx):
        for i in dut.i:
            ctx.set(i.valid, 1)
        ctx.set(dut.o.ready, 1)
        for _ in range(9):
            _, _, valid, source = await ctx.tick().sample(dut.o.valid, dut.o.payload.source)
            seen.append(source if valid else None)
        ctx.set(dut.i[0].valid, 0)  # the input next in turn falls out
        for _ in range(4):
            _, _, valid, source = await ctx.tick().sample(dut.o.valid, dut.o.payload.source)
            seen.append(source if valid else None)

    simulate(dut, bench)
    assert seen == [0, 1, 2] * 3 + [1, 2, 1, 2]


@pytest.mark.parametrize("idle, stall", PRESSURE)
def test_skid_buffer(idle, stall):
    """Rule 1 under pressure on both sides."""
    rng, seen, dut = random.Random(1), [], SkidBuffer(unsigned(8))
    sent = payloads(rng)
    simulate(
        dut, drive(dut.i, sent, rng, idle), collect(dut.o, seen, COUNT, rng, stall), background=[watch_offers(dut.o)]
    )
    assert seen == sent


def test_skid_buffer_rate_and_cut():
    """Rules 2 and 3: a payload a cycle, and no input changes an output in the same cycle."""
    dut = SkidBuffer(unsigned(8))

    async def bench(ctx):
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.i.valid, 1)
        for k in range(8):
            ctx.set(dut.i.payload, k)
            assert ctx.get(dut.i.ready) and ctx.get(dut.o.valid) == (k > 0)
            assert k == 0 or ctx.get(dut.o.payload) == k - 1
            for ready, valid in ((0, 1), (1, 0), (1, 1)):
                ctx.set(dut.o.ready, ready)
                ctx.set(dut.i.valid, valid)
                assert ctx.get(dut.i.ready) and ctx.get(dut.o.valid) == (k > 0)
            await ctx.tick()

    simulate(dut, bench)


@pytest.mark.parametrize("build", [lambda: Join({}), lambda: Fork(1, 0), lambda: RoundRobin(1, 0)])
def test_refuses(build):
    with pytest.raises(ValueError):
        build()
