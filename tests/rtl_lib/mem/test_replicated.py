"""ReplicatedRam with its load ports, plain and forwarding, against a list of words."""

import random

import pytest
from amaranth import *
from amaranth.lib import wiring
from amaranth.sim import Simulator

from rtl_lib.mem.ram_ports import ForwardingLoadPort, RamLoadPort, RamStorePort
from rtl_lib.mem.replicated import ReplicatedRam

WORDS = 16


class System(Elaboratable):
    """Two stores that take turns, a plain load and a forwarding one, on words of ``word`` bytes."""

    def __init__(self, access, word):
        options = {"access_bytes": access, "word_bytes": word, "addr_bits": 7}
        self.loads = [RamLoadPort(**options), ForwardingLoadPort(**options)]
        self.stores = [RamStorePort(**options), RamStorePort(**options)]
        self.ram = ReplicatedRam(
            word_bytes=word,
            words=WORDS * 4 // word,
            reads=2,
            writes=2,
            bytewise=access < word,
            addr_bits=7 - (word.bit_length() - 1),
            init=(5, 6),
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules += [*self.loads, *self.stores, self.ram]
        for port, side in (*zip(self.loads, self.ram.reads), *zip(self.stores, self.ram.writes)):
            wiring.connect(m, port.ram, side)
        written = self.loads[1].written
        m.d.comb += [getattr(written, name).eq(getattr(self.ram.written, name)) for name in ("addr", "data", "strobe")]
        return m


@pytest.mark.parametrize(("access", "word"), [(4, 4), (1, 4), (4, 8)])
def test_loads_see_what_their_rules_say(access, word):
    """One access of each kind a cycle, at few places: plain loads see stores of earlier cycles, forwarding ones those
    of their own cycle and the next as well."""
    rng = random.Random(access * word)
    dut = System(access, word)
    content = bytearray(WORDS * 4)
    content[: 2 * word] = b"".join(n.to_bytes(word, "little") for n in (5, 6))
    cycles = [
        (
            rng.randrange(2),
            rng.random() < 0.8,
            rng.randrange(6) * access,
            rng.randrange(1 << 8 * access),
            rng.randrange(6) * access,
        )
        for _ in range(400)
    ]
    history = []
    for _, on, place, value, _ in cycles:
        history.append(bytes(content))
        if on:
            content[place : place + access] = value.to_bytes(access, "little")
    history += [bytes(content)] * 4
    seen = []

    async def drive(ctx):
        for port in dut.loads:
            ctx.set(port.i.valid, 1)
            ctx.set(port.o.ready, 1)
        for which, on, place, value, address in cycles:
            ctx.set(dut.stores[1 - which].i.valid, 0)
            for k, port in enumerate(dut.stores):
                ctx.set(port.i.valid, int(on and k == which))
                ctx.set(port.i.payload.addr, place)
                ctx.set(port.i.payload.data, value)
            for port in dut.loads:
                ctx.set(port.i.payload, address)
            seen.append([ctx.get(port.o.payload) for port in dut.loads])
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    for k in range(len(cycles) - 2):
        place = cycles[k][4]
        assert seen[k + 1][0] == int.from_bytes(history[k][place : place + access], "little"), k
        assert seen[k + 2][1] == int.from_bytes(history[k + 2][place : place + access], "little"), k


def test_a_held_load_keeps_its_data():
    dut, seen = System(4, 4), []

    async def drive(ctx):
        port = dut.loads[1]
        ctx.set(port.i.valid, 1)
        await ctx.tick()
        ctx.set(port.i.payload, 4)
        await ctx.tick()
        ctx.set(port.i.valid, 0)
        for _ in range(3):
            seen.append((ctx.get(port.o.valid), ctx.get(port.o.payload)))
            await ctx.tick()
        ctx.set(port.o.ready, 1)
        for _ in range(3):
            seen.append((ctx.get(port.o.valid), ctx.get(port.o.payload)))
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    assert seen[:5] == [(1, 5)] * 4 + [(1, 6)]
    assert seen[5][0] == 0


def test_more_words_than_addresses_are_refused():
    with pytest.raises(ValueError, match="cannot be addressed"):
        ReplicatedRam(word_bytes=4, words=17, reads=1, writes=1, addr_bits=4, bytewise=False)
