"""Channel buffers against a queue; the ends of channels against a list of calls served one after the other."""

import random
from collections import deque

import pytest

from rtl_lib.channel import ChannelBuffer, ChannelReader, ChannelWriter, storage_for
from rtl_lib.mem.fifo import SHALLOW

from .bench import simulate

DEPTHS = [0, 1, 2, 3, 16, SHALLOW + 8]
PRESSURE = [(1.0, 1.0), (0.9, 0.3), (0.3, 0.9), (0.5, 0.5)]


@pytest.mark.parametrize(
    "depth, kind, built",
    [
        (0, "wires", 0),
        (1, "registers", 2),
        (2, "registers", 2),
        (3, "LUT RAM", 3),
        (SHALLOW, "LUT RAM", SHALLOW),
        (SHALLOW + 1, "block RAM", SHALLOW + 1),
    ],
)
def test_storage(depth, kind, built):
    storage = storage_for(depth)
    assert (storage.kind, storage.depth) == (kind, built)


@pytest.mark.parametrize("depth", [-1, 1.5])
def test_no_such_depth(depth):
    with pytest.raises(ValueError, match="depth must be"):
        storage_for(depth)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("push, pop", PRESSURE)
def test_buffer_is_a_queue(depth, push, pop):
    """All rules: order, that no value is refused before the depth is reached, and the level."""
    rng, dut, inside = random.Random(depth), ChannelBuffer(16, depth), deque()
    moved = []

    async def bench(ctx):
        for _ in range(300):
            ctx.set(dut.i.valid, rng.random() < push)
            ctx.set(dut.i.payload, rng.randrange(1 << 16))
            ctx.set(dut.o.ready, rng.random() < pop)
            assert ctx.get(dut.level) == len(inside)
            if len(inside) < dut.storage.depth:
                assert ctx.get(dut.i.ready)
            put, take = ctx.get(dut.i.valid & dut.i.ready), ctx.get(dut.o.valid & dut.o.ready)
            if put:
                inside.append(ctx.get(dut.i.payload))
            if take:
                assert ctx.get(dut.o.payload) == inside.popleft()
                moved.append(1)
            await ctx.tick()

    simulate(dut, bench)
    if push == pop == 1.0:
        assert len(moved) >= 297  # a value every cycle


class Source:
    """The far side of a reading end: offers ``values``, with gaps."""

    def __init__(self, stream, values, rng, rate):
        self.stream, self.values, self.rng, self.rate = stream, deque(values), rng, rate

    async def run(self, ctx):
        while True:
            if not ctx.get(self.stream.valid) and self.values and self.rng.random() < self.rate:
                ctx.set(self.stream.payload, self.values[0])
                ctx.set(self.stream.valid, 1)
            if ctx.get(self.stream.valid & self.stream.ready):
                self.values.popleft()
                await ctx.tick()
                ctx.set(self.stream.valid, 0)
            else:
                await ctx.tick()


def requests(rng, calls, count, fields):
    """For each call ``count`` requests: whether it is on, and what else ``fields`` adds."""
    return [[fields(rng.random() < 0.8) for _ in range(count)] for _ in range(calls)]


def drive(stream, items, rng):
    async def bench(ctx):
        for item in items:
            while rng.random() < 0.3:
                await ctx.tick()
            ctx.set(stream.payload, item)
            ctx.set(stream.valid, 1)
            await ctx.tick().until(stream.ready)
            ctx.set(stream.valid, 0)

    return bench


def collect(stream, into, count, rng):
    async def bench(ctx):
        while len(into) < count:
            ctx.set(stream.ready, rng.random() < 0.6)
            _, _, valid, payload, ready = await ctx.tick().sample(stream.valid, stream.payload, stream.ready)
            if valid and ready:
                into.append(payload)

    return bench


@pytest.mark.parametrize("blocking", [(True,), (False,), (True, True, True), (True, False)])
@pytest.mark.parametrize("rate", [1.0, 0.2])
def test_reader(blocking, rate):
    """The values that calls got, put one after the other in their turns, are those of the channel: none lost, none
    twice."""
    rng, count = random.Random(len(blocking)), 60
    dut, values = ChannelReader(8, blocking), [random.Random(9).randrange(1, 256) for _ in range(1000)]
    asked = requests(rng, len(blocking), count, int)
    got = [[] for _ in blocking]
    source = Source(dut.channel, values, rng, rate)
    simulate(
        dut,
        *(drive(dut.i[k], asked[k], rng) for k in range(len(blocking))),
        *(collect(dut.o[k], got[k], count, rng) for k in range(len(blocking))),
        background=[source.run],
    )
    taken = []
    for n in range(count):
        for k, blocks in enumerate(blocking):
            answer = got[k][n]
            if not asked[k][n]:
                assert (answer.there, answer.value) == (0, 0)
            elif blocks:
                assert answer.there
            if answer.there:
                taken.append(answer.value)
            else:
                assert answer.value == 0
    assert taken == values[: len(taken)]
    assert len(values) - len(source.values) == len(taken)


@pytest.mark.parametrize(
    "blocking, answers",
    [
        ((True,), (False,)),
        ((False,), (True,)),
        ((True, True), (True, False)),
        ((True, False, True), (False, True, True)),
    ],
)
@pytest.mark.parametrize("rate", [1.0, 0.2])
def test_writer(blocking, answers, rate):
    """What the channel took is what calls were told it took, in their turns."""
    rng, count, taken = random.Random(len(blocking)), 60, []
    dut = ChannelWriter(8, blocking, answers)
    asked = requests(rng, len(blocking), count, lambda on: {"on": int(on), "value": rng.randrange(256)})
    got = [[] for _ in blocking]

    async def sink(ctx):
        while True:
            ctx.set(dut.channel.ready, rng.random() < rate)
            _, _, valid, ready, payload = await ctx.tick().sample(
                dut.channel.valid, dut.channel.ready, dut.channel.payload
            )
            if valid and ready:
                taken.append(payload)

    simulate(
        dut,
        *(drive(dut.i[k], asked[k], rng) for k in range(len(blocking))),
        *(collect(dut.o[k], got[k], count, rng) for k in range(len(blocking)) if answers[k]),
        background=[sink],
    )
    expected = []
    for n in range(count):
        for k, blocks in enumerate(blocking):
            one, on = asked[k][n], asked[k][n]["on"]
            accepted = got[k][n] if answers[k] else on  # what does not answer blocks
            assert accepted == on if blocks else accepted <= on
            expected += [one["value"]] * accepted
    assert taken == expected


def test_a_call_every_cycle():
    """Rule of the rate: requests that find a value, or room, are served one a cycle."""
    for dut in (ChannelReader(8, (True,)), ChannelWriter(8, (True,), (True,))):
        served = []

        async def bench(ctx, dut=dut, served=served):
            ctx.set(dut.i[0].valid, 1)
            ctx.set(dut.i[0].payload, 1 if isinstance(dut, ChannelReader) else {"on": 1, "value": 5})
            ctx.set(dut.channel.valid if isinstance(dut, ChannelReader) else dut.channel.ready, 1)
            ctx.set(dut.o[0].ready, 1)
            for _ in range(20):
                _, _, answered = await ctx.tick().sample(dut.o[0].valid)
                served.append(answered)

        simulate(dut, bench)
        assert served == [0] * dut.timing.latency + [1] * (20 - dut.timing.latency)
