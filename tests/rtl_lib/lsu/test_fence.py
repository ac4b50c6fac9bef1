"""Fences: FenceSequencer and FenceShare before store units that acknowledge late, with gaps everywhere."""

import random

import pytest
from amaranth import Module
from amaranth.lib import wiring

from rtl_lib.lsu.fence import FenceSequencer, FenceShare
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import Fence
from tests.rtl_lib.bench import collect, drive, simulate, watch_offers


class Stores:
    """Queues with store units behind: a unit takes a store now and then, and acknowledges it much later; a fence is
    answered when all stores taken before it are acknowledged."""

    def __init__(self, queues, fences, rng, rate):
        self.queues, self.fences, self.rng, self.rate = queues, fences, rng, rate
        self.pushed = [0] * len(queues)
        self.done = [0] * len(queues)

    def push(self, k):
        """Background: pushes stores now and then for ever."""

        async def pusher(ctx):
            while True:
                ctx.set(self.queues[k].i.valid, self.rng.random() < self.rate)
                _, _, valid, ready = await ctx.tick().sample(self.queues[k].i.valid, self.queues[k].i.ready)
                self.pushed[k] += valid and ready

        return pusher

    def unit(self, k):
        async def run(ctx):
            fifo, fence = self.queues[k], self.fences[k]
            taken, waiting = 0, []  # fences that wait for this many acknowledgements
            while True:
                ctx.set(fifo.o.ready, self.rng.random() < 0.4)
                ctx.set(fence.request.ready, self.rng.random() < 0.5)
                answer = bool(waiting) and self.done[k] >= waiting[0] and self.rng.random() < 0.5
                ctx.set(fence.response.valid, answer)
                _, _, took, on, asked, free, heard = await ctx.tick().sample(
                    fifo.o.valid, fifo.o.ready, fence.request.valid, fence.request.ready, fence.response.ready
                )
                if asked and free:
                    waiting.append(taken)
                if answer and heard:
                    waiting.pop(0)
                taken += took and on
                if self.done[k] < taken and self.rng.random() < 0.6:
                    self.done[k] += 1

        return run


def top_of(depths, sequencers):
    """Queues, one sequencer for each set of stores in ``sequencers``, and shares between them and the units."""
    m = Module()
    queues, units = (
        [StreamFifo(8, depth, counted=True) for depth in depths],
        [Fence().create(path=(f"unit{k}",)) for k in range(len(depths))],
    )
    parts = [FenceSequencer(tuple(depths[k] for k in covered), pending=3) for covered in sequencers]
    m.submodules += [*queues, *parts]
    for k, queue in enumerate(queues):
        views = [p.stores[covered.index(k)] for p, covered in zip(parts, sequencers) if k in covered]
        m.submodules[f"share{k}"] = share = FenceShare(len(views), pending=2)
        for view, asker in zip(views, share.askers, strict=True):
            m.d.comb += [view.queued.eq(queue.level), view.taken.eq(queue.o.valid & queue.o.ready)]
            wiring.connect(m, view.fence, asker)
        wiring.connect(m, share.unit, wiring.flipped(units[k]))
    return m, queues, units, parts


@pytest.mark.parametrize("depths, sequencers", [([4], [[0]]), ([1, 8], [[0, 1]]), ([4, 40, 2], [[0, 1], [1, 2], [1]])])
@pytest.mark.parametrize("seed, rate", [(1, 0.9), (2, 0.3), (3, 0.02)])
def test_answers_come_behind_the_stores(depths, sequencers, seed, rate):
    """Rules 1 and 2: at an answer, every store pushed when its request was made is acknowledged."""
    rng, count = random.Random(seed), 25
    m, queues, units, parts = top_of(depths, sequencers)
    stores = Stores(queues, units, rng, rate)

    def ask(part, covered):
        made, answers = [], []

        async def client(ctx):
            while len(answers) < count:
                want = len(made) < count and rng.random() < 0.5
                # a request is seen by the part one cycle after it is made, as through a queue
                before = list(stores.pushed)
                ctx.set(part.i.valid, want)
                ctx.set(part.o.ready, rng.random() < 0.7)
                _, _, asked, valid, taken, flush = await ctx.tick().sample(
                    part.i.ready, part.o.valid, part.o.ready, part.flush
                )
                assert flush == (valid and taken)
                if want and asked:
                    made.append(before)
                if valid and taken:
                    wanted = made[len(answers)]
                    assert all(stores.done[k] >= wanted[k] for k in covered)
                    answers.append(1)

        return client

    clients = [ask(part, covered) for part, covered in zip(parts, sequencers)]
    background = [b for k in range(len(depths)) for b in (stores.push(k), stores.unit(k))]
    simulate(m, *clients, background=background)


def test_many_may_wait_for_their_answer():
    """Rules 2 and 3: three requests are accepted before any answer, the fourth is not."""
    dut = FenceSequencer((2,), pending=3)
    accepted, asked = [], []

    async def client(ctx):
        ctx.set(dut.i.valid, 1)
        for _ in range(40):
            _, _, ready = await ctx.tick().sample(dut.i.ready)
            accepted.append(ready)

    simulate(dut, client, drive_nothing(dut), background=[count_requests(dut, asked)])
    assert sum(accepted) == 3 and len(asked) == 3


def drive_nothing(dut):
    async def quiet(ctx):
        ctx.set(dut.store0.queued, 0)
        ctx.set(dut.store0.fence.request.ready, 1)
        await ctx.tick()

    return quiet


def count_requests(dut, asked):
    async def counter(ctx):
        while True:
            _, _, valid, ready = await ctx.tick().sample(dut.store0.fence.request.valid, dut.store0.fence.request.ready)
            if valid and ready:
                asked.append(1)

    return counter


def test_a_share_gives_each_asker_its_own_answers():
    rng, counts = random.Random(7), (12, 5, 20)
    dut = FenceShare(3, pending=4)
    answers = [[] for _ in counts]
    waiting = []

    async def unit(ctx):
        while True:
            ctx.set(dut.unit.request.ready, rng.random() < 0.6)
            ctx.set(dut.unit.response.valid, bool(waiting))
            _, _, asked, free, heard = await ctx.tick().sample(
                dut.unit.request.valid, dut.unit.request.ready, dut.unit.response.ready
            )
            if waiting and heard:
                waiting.pop(0)
            if asked and free:
                waiting.append(1)

    benches = [drive(asker.request, [0] * n, rng, 0.3) for asker, n in zip(dut.askers, counts)]
    benches += [collect(asker.response, into, n, rng, 0.3) for asker, n, into in zip(dut.askers, counts, answers)]
    simulate(dut, *benches, background=[unit, watch_offers(dut.unit.request)])
    assert tuple(map(len, answers)) == counts


@pytest.mark.parametrize("bad", [{"queue_depths": ()}, {"queue_depths": (2,), "pending": 0}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ValueError):
        FenceSequencer(**bad)
