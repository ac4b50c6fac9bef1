"""Drives a pipelined part in Amaranth's simulator and compares every result with the part's golden function."""

import random

from amaranth.sim import Simulator


def outputs_of(part, params, operands):
    """The golden results as a tuple, also where there is only one."""
    result = part.golden(params, *operands)
    return result if isinstance(result, tuple) else (result,)


def check(part, params, latency, vectors, *, gaps=0.0, seed=0):
    """Feeds ``vectors`` (tuples of operand bits), one an enabled cycle, and compares each result when it is due.

    In cycles without ``en``, a share ``gaps`` of all, the operands are garbage and must leave no trace.
    """
    dut = part(params, latency)
    rng, seen = random.Random(seed), []
    operands = {name: getattr(dut, name) for name in part.inputs(params)}
    results = [getattr(dut, name) for name in part.outputs(params)]

    async def drive(ctx):
        for index in range(len(vectors) + latency):
            while rng.random() < gaps:
                ctx.set(dut.en, 0)
                for port in operands.values():
                    ctx.set(port, rng.getrandbits(len(port)))
                await ctx.tick()
            ctx.set(dut.en, 1)
            vector = vectors[min(index, len(vectors) - 1)]
            for port, bits in zip(operands.values(), vector, strict=True):
                ctx.set(port, bits)
            if index >= latency:
                seen.append(tuple(ctx.get(port) for port in results))
            if latency:
                await ctx.tick()
            else:
                await ctx.delay(1e-9)

    sim = Simulator(dut)
    if latency:
        sim.add_clock(1e-6)
    else:
        gaps = 0.0
    sim.add_testbench(drive)
    sim.run()
    assert len(seen) == len(vectors)
    for vector, got in zip(vectors, seen, strict=True):
        want = outputs_of(part, params, vector)
        assert got == want, (
            f"{part.kind} {params} latency {latency}: operands {[hex(bits) for bits in vector]} "
            f"gave {[hex(bits) for bits in got]}, not {[hex(bits) for bits in want]}"
        )
