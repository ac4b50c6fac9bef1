"""Test partners for streams and memory ports: random gaps on every side, and a plain memory that checks the rules."""

import random
from collections import deque

from amaranth.sim import Simulator


def simulate(dut, *testbenches, background=(), deadline=20_000):
    """Run until all of ``testbenches`` have ended; fail when they have not after ``deadline`` cycles."""
    sim = Simulator(dut)
    sim.add_clock(1e-6)
    for testbench in testbenches:
        sim.add_testbench(testbench)
    for testbench in background:
        sim.add_testbench(testbench, background=True)
    for _ in range(2 * deadline):  # edges: a testbench that counted cycles would be woken in each
        if not sim.advance():
            return
    raise AssertionError(f"stuck: no end after {deadline} cycles")


def send(stream, payloads, rate=1.0, seed=0, before=None):
    """Testbench that offers ``payloads`` in order; ``before(ctx, n)`` is awaited before payload n."""
    rng = random.Random(seed)

    async def testbench(ctx):
        for n, payload in enumerate(payloads):
            if before is not None:
                await before(ctx, n)
            while rng.random() >= rate:
                await ctx.tick()
            ctx.set(stream.payload, payload)
            ctx.set(stream.valid, 1)
            await ctx.tick().until(stream.ready)
            ctx.set(stream.valid, 0)

    return testbench


def receive(stream, count, into, rate=1.0, seed=1, extra=None):
    """Testbench that takes ``count`` payloads into a list, each with the signal ``extra`` where one is given."""
    rng = random.Random(seed)

    async def testbench(ctx):
        while len(into) < count:
            ctx.set(stream.ready, rng.random() < rate)
            _, _, valid, ready, payload, more = await ctx.tick().sample(
                stream.valid, stream.ready, stream.payload, stream.valid if extra is None else extra
            )
            if valid and ready:
                into.append(payload if extra is None else (payload, more))
        ctx.set(stream.ready, 0)

    return testbench


class Memory:
    """A byte memory behind read and write ports, which records bursts and checks them.

    latency : cycles from a request to its first response; rate : probability of each transfer in a cycle
    """

    def __init__(self, size, *, latency=5, rate=1.0, burst_align=1024, bad=range(0), seed=2):
        self.rng = random.Random(seed)
        self.bytes = bytearray(self.rng.randbytes(size))
        self.latency, self.rate, self.burst_align, self.bad = latency, rate, burst_align, bad
        self.reads, self.writes = [], []  # (address, words) of every burst

    def happens(self):
        return self.rng.random() < self.rate

    def check(self, port, addr, words):
        size = port.signature.word_bytes
        assert 1 <= words <= port.signature.max_burst
        assert addr % size == 0
        assert addr // self.burst_align == (addr + words * size - 1) // self.burst_align, "a burst crosses a border"

    def serve_reads(self, port):
        size = port.signature.word_bytes
        request, response = port.request, port.response
        asked, address, count = request.valid & request.ready, request.payload.addr, request.payload.words

        async def testbench(ctx):
            due, now = deque(), 0
            while True:
                ctx.set(request.ready, self.happens())
                answer = bool(due) and due[0][0] <= now and self.happens()
                ctx.set(response.valid, answer)
                if answer:
                    _, addr, last = due.popleft()
                    ctx.set(
                        response.payload,
                        {
                            "data": int.from_bytes(self.bytes[addr : addr + size], "little"),
                            "error": addr in self.bad,
                            "last": last,
                        },
                    )
                assert not answer or ctx.get(response.ready), "a response was refused"
                if ctx.get(asked):
                    addr, words = ctx.get(address), ctx.get(count)
                    self.check(port, addr, words)
                    self.reads.append((addr, words))
                    due.extend((now + self.latency, addr + n * size, n == words - 1) for n in range(words))
                await ctx.tick()
                now += 1

        return testbench

    def serve_writes(self, port):
        size = port.signature.word_bytes
        request, written, ack = port.request, port.data, port.ack
        asked, address, count = request.valid & request.ready, request.payload.addr, request.payload.words
        taken, data, strobe = written.valid & written.ready, written.payload.data, written.payload.strobe

        async def testbench(ctx):
            due, burst, now = deque(), [], 0
            while True:
                ctx.set(request.ready, not burst and self.happens())
                ctx.set(written.ready, bool(burst) and self.happens())
                acknowledged = bool(due) and due[0][0] <= now
                ctx.set(ack.valid, acknowledged)
                if acknowledged:
                    _, error = due.popleft()
                    ctx.set(ack.payload, {"error": error})
                assert not acknowledged or ctx.get(ack.ready), "an acknowledgement was refused"
                assert not burst or ctx.get(written.valid), "a burst waits half way"
                if ctx.get(asked):
                    addr, words = ctx.get(address), ctx.get(count)
                    self.check(port, addr, words)
                    self.writes.append((addr, words))
                    burst = [addr + n * size for n in range(words)]
                elif ctx.get(taken):
                    addr = burst.pop(0)
                    self.write_strobed(addr, ctx.get(data), ctx.get(strobe))
                    if not burst:
                        due.append((now + self.latency, addr in self.bad))
                await ctx.tick()
                now += 1

        return testbench

    def write_strobed(self, addr, value, strobe):
        for n in range(strobe.bit_length()):
            if strobe >> n & 1:
                self.bytes[addr + n] = value >> 8 * n & 0xFF
