"""GroupDispatcher against its golden function, with units that take their groups at random."""

import random

import pytest

from rtl_lib.dispatch import GroupDispatcher, golden

from .bench import simulate


class Units:
    """Takes groups from every unit's stream, holds each for a while, and keeps the books of the rules."""

    def __init__(self, dut, rng, stall: float, times):
        self.dut, self.rng, self.stall, self.times = dut, rng, stall, times
        self.got = [[] for _ in dut.units]

    async def launch(self, ctx, count: int, sizes, limit: int) -> int:
        """One launch; returns its cycles."""
        dut, units = self.dut, range(len(self.dut.units))
        for got in self.got:
            got.clear()
        for d, (offset, size, groups) in enumerate(sizes):
            ctx.set(dut.sizes[d], {"offset": offset, "size": size, "groups": groups})
        ctx.set(dut.count, count)
        assert ctx.get(dut.empty)
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        busy = [[] for _ in units]  # the cycles that each taken group still needs to enter
        for cycle in range(limit):
            ready = [self.rng.random() >= self.stall for _ in units]
            entered = [bool(busy[k]) and busy[k][0] <= 0 for k in units]
            for k in units:
                ctx.set(dut.units[k].ready, ready[k])
            ctx.set(dut.entered, sum(bit << k for k, bit in enumerate(entered)))
            if ctx.get(dut.empty) and not any(busy):
                return cycle
            for k in units:
                if entered[k]:
                    busy[k].pop(0)
                elif busy[k]:
                    busy[k][0] -= 1
                if ready[k] and ctx.get(dut.units[k].valid):
                    group = ctx.get(dut.units[k].payload)
                    assert group.turn == len(self.got[k])  # rule 4
                    self.got[k].append([(group.start[d], group.id[d]) for d in range(dut.dims)])
                    busy[k].append(self.times(k))
                    assert len(busy[k]) <= dut.ahead  # rule 2
            await ctx.tick()
        raise AssertionError("not all groups were given")

    def check(self, count, sizes):
        """Rule 1: every group once, each unit's in order."""
        order = golden(count, sizes)
        assert sorted(group for got in self.got for group in got) == sorted(order)
        if len(set(map(tuple, order))) == count:
            for got in self.got:
                assert got == sorted(got, key=order.index)


@pytest.mark.parametrize(
    "units, dims, ahead, stall", [(1, 1, 1, 0.0), (2, 3, 2, 0.3), (4, 2, 2, 0.5), (3, 0, 2, 0.2), (7, 3, 3, 0.1)]
)
def test_every_group_once(units, dims, ahead, stall):
    rng, dut = random.Random(units), GroupDispatcher(dims, units, ahead)
    them = Units(dut, rng, stall, lambda _: rng.randrange(6))

    async def runs(ctx):
        for _ in range(6):
            sizes = [(rng.randrange(100), rng.randrange(1, 9), rng.randrange(1, 5)) for _ in range(dims)]
            count = rng.randrange(1, 3)
            for _, _, groups in sizes:
                count *= groups
            await them.launch(ctx, count, sizes, 4000)
            them.check(count, sizes)

    simulate(dut, runs)


def test_who_is_free_gets_the_next():
    """A unit that takes five times as long gets a fifth of the others' groups, and nobody waits meanwhile."""
    dut = GroupDispatcher(1, 4)
    them = Units(dut, random.Random(1), 0.0, lambda k: 49 if k == 0 else 9)

    async def runs(ctx):
        cycles = await them.launch(ctx, 160, [(0, 1, 160)], 4000)
        assert [len(got) for got in them.got] == pytest.approx([10, 50, 50, 50], abs=2)
        assert cycles < 160 / 3.2 * 10 + 60

    simulate(dut, runs)


def test_one_group_a_cycle():
    """Rule 6, with units that take theirs at once."""
    dut = GroupDispatcher(2, 4)
    them = Units(dut, random.Random(1), 0.0, lambda _: 0)

    async def runs(ctx):
        assert await them.launch(ctx, 200, [(5, 3, 20), (0, 1, 10)], 4000) < 200 + 10

    simulate(dut, runs)


def test_what_cannot_be():
    for arguments in ((4, 1), (1, 0), (1, 1, 0)):
        with pytest.raises(ValueError):
            GroupDispatcher(*arguments)
