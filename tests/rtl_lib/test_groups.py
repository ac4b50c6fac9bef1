"""GroupMeeting and RingHeader under gaps and stalls, against the order that work-groups must observe."""

import random

import pytest
from amaranth import *
from amaranth.lib import data

from rtl_lib.barrier import GroupMeeting
from rtl_lib.barrier_loop import RingHeader
from rtl_lib.exit_buffer import GroupExits

from .bench import collect, drive, simulate

SIZES = [3, 1, 5, 5, 1, 2, 4, 5, 1, 1, 3]


def items(sizes):
    return [{"last": k == size - 1} for size in sizes for k in range(size)]


@pytest.mark.parametrize("idle, stall", [(0.0, 0.0), (0.5, 0.2), (0.1, 0.7)])
def test_meeting(idle, stall):
    """Rule 1: as many answers as work-items, none before the last of its group has come; and none too late."""
    rng, dut, come, gone = random.Random(3), GroupMeeting(5, 40, False), [], []
    given, ends = items(SIZES), [sum(SIZES[: k + 1]) for k in range(len(SIZES))]

    async def watch(ctx):
        while len(gone) < len(given):
            _, _, arrived, left, valid = await ctx.tick().sample(
                dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready, dut.o.valid
            )
            complete = max((end for end in ends if end <= len(come)), default=0)
            assert valid == (complete > len(gone))
            gone.extend([0] * left)
            come.extend([0] * arrived)

    simulate(dut, drive(dut.i, given, rng, idle), watch, collect(dut.o, [], len(given), rng, stall))


@pytest.mark.parametrize("delay", [1, 30])
def test_meeting_with_fence(delay):
    """Rule 2: one question for each group, and nobody goes before its answer."""
    rng, dut, asked, answers = random.Random(4), GroupMeeting(5, 40, True), [], []
    given = items(SIZES)

    async def fence(ctx):
        due, now = [], 0
        ctx.set(dut.fence.request.ready, 1)
        while True:
            answer = bool(due) and due[0] <= now
            ctx.set(dut.fence.response.valid, answer)
            _, _, request = await ctx.tick().sample(dut.fence.request.valid)
            if answer:
                answers.append(due.pop(0))
            now += 1
            if request:
                asked.append(now)
                due.append(now + delay)

    async def watch(ctx):
        count = 0
        while count < len(given):
            _, _, left, valid = await ctx.tick().sample(dut.o.valid & dut.o.ready, dut.o.valid)
            assert not valid or sum(SIZES[: len(answers)]) > count
            count += left

    simulate(dut, drive(dut.i, given, rng, 0.1), watch, collect(dut.o, [], len(given), rng, 0.3), background=[fence])
    assert len(asked) == len(SIZES)


class Loop(Elaboratable):
    """A ring whose tokens go round as often as their first value says, through a pipeline of some stages."""

    def __init__(self, groups, items_, depth):
        self.header, self.depth = (
            RingHeader(data.StructLayout({"left": 8}), data.StructLayout({"name": 8, "last": 1}), groups, items_),
            depth,
        )
        self.open, self.leaves = Signal(), Signal()
        self.done = Signal(data.StructLayout({"name": 8, "last": 1}))

    def elaborate(self, platform):
        m = Module()
        m.submodules.header = header = self.header
        token = header.o.payload
        m.d.comb += [header.o.ready.eq(self.open), header.last.eq(token.invariant.last)]
        valid, payload = header.issued, token
        for _ in range(self.depth):
            after, moved = Signal(), Signal.like(token)
            m.d.sync += [after.eq(valid), moved.eq(payload)]
            valid, payload = after, moved
        again = payload.initial.left > 1
        m.d.comb += [
            header.back.valid.eq(valid & again),
            header.back.value.initial.left.eq(payload.initial.left - 1),
            header.back.value.invariant.eq(payload.invariant),
            self.leaves.eq(valid & ~again),
            self.done.eq(payload.invariant),
            header.left.eq(self.leaves & payload.invariant.last),
        ]
        return m


@pytest.mark.parametrize(
    "groups, depth, idle, stall", [(1, 2, 0.0, 0.0), (2, 7, 0.0, 0.0), (2, 3, 0.4, 0.3), (4, 1, 0.2, 0.5)]
)
def test_ring(groups, depth, idle, stall):
    """Rules 1 to 4: every token goes round as often as it should, groups stay together and in order, at most ``groups``
    inside."""
    rng, dut, rounds = random.Random(groups), Loop(groups, 5, depth), 3
    names = [(g, k == size - 1) for g, size in enumerate(SIZES) for k in range(size)]
    given = [{"initial": {"left": rounds}, "invariant": {"name": g, "last": last}} for g, last in names]
    issued, left = [], []

    async def watch(ctx):
        while len(left) < len(given):
            ctx.set(dut.open, rng.random() >= stall)
            _, _, on, token, leaves, done = await ctx.tick().sample(
                dut.header.issued, dut.header.o.payload, dut.leaves, dut.done
            )
            if on:
                issued.append((token.invariant.name, token.invariant.last))
            if leaves:
                left.append((done.name, done.last))
            inside = {g for g, _ in issued} - {g for g, last in left if last}
            assert len(inside) <= groups

    simulate(dut, drive(dut.header.i, given, rng, idle), watch)
    assert left == names
    assert sorted(issued) == sorted(names * rounds)
    blocks = [g for k, (g, _) in enumerate(issued) if not k or issued[k - 1][1]]
    assert [g for g, size in zip(blocks, [SIZES[g] for g in blocks]) for _ in range(size)] == [g for g, _ in issued]


class Overtaking(Elaboratable):
    """A ring whose groups go round as often as they like, with the exit that puts them in order again."""

    def __init__(self, groups, items_, depth):
        shape = data.StructLayout({"name": 8, "last": 1})
        self.header, self.depth = (
            RingHeader(data.StructLayout({"left": 8}), shape, groups, items_, overtaking=True),
            depth,
        )
        self.exit, self.open = GroupExits(shape, groups, items_), Signal()

    def elaborate(self, platform):
        m = Module()
        m.submodules.header, m.submodules.exit = header, exit_ = self.header, self.exit
        m.d.comb += [header.o.ready.eq(self.open), header.last.eq(header.o.payload.invariant.last)]
        valid, payload = header.issued, header.o.payload
        for _ in range(self.depth):
            after, moved = Signal(), Signal.like(header.o.payload)
            m.d.sync += [after.eq(valid), moved.eq(payload)]
            valid, payload = after, moved
        again, back, write = payload.initial.left > 1, header.back, exit_.write
        m.d.comb += [
            back.valid.eq(valid & again),
            back.value.eq(payload),
            back.value.initial.left.eq(payload.initial.left - 1),
            write.valid.eq(valid & ~again),
            write.place.eq(payload.place),
            write.value.eq(payload.invariant),
            header.left.eq(exit_.retire & exit_.o.payload.last),
        ]
        return m


def uneven(sizes, rounds):
    return [
        {"initial": {"left": rounds[g]}, "invariant": {"name": g, "last": k == size - 1}}
        for g, size in enumerate(sizes)
        for k in range(size)
    ]


@pytest.mark.parametrize(
    "groups, depth, idle, stall", [(1, 2, 0.0, 0.0), (2, 7, 0.0, 0.0), (3, 3, 0.4, 0.3), (5, 1, 0.2, 0.5)]
)
def test_groups_overtake(groups, depth, idle, stall):
    """Rule 6: whatever groups do inside, they leave in the order in which they came, whole, and at most ``groups`` are
    inside."""
    rng, dut, left = random.Random(groups), Overtaking(groups, 5, depth), []
    given, issued, most = uneven(SIZES, [rng.randrange(1, 9) for _ in SIZES]), [], [0]

    async def watch(ctx):
        while len(left) < len(given):
            ctx.set(dut.open, rng.random() >= stall)
            _, _, on, token = await ctx.tick().sample(dut.header.issued, dut.header.o.payload)
            if on:
                issued.append(token.invariant.name)
            inside = {*issued} - {value.name for value in left if value.last}
            most[0] = max(most[0], len(inside))

    simulate(dut, drive(dut.header.i, given, rng, idle), watch, collect(dut.exit.o, left, len(given), rng, stall))
    assert [(value.name, value.last) for value in left] == [
        (g, k == size - 1) for g, size in enumerate(SIZES) for k in range(size)
    ]
    assert most[0] <= groups


def test_a_long_group_does_not_empty_the_ring():
    """While one group goes round for long, others fill the time: 20 rounds of 4 tokens through 12 stages, and six
    groups of 4 rounds."""
    dut, left, cycles = Overtaking(7, 4, 12), [], []
    given = uneven([4] * 7, [20, *[4] * 6])

    async def watch(ctx):
        ctx.set(dut.open, 1)
        while len(left) < len(given):
            _, _, on = await ctx.tick().sample(dut.header.issued)
            cycles.append(on)

    simulate(
        dut,
        drive(dut.header.i, given, random.Random(1)),
        watch,
        collect(dut.exit.o, left, len(given), random.Random(1)),
    )
    assert sum(cycles) == 4 * (20 + 6 * 4)
    assert len(cycles) < 20 * (12 + 1 + 4) + 30, "the long group alone takes 20 times the way round"


def test_ring_every_cycle():
    """As many groups as fill the way round: a token in every cycle."""
    dut, size = Loop(3, 4, 6), 4
    given = [
        {"initial": {"left": 5}, "invariant": {"name": g, "last": k == size - 1}} for g in range(9) for k in range(size)
    ]
    cycles = []

    async def watch(ctx):
        ctx.set(dut.open, 1)
        now = 0
        while len(cycles) < 5 * len(given):
            _, _, on = await ctx.tick().sample(dut.header.issued)
            cycles.extend([now] * on)
            now += 1

    simulate(dut, drive(dut.header.i, given, random.Random(1)), watch)
    assert cycles[-1] - cycles[0] + 1 <= 1.1 * len(cycles)
