"""StoreFinder: a token finds the newest earlier store to each of its places, unless memory has it."""

import random

import pytest
from amaranth.sim import Simulator

from rtl_lib.lsu.store_finder import StoreFinder, slots_of

ENTRIES, SLOT_BITS, TOKENS = 8, 6, 300


class Scenario:
    """Random tokens with two places and two stores, the second of which may turn out not to be made."""

    def __init__(self, seed, places, per_word, asks=((0, 1), (1,)), gap=0.3):
        self.rng = rng = random.Random(seed)
        self.asks, self.gap, at = asks, gap, 0
        self.tokens = []
        for _ in range(TOKENS):
            at = (at + rng.choice((0, 1, 1, 1, -1))) % places if per_word else rng.randrange(places)
            self.tokens.append(
                {
                    "asking": [(rng.random() < 0.8, rng.randrange(places)) for _ in range(2)],
                    "stores": [(rng.random() < 0.7, at), (True, rng.randrange(places))],
                    "made": [True, rng.random() < 0.6],
                }
            )
        self.dut = StoreFinder(16, (ENTRIES, ENTRIES), asks, (True, False), (per_word, 0), SLOT_BITS)
        self.slots = [slots_of(ENTRIES, per_word), ENTRIES]
        self.accepted, self.answers, self.cycle = 0, [], 0
        self.gone: list[set[int]] = [set(), set()]  #: tokens whose stores are in memory, or were not made
        self.memory_at: list[list[set[int]]] = []  #: the same when a token was accepted

    async def feed(self, ctx):
        i = self.dut.i
        for token in self.tokens:
            while self.rng.random() < self.gap:
                ctx.set(i.valid, 0)
                await ctx.tick()
            ctx.set(i.valid, 1)
            for k in range(2):
                for kind in ("asking", "stores"):
                    on, place = token[kind][k]
                    ctx.set(getattr(i.payload, kind)[k].valid, int(on))
                    ctx.set(getattr(i.payload, kind)[k].place, place)
            await ctx.tick().until(i.ready)
            self.accepted += 1
            self.memory_at.append([set(gone) for gone in self.gone])
        ctx.set(i.valid, 0)

    async def drain(self, ctx):
        o = self.dut.o
        while len(self.answers) < TOKENS:
            ready = self.rng.random() >= self.gap
            ctx.set(o.ready, int(ready))
            if ctx.get(o.valid) and ready:
                found = [(ctx.get(one.hit), ctx.get(one.slot)) for one in o.payload.found]
                self.answers.append((found, [ctx.get(slot) for slot in o.payload.stores]))
            self.cycle += 1
            assert self.cycle < 50 * TOKENS
            await ctx.tick()

    async def retire(self, ctx):
        """The stores of a token are decided, in order, some time after its answer, and seen some time after that."""
        dut, decided = self.dut, 0
        waiting: list[list[int]] = [[], []]
        while True:
            for k in range(2):
                ctx.set(getattr(dut, f"retired{k}"), 0)
            ctx.set(dut.fate1.valid, 0)
            if decided < len(self.answers) and self.rng.random() < 0.5:
                token = self.tokens[decided]
                ctx.set(dut.fate1.valid, 1)
                ctx.set(dut.fate1.made, int(token["made"][1]))
                for k in range(2):
                    if token["stores"][k][0] and token["made"][k]:
                        waiting[k].append(decided)
                    elif token["stores"][k][0]:
                        self.gone[k].add(decided)
                decided += 1
            for k in range(2):
                if waiting[k] and self.rng.random() < 0.4:
                    count = self.rng.randint(1, len(waiting[k]))
                    ctx.set(getattr(dut, f"retired{k}"), count)
                    self.gone[k].update(waiting[k][:count])
                    del waiting[k][:count]
            await ctx.tick()

    def run(self):
        simulator = Simulator(self.dut)
        simulator.add_clock(1e-6)
        simulator.add_testbench(self.feed)
        simulator.add_testbench(self.drain)
        simulator.add_testbench(self.retire, background=True)
        simulator.run()

    def newest(self, number, place):
        """(token, store) of the newest store to the place before a token; None if there is none."""
        for earlier in reversed(range(number)):
            for k in (1, 0):
                if self.tokens[earlier]["stores"][k] == (True, place):
                    return earlier, k
        return None

    def check(self):
        """Every hit is the slot of the newest store; where nothing hits, the newest store is in memory; no slot is
        given out again before that. Returns the number of hits."""
        hits = 0
        owners: list[dict[int, int]] = [{}, {}]
        for n, (found, own) in enumerate(self.answers):
            answers = iter(found)
            for (on, place), numbers in zip(self.tokens[n]["asking"], self.asks, strict=True):
                newest = self.newest(n, place) if on else None
                for k in numbers:
                    hit, slot = next(answers)
                    hits += hit
                    if hit:
                        assert newest is not None and newest[1] == k and owners[k][slot] == newest[0], (n, place)
                    elif newest is not None and newest[1] == k:
                        assert newest[0] in self.memory_at[n][k], f"token {n} misses the store of {newest}"
            for k, slot in enumerate(own):
                if self.tokens[n]["stores"][k][0]:
                    assert slot < self.slots[k]
                    before = owners[k].get(slot)
                    same = before is not None and self.tokens[before]["stores"][k][1] == self.tokens[n]["stores"][k][1]
                    assert before is None or same or before in self.memory_at[n][k]
                    owners[k][slot] = n
        return hits


@pytest.mark.pairwise
@pytest.mark.parametrize("places", [1, 3, 24])
@pytest.mark.parametrize("per_word", [0, 4])
@pytest.mark.parametrize("asks", [((0, 1), (1,)), ((0,), (0, 1))])
def test_a_token_finds_the_newest_store(places, per_word, asks):
    scenario = Scenario(places + per_word, places, per_word, asks)
    scenario.run()
    assert scenario.check() > 50


def test_tokens_pass_one_a_cycle():
    scenario = Scenario(2, 24, 0, gap=0.0)
    for token in scenario.tokens:
        token["stores"] = [(False, 0), (False, 0)]
    scenario.dut = StoreFinder(16, (64, 64), scenario.asks, (True, True), (0, 0), SLOT_BITS)
    scenario.run()
    assert scenario.cycle <= TOKENS + 6


def test_slots_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="need more than 3 bits"):
        StoreFinder(16, (8,), ((0,),), (True,), (4,), 3)
