"""LoopHeader against the tokens of a sequential loop, with answers from a pipeline of any depth."""

import random

import pytest
from amaranth.hdl import unsigned

from rtl_lib.loop import LoopHeader

from .bench import drive, simulate
from .header_bench import Pipeline, run


def golden(trips):
    """Per invocation, in order: the iteration numbers its tokens must have."""
    return {k: list(range(n)) for k, n in enumerate(trips)}


@pytest.mark.pairwise
@pytest.mark.parametrize("slots, entries", [(1, 1), (1, 3), (2, 2), (2, 5), (3, 4), (5, 11)])
@pytest.mark.parametrize("depth", [0, 1, 4])
@pytest.mark.parametrize("pressure", [0.0, 0.4])
def test_every_token_once(slots, entries, depth, pressure):
    """Rules 1 to 7 under gaps at every side; each breach is a wrong token, a moved offer or a hang."""
    rng = random.Random(slots * 10 + depth)
    trips = [rng.choice([1, 1, 2, 3, 7]) for _ in range(16)]
    tokens = run(trips, slots, entries, depth, slots + depth, pressure, pressure, pressure)
    for k, iterations in golden(trips).items():
        assert [n for _, j, n in tokens if j == k] == iterations


@pytest.mark.parametrize("depth", [0, 1, 4])
@pytest.mark.parametrize("pressure", [0.0, 0.4])
def test_a_request_is_offered_until_its_result_is_taken(depth, pressure):
    """Rule 10: one taken earlier would bring the invariant of the next, one taken later a second run of itself."""
    trips = [3, 1, 7, 2, 1, 1, 4]
    tokens = run(trips, 1, 1, depth, depth, pressure, pressure, pressure, once=True)
    assert [(j, n) for _, j, n in tokens] == [(j, n) for j, iterations in golden(trips).items() for n in iterations]


@pytest.mark.pairwise
@pytest.mark.parametrize("slots, entries", [(1, 3), (2, 2), (3, 7), (5, 11)])
@pytest.mark.parametrize("depth", [1, 4, 9])
@pytest.mark.parametrize("pressure", [0.0, 0.4])
def test_tokens_ahead_of_the_decision(slots, entries, depth, pressure):
    """Rule 9: the iterations up to the last one are issued, and what comes after is of the same invocation until its
    slot is taken again; the slot of an invocation that has ended is neither lost nor taken twice."""
    rng = random.Random(slots * 10 + depth)
    trips = [rng.choice([1, 1, 2, 3, 7]) for _ in range(24)]
    tokens = run(trips, slots, entries, depth, slots + depth, pressure, pressure, pressure, speculative=True)
    for k, iterations in golden(trips).items():
        mine = [n for _, j, n in tokens if j == k]
        assert mine == list(range(len(mine))) and len(mine) >= len(iterations)


@pytest.mark.parametrize("slots", [1, 3])
def test_one_invocation_fills_every_cycle_ahead_of_the_decision(slots):
    """Rule 9: a token a cycle, however late its decision, and whether or not other slots are free."""
    cycles = [c for c, *_ in run([20], slots, entries=4, depth=9, speculative=True)]
    assert cycles[:20] == list(range(cycles[0], cycles[0] + 20))


def test_only_one_request_at_a_time_can_stay_on_offer():
    with pytest.raises(ValueError, match="one slot and one entry, not 1 and 2"):
        LoopHeader(unsigned(8), unsigned(8), 1, 2, once=True)


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_every_cycle(slots):
    """Answers in the cycle of the issue: a token a cycle, and no bubble between invocations (rules 6 and 7)."""
    trips = [1, 1, 4, 2, 1, 3]
    cycles = [cycle for cycle, *_ in run(trips, slots, entries=4, depth=0)]
    assert cycles == list(range(cycles[0], cycles[0] + sum(trips)))


@pytest.mark.parametrize("depth", [1, 3])
def test_interleaving(depth):
    """As many slots as the cycles to an answer: a token a cycle, the slots in turn (rules 2 and 3)."""
    slots = depth + 1
    tokens = run([6] * slots * 2, slots, entries=2 * slots, depth=depth)
    assert [c for c, *_ in tokens] == list(range(tokens[0][0], tokens[0][0] + 12 * slots))
    assert [k for _, k, _ in tokens[: 3 * slots]] == list(range(slots)) * 3


def test_new_goes_first():
    """Rule 2: a request that comes while two slots run is issued before either runs on."""
    tokens = run([9, 9, 9], 3, 3, depth=0)
    assert [k for _, k, _ in tokens[:4]] == [0, 1, 2, 0]


def test_exit_entries_bound_what_is_in_flight():
    """Rule 1 and the ``full`` strobe: with one entry the next request waits for the first one's retirement."""
    dut, full = LoopHeader(unsigned(8), unsigned(8), 2, 1), []
    pipeline = Pipeline(dut, [1, 1], 0, random.Random(3), hold=0.8)

    async def watch(ctx):
        async for _, _, seen in ctx.tick().sample(dut.full):
            full.append(seen)

    requests = [{"initial": k, "invariant": 7 * k} for k in range(2)]
    simulate(dut, drive(dut.i, requests, random.Random(0)), pipeline.run, background=[watch])
    (first, *_), (second, *_) = pipeline.tokens
    assert second - first > 1 and sum(full) == second - first - 1


@pytest.mark.parametrize("slots", [1, 3])
def test_without_values(slots):
    """Shapes of no width: a loop that only counts its invocations."""
    dut = LoopHeader(unsigned(0), unsigned(0), slots, 2)

    async def bench(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.done.valid, 1)  # one token an invocation, answered in the cycle of its issue
        ctx.set(dut.done.slot, 0)
        ctx.set(dut.retire, 0)
        firsts = []
        for _ in range(4):
            _, _, first = await ctx.tick().sample(dut.invocations)
            firsts.append(first)
        assert firsts == [1, 1, 0, 0]  # two entries, and none comes back

    simulate(dut, bench)


@pytest.mark.parametrize("bad", [{"slots": 0, "entries": 1}, {"slots": 1, "entries": 0}])
def test_refuses(bad):
    with pytest.raises(ValueError):
        LoopHeader(unsigned(1), unsigned(1), **bad)
