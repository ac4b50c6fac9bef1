"""Drivers and monitors for parts with streams: random gaps on both sides, and a check of the stream protocol."""

from amaranth import ClockDomain, Module
from amaranth.sim import Simulator

__all__ = ["collect", "drive", "simulate", "watch_offers"]

LIMIT = 20_000  #: cycles after which a testbench that has not ended is stuck


def simulate(dut, *testbenches, background=()):
    """Runs until every testbench has returned; a test that hangs fails after ``LIMIT`` cycles."""
    ended = []

    def noting(bench):
        async def run(ctx):
            await bench(ctx)
            ended.append(bench)

        return run

    top = Module()
    top.domains.sync = ClockDomain()  # some parts have no register of their own
    top.submodules.dut = dut
    sim = Simulator(top)
    sim.add_clock(1e-6)
    for bench in testbenches:
        sim.add_testbench(noting(bench))
    for bench in background:
        sim.add_testbench(bench, background=True)
    for _ in range(2 * LIMIT):  # an edge of the clock each
        if len(ended) == len(testbenches):
            return
        sim.advance()
    raise AssertionError(f"stuck: {[bench.__name__ for bench in testbenches if bench not in ended]}")


def drive(stream, items, rng, idle=0.0):
    """A testbench that sends ``items``, with gaps of probability ``idle`` before each."""

    async def driver(ctx):
        for item in items:
            while rng.random() < idle:
                await ctx.tick()
            ctx.set(stream.payload, item)
            ctx.set(stream.valid, 1)
            await ctx.tick().until(stream.ready)
            ctx.set(stream.valid, 0)

    return driver


def collect(stream, into, count, rng, stall=0.0):
    """A testbench that takes ``count`` items, appended to ``into``, refusing with probability ``stall``."""

    async def collector(ctx):
        while len(into) < count:
            ctx.set(stream.ready, rng.random() >= stall)
            _, _, valid, ready, item = await ctx.tick().sample(stream.valid, stream.ready, stream.payload)
            if valid and ready:
                into.append(item)
        ctx.set(stream.ready, 0)

    return collector


def watch_offers(stream, meaning=lambda item: item):
    """A background testbench: an offer that is not accepted must stand, unchanged, in the next cycle.

    ``meaning`` picks what must not change, where a payload has parts that mean nothing at times.
    """

    async def watcher(ctx):
        offered = None
        while True:
            _, _, valid, ready, item = await ctx.tick().sample(stream.valid, stream.ready, stream.payload)
            seen = (meaning(item),) if valid else None
            assert offered in (None, seen), f"offer {offered} became {seen}"
            offered = seen if not ready else None

    return watcher
