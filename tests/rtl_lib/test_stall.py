"""StallSource and StallGate: deterministic, diverse, and without effect on the payloads."""

import random

import pytest
from amaranth.hdl import unsigned

from rtl_lib.stall import StallGate, StallSource, salt_of, xorshift

from .bench import collect, drive, simulate, watch_offers


def golden(seed, salt, cycles):
    """The stall bits of ``cycles`` cycles from the one in which the seed is first seen."""
    mixed = seed ^ salt
    temper = (mixed ^ mixed >> 16) & 3
    state, burst, stall, bits = mixed | 1, 0, 0, [0]
    while len(bits) < cycles:
        bits.append(stall)
        stall = burst | (temper & 1 and (state >> 8 & 7) == 0)
        going = state & 7 != 0 if burst else state >> 3 & 31 == 0
        burst = int(temper >> 1 and going)
        state = xorshift(state)
    return [int(bit) for bit in bits]


def stalls(seed, salt, cycles):
    dut, bits = StallSource(salt), []

    async def bench(ctx):
        ctx.set(dut.seed, seed)
        for _ in range(cycles):
            _, _, stall = await ctx.tick().sample(dut.stall)
            bits.append(stall)

    simulate(dut, bench)
    return bits


@pytest.mark.parametrize("seed", [1, 0xDEAD_BEEF])
@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_is_the_golden_function(seed, name):
    """Rule 2, and the odds of rule 3 by way of the golden function."""
    assert stalls(seed, salt_of(name), 200) == golden(seed, salt_of(name), 200)


def test_seed_zero_never_stalls():
    """Rule 1."""
    assert not any(stalls(0, salt_of("any"), 100))


def test_begins_again():
    """Rules 1 and 2: seed 0 stops the stalls at once, and the seed after it starts the same run again."""
    dut, runs = StallSource(salt_of("c")), []

    async def bench(ctx):
        for seed in (7, 0, 7):
            ctx.set(dut.seed, seed)
            bits = []
            for _ in range(100):
                await ctx.tick()
                bits.append(ctx.get(dut.stall))
            runs.append(bits)

    simulate(dut, bench)
    first, calm, second = runs
    assert any(first) and not any(calm) and first == second


def test_seed_equal_to_salt_is_no_trap():
    """A generator that starts from 0 would stay there: the state is never 0."""
    state = 1
    for _ in range(1000):
        state = xorshift(state)
        assert 0 < state < 1 << 32


def test_rates():
    """Rule 3 over many tempers: calm sources, single stalls, bursts."""
    shares, lengths = [], []
    for k in range(24):
        bits = golden(12345, salt_of(f"x{k}"), 4000)
        shares.append(sum(bits) / len(bits))
        runs = "".join(map(str, bits)).split("0")
        lengths.append(max(len(run) for run in runs))
    assert min(shares) == 0, "some sources stay calm"
    assert max(shares) < 0.45 and max(lengths) > 20
    assert any(0.09 < share < 0.16 and length < 8 for share, length in zip(shares, lengths, strict=True))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_gate(seed):
    """Both rules: nothing lost or withdrawn; a wire when the seed is 0."""
    rng, seen, count = random.Random(seed), [], 60
    dut, sent = StallGate(unsigned(8), salt_of("gate")), [rng.randrange(256) for _ in range(60)]

    async def set_seed(ctx):
        ctx.set(dut.seed, seed)

    async def wire(ctx):
        async for _, _, valid_in, valid_out in ctx.tick().sample(dut.i.valid, dut.o.valid):
            assert seed or valid_in == valid_out

    simulate(
        dut,
        set_seed,
        drive(dut.i, sent, rng, 0.3),
        collect(dut.o, seen, count, rng, 0.3),
        background=[watch_offers(dut.o), wire],
    )
    assert seen == sent


@pytest.mark.parametrize("salt", [-1, 1 << 32, "a"])
def test_refuses(salt):
    with pytest.raises(ValueError, match="salt"):
        StallSource(salt)
