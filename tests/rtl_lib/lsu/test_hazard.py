"""HazardUnit: no access passes an earlier store in flight to its place, and no other access waits."""

import random

import pytest
from amaranth.sim import Simulator

from rtl_lib.lsu.hazard import HazardUnit, StoreTable
from rtl_lib.lsu.inflight_words import WordTable

ENTRIES = 8


class Scenario:
    """Random tokens with two accesses that ask and two stores, the second of which may turn out not to be made."""

    def __init__(self, seed, places, conflicts=True, asks=((0, 1), (0, 1)), per_word=0):
        self.asks, at = asks, 0
        self.rng = rng = random.Random(seed)
        self.tokens = []
        for n in range(200):
            base = 0 if conflicts else 4 * n
            at = (at + rng.choice((0, 1, 1, 1, 1, -1))) % places if per_word else rng.randrange(places)
            self.tokens.append(
                {
                    "asking": [(rng.random() < 0.8, base + rng.randrange(places)) for _ in range(2)],
                    "stores": [(rng.random() < 0.7, base + at), (True, base + rng.randrange(places))],
                    "made": [True, rng.random() < 0.6],
                }
            )
        self.dut = HazardUnit(16, ENTRIES, asks, (True, False), (per_word, 0))
        self.passed, self.entered, self.visible = [], 0, [0, 0]
        self.cycle = 0

    def made_before(self, token, k):
        """Number of stores of unit k made by tokens before this one."""
        return sum(t["stores"][k][0] and t["made"][k] for t in self.tokens[:token])

    def unsafe(self, token):
        """Earlier stores to a place that the token asks their table for which are not visible."""
        found = []
        for earlier in range(token):
            for k in range(2):
                on, place = self.tokens[earlier]["stores"][k]
                late = self.made_before(earlier, k) >= self.visible[k]
                asked = [a for a, tables in zip(self.tokens[token]["asking"], self.asks, strict=True) if k in tables]
                if on and self.tokens[earlier]["made"][k] and late and (True, place) in asked:
                    found.append((earlier, k))
        return found

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
            self.entered += 1
        ctx.set(i.valid, 0)

    async def drain(self, ctx):
        o = self.dut.o
        while len(self.passed) < len(self.tokens):
            ready = self.rng.random() >= self.gap
            ctx.set(o.ready, int(ready))
            valid = ctx.get(o.valid)
            if valid and ready:
                token = len(self.passed)
                assert not self.unsafe(token), f"token {token} passed {self.unsafe(token)}"
                self.passed.append(token)
            self.cycle += 1
            assert self.cycle < 20000
            await ctx.tick()

    async def retire(self, ctx):
        """Stores are made, in order, a while after their token has passed, and seen a while after that."""
        dut, told, waiting = self.dut, [0, 0], [0, 0]
        while True:
            for k in range(2):
                ctx.set(getattr(dut, f"retired{k}"), 0)
            ctx.set(dut.fate1.valid, 0)
            behind = max(0, len(self.passed) - self.delay)
            finished = len(self.passed) == len(self.tokens)
            if told[1] < (len(self.passed) if self.rng.random() < 0.05 or finished else behind):
                made = self.tokens[told[1]]["made"][1]
                ctx.set(dut.fate1.valid, 1)
                ctx.set(dut.fate1.made, int(made))
                waiting[1] += made
                told[1] += 1
            if told[0] < told[1]:
                waiting[0] += self.tokens[told[0]]["stores"][0][0]
                told[0] += 1
            for k in range(2):
                if waiting[k] and self.rng.random() < 0.3:
                    count = self.rng.randint(1, waiting[k])
                    ctx.set(getattr(dut, f"retired{k}"), count)
                    waiting[k] -= count
                    self.visible[k] += count
            await ctx.tick()

    def run(self, gap, delay):
        self.gap, self.delay = gap, delay
        simulator = Simulator(self.dut)
        simulator.add_clock(1e-6)
        simulator.add_testbench(self.feed)
        simulator.add_testbench(self.drain)
        simulator.add_testbench(self.retire, background=True)
        simulator.run()


@pytest.mark.pairwise
@pytest.mark.parametrize("places", [1, 3, 40])
@pytest.mark.parametrize(("gap", "delay"), [(0.0, 0), (0.4, 2)])
@pytest.mark.parametrize("asks", [((0, 1), (0, 1)), ((1,), (0,)), ((0, 1), (1,))])
@pytest.mark.parametrize("per_word", [0, 4])
def test_nothing_passes_an_earlier_store(places, gap, delay, asks, per_word):
    Scenario(places, places, asks=asks, per_word=per_word).run(gap, delay)


def test_only_what_is_asked_for_is_waited_for():
    """One place for all: a token that asks for no store of its own kind follows at once."""
    scenario = Scenario(7, 1, asks=((1,), (0,)))
    for token in scenario.tokens:
        token["stores"], token["asking"] = [(True, 0), (False, 0)], [(True, 0), (False, 0)]
    scenario.dut = HazardUnit(16, 64, scenario.asks, (True, True))
    scenario.run(0.0, 0)
    assert scenario.cycle < 4 * len(scenario.tokens)


def test_without_conflicts_only_room_is_waited_for():
    scenario = Scenario(5, 4, conflicts=False)
    scenario.run(0.0, 0)
    assert scenario.cycle < 3 * len(scenario.tokens)


def test_tokens_without_stores_pass_one_a_cycle():
    scenario = Scenario(6, 4)
    for token in scenario.tokens:
        token["stores"] = [(False, 0), (False, 0)]
    scenario.dut = HazardUnit(16, ENTRIES, scenario.asks, (True, True))
    scenario.run(0.0, 0)
    assert scenario.cycle <= len(scenario.tokens) + 5


class Ring:
    """A table by words beside what it has to know: the stores that are in it, the oldest first, each with the entry
    that it is in."""

    def __init__(self, seed, per_word, entries=8):
        self.rng, self.per_word = random.Random(seed), per_word
        self.dut, self.inside, self.seen, self.entered, self.shared = WordTable(8, entries, per_word, 2), [], 0, 0, 0

    async def run(self, ctx):
        dut, rng, at, visible = self.dut, self.rng, 0, 0
        for _ in range(1500):
            at = (at + rng.choice((0, 1, 1, 1, 1, -1, 5))) % 40
            asked, queries = (
                rng.random() < 0.5,
                [(rng.random() < 0.3, (at + rng.randint(-20, 3)) % 40) for _ in range(2)],
            )
            enters = rng.random() < 0.8 and bool(ctx.get(dut.room))
            retired = rng.randint(0, min(3, len(self.inside) - visible)) if rng.random() < self.pace else 0
            for port, (valid, place) in zip((dut.enter, *dut.queries), ((enters, at), *queries), strict=True):
                ctx.set(port.valid, int(valid))
                ctx.set(port.place, place)
            ctx.set(dut.asked, int(asked))
            ctx.set(dut.retired, retired)
            matched, occupied = ctx.get(dut.match), ctx.get(dut.occupied)
            for valid, place in queries:
                for there, entry in self.inside[visible:] if valid else ():
                    assert there != place or matched >> entry & 1, "what may be on its way is found"
            assert matched & ~occupied == 0
            for entry in range(dut.entries):
                mine = [place for place, e in self.inside if e == entry]
                found = any(valid and place in mine for valid, place in queries)
                assert found == bool(matched >> entry & 1), "and nothing else"
            before, newest = occupied, ctx.get(dut.newest)
            await ctx.tick()
            visible += retired
            occupied = ctx.get(dut.occupied)
            left = [entry for entry in range(dut.entries) if before >> entry & 1 and not occupied >> entry & 1]
            for entry in left:
                mine = [k for k, (_, e) in enumerate(self.inside) if e == entry]
                assert mine == list(range(len(mine))) and len(mine) <= visible, (
                    "an entry leaves when all its stores are in memory"
                )
                self.inside, visible = self.inside[len(mine) :], visible - len(mine)
            if enters:
                entry = ctx.get(dut.newest)
                self.shared += entry == newest
                assert entry != newest or not (asked and matched >> entry & 1), "what is waited for does not grow"
                self.inside.append((at, entry))
                self.entered += 1


@pytest.mark.parametrize("per_word", [2, 4, 16])
@pytest.mark.parametrize("pace", [1.0, 0.3])
def test_a_table_by_words(per_word, pace):
    ring = Ring(per_word, per_word)
    ring.pace = pace
    simulator = Simulator(ring.dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(ring.run)
    simulator.run()
    assert ring.entered > 300 and ring.shared > ring.entered // 8


def test_stores_that_may_not_be_made_are_not_kept_by_words():
    with pytest.raises(ValueError, match="may not be made"):
        HazardUnit(16, ENTRIES, ((0,),), (False,), (4,))


def test_every_store_is_asked_for():
    with pytest.raises(ValueError, match="asked for"):
        HazardUnit(16, ENTRIES, ((0,),), (True, True))


def test_a_table_has_a_power_of_two_entries():
    with pytest.raises(ValueError, match="power of two"):
        StoreTable(16, 6, 1, True)
