"""Fairness of units that all request one bank at all times: none waits for more than one burst of each other,
whatever their lengths; a store unit for not many more words than a burst has."""

import random
from dataclasses import dataclass, field

import pytest

from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import AHEAD, WriteInterconnect
from tests.rtl_lib.mem.memory_bench import simulate

GEOMETRY = {"word_bytes": 2, "addr_bits": 12, "max_burst": 4}
MAPS = {"one bank": AddressMap.interleaved(1), "one of two banks": AddressMap.interleaved(2, 64)}
ROUNDS = 4  #: bursts of each unit
OUTSTANDING = 8
STEP = 64  #: bytes between what two units ask for, in the bank


@dataclass
class Watch:
    """What happened to the units: bursts of each, and how long each waited at most."""

    count: int
    bursts: list[int] = field(init=False)
    passed: list[list[int]] = field(init=False)  #: bursts of each other unit since this one has been asking
    most_passed: int = 0  #: of one other unit, while one waited
    most_words: int = 0  #: likewise
    longest: int = 0  #: bursts of all others, while one waited

    def __post_init__(self):
        self.bursts = [0] * self.count
        self.passed = [[0] * self.count for _ in range(self.count)]

    def taken(self, unit):
        """A burst of a unit was taken, while all others were asking."""
        self.most_passed = max(self.most_passed, *self.passed[unit])
        self.most_words = max(self.most_words, *(n * words_of(other) for other, n in enumerate(self.passed[unit])))
        self.longest = max(self.longest, sum(self.passed[unit]))
        self.bursts[unit] += 1
        self.passed[unit] = [0] * self.count
        for other, passed in enumerate(self.passed):
            if other != unit:
                passed[unit] += 1


def words_of(unit):
    """Every other unit asks for single words, the others for the longest bursts."""
    return 1 if unit % 2 else GEOMETRY["max_burst"]


async def _ask(ctx, dut):
    for unit, port in enumerate(dut.units):
        ctx.set(port.request.payload, {"addr": dut.map.globalize(0, unit * STEP), "words": words_of(unit)})
        ctx.set(port.request.valid, 1)


def _came(ctx, request, watch):
    """Note whose burst comes to the bank; its words."""
    watch.taken(ctx.get(request.payload.addr) // STEP)
    return ctx.get(request.payload.words)


def reading(dut, watch, rate, rng):
    """Every unit reads from bank 0; the bank answers at a rate."""

    async def run(ctx):
        await _ask(ctx, dut)
        bank, owed = dut.banks[0], []
        for port in dut.units:
            ctx.set(port.response.ready, 1)
        while min(watch.bursts) < ROUNDS:
            ctx.set(bank.request.ready, rng.random() < rate)
            answers = bool(owed) and rng.random() < rate
            ctx.set(bank.response.valid, answers)
            ctx.set(bank.response.payload, {"data": 0, "error": 0, "last": answers and owed[0] == 1})
            if answers:
                owed[0] -= 1
                owed = owed if owed[0] else owed[1:]
            if ctx.get(bank.request.valid & bank.request.ready):
                owed.append(_came(ctx, bank.request, watch))
            await ctx.tick()

    return run


def writing(dut, watch, rate, rng):
    """Every unit writes to bank 0; the bank takes requests and words, and acknowledges, at a rate."""

    async def run(ctx):
        await _ask(ctx, dut)
        bank, owed, due = dut.banks[0], [], 0
        for port in dut.units:
            ctx.set(port.data.valid, 1)
            ctx.set(port.ack.ready, 1)
        while min(watch.bursts) < ROUNDS:
            ctx.set(bank.request.ready, rng.random() < rate)
            ctx.set(bank.data.ready, bool(owed) and rng.random() < rate)
            acknowledges = due > 0 and rng.random() < rate
            ctx.set(bank.ack.valid, acknowledges)
            due -= acknowledges
            if ctx.get(bank.data.valid & bank.data.ready):
                owed[0] -= 1
                if not owed[0]:
                    owed, due = owed[1:], due + 1
            if ctx.get(bank.request.valid & bank.request.ready):
                owed.append(_came(ctx, bank.request, watch))
            await ctx.tick()

    return run


KINDS = {"reads": (ReadInterconnect, reading, {"reorder_words": 48}), "writes": (WriteInterconnect, writing, {})}
CASES = [
    (2, "one bank", 0.6),
    (2, "one of two banks", 1.0),
    (8, "one bank", 1.0),
    (8, "one of two banks", 0.6),
    (32, "one bank", 0.8),
]


def watched(kind, count, banks, rate):
    part, drive, options = KINDS[kind]
    watch, dut = (
        Watch(count),
        part(count=count, address_map=MAPS[banks], outstanding=OUTSTANDING, **options, **GEOMETRY),
    )
    simulate(dut, drive(dut, watch, rate, random.Random(count)))
    return watch


@pytest.mark.parametrize("count, banks, rate", CASES)
def test_readers_wait_for_each_other_once(count, banks, rate):
    watch = watched("reads", count, banks, rate)
    assert watch.most_passed == 1, "somebody was served twice while another waited"
    assert watch.longest == count - 1
    assert max(watch.bursts) - min(watch.bursts) <= 1, f"bursts of each: {watch.bursts}"


@pytest.mark.parametrize("count, banks, rate", CASES)
def test_writers_wait_for_few_words(count, banks, rate):
    """Who stores single words may be taken for some before the first has moved."""
    watch = watched("writes", count, banks, rate)
    assert watch.most_words <= max(AHEAD + 1, GEOMETRY["max_burst"])
    long = [bursts for unit, bursts in enumerate(watch.bursts) if words_of(unit) > 1]
    assert max(long) - min(long) <= 1 and max(watch.bursts) <= (AHEAD + 1) * (min(long) + 1), (
        f"bursts of each: {watch.bursts}"
    )


@pytest.mark.parametrize("words, most", [(1, AHEAD + 1), (2, AHEAD // 2 + 1), (4, 1)])
def test_few_bursts_of_a_unit_are_taken_before_their_words_move(words, most):
    """Also if each goes to another bank, whose requests could wait there: as many as the unit's queue of banks holds."""
    dut, taken = WriteInterconnect(count=1, address_map=AddressMap.interleaved(8, 64), **GEOMETRY), []

    async def run(ctx):
        (port,) = dut.units
        ctx.set(port.request.valid, 1)
        for cycle in range(60):
            ctx.set(port.request.payload, {"addr": 64 * (len(taken) % 8), "words": words})
            ctx.set(port.data.valid, cycle >= 30)
            for bank in dut.banks:
                ctx.set(bank.request.ready, 1)
                ctx.set(bank.data.ready, 1)
            if ctx.get(port.request.ready):
                taken.append(cycle)
            await ctx.tick()

    simulate(dut, run)
    assert sum(cycle < 30 for cycle in taken) == most < len(taken)
