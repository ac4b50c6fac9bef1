"""LoopHeader against the tokens a sequential loop would run, with answers from a pipeline of any depth."""

import random
from dataclasses import dataclass, field

import pytest
from amaranth.hdl import unsigned

from rtl_lib.loop import LoopHeader

from .bench import drive, simulate, watch_offers


def golden(trips):
    """Per invocation, in order: the iteration numbers its tokens must have."""
    return {k: list(range(n)) for k, n in enumerate(trips)}


@dataclass
class Pipeline:
    """Accepts tokens, answers each ``depth`` cycles later (0: in the cycle of the issue), frees entries in order."""

    dut: LoopHeader
    trips: list
    depth: int
    rng: random.Random
    stall: float = 0.0
    hold: float = 0.0  #: probability, each cycle, that no finished entry is taken
    tokens: list = field(default_factory=list)  #: (cycle, invocation, iteration)

    def __post_init__(self):
        self.running, self.counts, self.finished, self.retired = {}, {}, set(), 0
        self.answers = [None] * self.depth

    async def run(self, ctx):
        cycle = 0
        while self.retired < len(self.trips):
            ctx.set(self.dut.o.ready, self.rng.random() >= self.stall)
            token = ctx.get(self.dut.o.payload) if ctx.get(self.dut.o.valid) and ctx.get(self.dut.o.ready) else None
            assert ctx.get(self.dut.issued) == (token is not None)
            assert ctx.get(self.dut.running) == (token is not None or bool(self.running))
            self.answers.append(None if token is None else self.accept(cycle, token))
            self.answer(ctx, self.answers.pop(0))
            ctx.set(self.dut.retire, self.take_exit())
            await ctx.tick()
            cycle += 1

    def accept(self, cycle, token):
        """Checks a token against the run so far; gives its answer: (slot, invocation, is it the last)."""
        if token.first:
            assert token.slot not in self.running, "slot reused while it runs"
            started = len(self.counts)
            assert token.initial == started % 256 and token.entry == started % self.dut.entries
            assert started - self.retired < self.dut.entries, "more invocations than exit entries"
            self.running[token.slot], self.counts[started] = started, 0
        k = self.running[token.slot]
        assert token.invariant == k * 7 % 256 and token.entry == k % self.dut.entries
        self.tokens.append((cycle, k, self.counts[k]))
        self.counts[k] += 1
        return token.slot, k, self.counts[k] == self.trips[k]

    def answer(self, ctx, event):
        slot, k, last = event or (0, None, False)
        for port, valid in ((self.dut.again, event and not last), (self.dut.done, event and last)):
            ctx.set(port.valid, bool(valid))
            ctx.set(port.slot, slot)
        if last:
            del self.running[slot]
            self.finished.add(k)

    def take_exit(self):
        take = self.retired in self.finished and self.rng.random() >= self.hold
        self.retired += take
        return take


def meaning(token):
    """What a token says: ``initial`` is meant for the first only."""
    return token.slot, token.first, token.entry, token.invariant, token.first and token.initial


def run(trips, slots, entries, depth, seed=0, idle=0.0, stall=0.0, hold=0.0):
    """Runs invocations of the given trips; returns the tokens as (cycle, invocation, iteration)."""
    rng = random.Random(seed)
    dut = LoopHeader(unsigned(8), unsigned(8), slots, entries)
    pipeline = Pipeline(dut, trips, depth, rng, stall, hold)
    requests = [{"initial": k % 256, "invariant": k * 7 % 256} for k in range(len(trips))]
    simulate(dut, drive(dut.i, requests, rng, idle), pipeline.run, background=[watch_offers(dut.o, meaning)])
    return pipeline.tokens


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
    assert [k for _, k, _ in tokens[:3 * slots]] == list(range(slots)) * 3


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
