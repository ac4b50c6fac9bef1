"""A pipeline after a LoopHeader, for its own test and for the comparison with the model."""

import random
from dataclasses import dataclass, field

from amaranth.hdl import unsigned

from rtl_lib.loop import LoopHeader

from .bench import drive, simulate, watch_offers

__all__ = ["Pipeline", "run"]


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


def run(trips, slots, entries, depth, seed=0, idle=0.0, stall=0.0, hold=0.0, once=False):
    """Runs invocations of the given trips; returns the tokens as (cycle, invocation, iteration)."""
    rng = random.Random(seed)
    dut = LoopHeader(unsigned(8), unsigned(8), slots, entries, once=once)
    pipeline = Pipeline(dut, trips, depth, rng, stall, hold)
    requests = [{"initial": k % 256, "invariant": k * 7 % 256} for k in range(len(trips))]
    simulate(dut, drive(dut.i, requests, rng, idle), pipeline.run, background=[watch_offers(dut.o, meaning)])
    return pipeline.tokens
