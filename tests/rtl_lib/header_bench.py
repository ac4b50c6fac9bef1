"""A pipeline after a LoopHeader, for its own test and for the comparison with the model."""

import random
from dataclasses import dataclass, field

from amaranth.hdl import unsigned

from rtl_lib.loop import LoopHeader

from .bench import drive, simulate, watch_offers

__all__ = ["Pipeline", "run"]


@dataclass
class Pipeline:
    """Accepts tokens, answers each ``depth`` cycles later (0: in the cycle of the issue), frees entries in order. The
    pipeline of a speculative header sends ``again`` in the cycle of the issue, and only ``done`` later."""

    dut: LoopHeader
    trips: list
    depth: int
    rng: random.Random
    stall: float = 0.0
    hold: float = 0.0  #: probability, each cycle, that no finished entry is taken
    tokens: list = field(default_factory=list)  #: (cycle, invocation, iteration)

    def __post_init__(self):
        self.running, self.counts, self.finished, self.retired = {}, {}, set(), 0
        self.decided = set()  # of a speculative header: the invocations whose last token is known
        self.answers = [None] * self.depth

    async def run(self, ctx):
        cycle = 0
        while self.retired < len(self.trips):
            ctx.set(self.dut.o.ready, self.rng.random() >= self.stall)
            token = ctx.get(self.dut.o.payload) if ctx.get(self.dut.o.valid) and ctx.get(self.dut.o.ready) else None
            assert ctx.get(self.dut.issued) == (token is not None)
            if not self.dut.speculative:
                assert ctx.get(self.dut.running) == (token is not None or bool(self.running))
            self.answers.append(None if token is None else self.accept(cycle, token))
            issued, decided = self.answers[-1], self.answers.pop(0)
            if self.dut.speculative:
                self.answer_ahead(ctx, issued, decided)
            else:
                self.answer(ctx, decided)
            ctx.set(self.dut.retire, self.take_exit())
            await ctx.tick()
            cycle += 1

    def accept(self, cycle, token):
        """Checks a token against the run so far; gives its answer: (slot, invocation, is it the last)."""
        if token.first:
            running = self.running.get(token.slot)
            assert running is None or running in self.decided, "slot reused while it runs"
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

    def answer_ahead(self, ctx, issued, decided):
        """``again`` for every token (with one slot, only for those of an invocation that has not ended), and ``done``
        for the last one of an invocation."""
        again = issued is not None and (self.dut.marks or issued[1] not in self.decided)
        done = decided is not None and decided[2]
        for port, event in ((self.dut.again, issued if again else None), (self.dut.done, decided if done else None)):
            ctx.set(port.valid, event is not None)
            ctx.set(port.slot, event[0] if event else 0)
        if done:
            self.decided.add(decided[1])
            self.finished.add(decided[1])

    def take_exit(self):
        take = self.retired in self.finished and self.rng.random() >= self.hold
        self.retired += take
        return take


def meaning(token):
    """What a token says: ``initial`` is meant for the first only."""
    return token.slot, token.first, token.entry, token.invariant, token.first and token.initial


def run(trips, slots, entries, depth, seed=0, idle=0.0, stall=0.0, hold=0.0, once=False, speculative=False):
    """Runs invocations of the given trips; returns the tokens as (cycle, invocation, iteration)."""
    rng = random.Random(seed)
    dut = LoopHeader(unsigned(8), unsigned(8), slots, entries, speculative, once=once)
    pipeline = Pipeline(dut, trips, depth, rng, stall, hold)
    requests = [{"initial": k % 256, "invariant": k * 7 % 256} for k in range(len(trips))]
    watched = [] if speculative else [watch_offers(dut.o, meaning)]  # that of an invocation that ends is withdrawn
    simulate(dut, drive(dut.i, requests, rng, idle), pipeline.run, background=watched)
    return pipeline.tokens
