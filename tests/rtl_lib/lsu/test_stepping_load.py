"""SteppingLoadUnit against golden reads of a byte memory, in a pipeline that stands still at random."""

import random

import pytest

from rtl_lib.lsu.load import load
from rtl_lib.lsu.stepping_load import SteppingLoadUnit, runs_of
from tests.rtl_lib.lsu.test_load_units import SIZE, WIDTHS, fetched, mixed_addresses
from tests.rtl_lib.mem.memory_bench import Memory, simulate

ALIGN, LATENCY = 256, SteppingLoadUnit.timing.latency


def unit(access: int, word: int, **more) -> SteppingLoadUnit:
    sizes = {"ahead": 4, "max_burst": 4, "burst_align": ALIGN, **more}
    return SteppingLoadUnit(access_bytes=access, word_bytes=word, addr_bits=20, **sizes)


def pipeline(dut, addresses, seen, give=1.0, move=1.0, before=None):
    """Testbench of a pipeline with the unit inside; ``before(ctx, n)`` may drive ``flush`` in the cycle in which
    address n is offered. Returns the number of cycles in ``seen.cycles``."""
    rng = random.Random(3)

    async def go(ctx):
        inside, given, cycles = [None] * LATENCY, 0, 0
        while given < len(addresses) or any(stage is not None for stage in inside):
            offers = given < len(addresses) and rng.random() < give
            if offers and before is not None:
                before(ctx, given)
            moves = ctx.get(dut.ready) and rng.random() < move
            ctx.set(dut.go, moves)
            ctx.set(dut.i.valid, moves and offers)
            ctx.set(dut.i.addr, addresses[given] if offers else rng.randrange(SIZE))
            if moves and inside[-1] is not None:
                seen.append((ctx.get(dut.data), ctx.get(dut.error)))
            await ctx.tick()
            ctx.set(dut.flush, 0)
            cycles += 1
            if moves:
                inside = [given if offers else None, *inside[:-1]]
                given += offers
        ctx.set(dut.go, 0)
        dut.cycles = cycles

    return go


@pytest.mark.parametrize("access, word", WIDTHS)
@pytest.mark.parametrize("give, move, serve", [(1.0, 1.0, 1.0), (0.7, 0.5, 0.9), (1.0, 0.9, 0.3)])
def test_values_and_requests(access, word, give, move, serve):
    """Addresses run and jump: values are those of the memory, with the errors of their words, and words requested in
    vain are those behind a run."""
    addresses = mixed_addresses(random.Random(word + access), access, 150)
    first = addresses[75] // word * word
    bad = range(first, first + 2 * word)
    memory, seen = Memory(SIZE, rate=serve, burst_align=ALIGN, bad=bad), []
    dut = unit(access, word)
    simulate(dut, pipeline(dut, addresses, seen, give, move), background=[memory.serve_reads(dut.mem)])
    assert [value for value, _ in seen] == load(memory.bytes, addresses, access)
    assert [error for _, error in seen] == [address in bad for address in addresses]
    assert 0 < sum(error for _, error in seen) < len(seen)
    assert are_requested(fetched(memory, word), runs_of(addresses, word), word)


def are_requested(found, runs, word) -> bool:
    """Whether the words ``found`` are those of the runs, each followed by up to ``ahead`` words and one."""
    if not runs:
        return not found
    (first, last), *others = runs
    length = (last - first) // word + 1
    if found[:length] != list(range(first, last + word, word)):
        return False
    for more in range(6):
        if are_requested(found[length + more :], others, word):
            return True
        if found[length + more : length + more + 1] != [last + (more + 1) * word]:
            return False
    return False


def test_a_stream_takes_a_step_each_cycle():
    """Behind the first word, the pipeline never stands still, however late memory answers."""
    addresses, seen = list(range(0, 4096, 4)), []
    memory, dut = Memory(SIZE, latency=60), unit(4, 16, ahead=64, burst_align=1024)
    simulate(dut, pipeline(dut, addresses, seen), background=[memory.serve_reads(dut.mem)])
    assert [value for value, _ in seen] == load(memory.bytes, addresses, 4)
    assert dut.cycles < len(addresses) + 60 + 20
    assert max(words for _, words in memory.reads) == 4


@pytest.mark.parametrize("seed", range(6))
def test_words_are_as_new_as_the_last_flush(seed):
    """Memory changes with each flush, whatever has been requested ahead by then: an access sees what is in memory when
    it is given, or later."""
    rng = random.Random(seed)
    memory, seen = Memory(SIZE, latency=rng.choice([1, 9])), []
    steps = [rng.choice([0, 4, 4, 4, 16, 32]) for _ in range(200)]
    addresses = [sum(steps[:n]) % ALIGN for n in range(len(steps))]
    contents, since = [bytes(memory.bytes[:ALIGN])], [0] * len(addresses)

    def before(ctx, n):
        if rng.random() < 0.2:
            contents.append(rng.randbytes(ALIGN))
            memory.bytes[:ALIGN] = contents[-1]
            ctx.set(dut.flush, 1)
        since[n] = len(contents) - 1

    dut = unit(4, 16)
    simulate(dut, pipeline(dut, addresses, seen, 0.3, 1.0, before), background=[memory.serve_reads(dut.mem)])
    assert len(seen) == len(addresses) and len(contents) > 20
    for (value, _), addr, first in zip(seen, addresses, since, strict=True):
        assert value in {int.from_bytes(one[addr : addr + 4], "little") for one in contents[first:]}
