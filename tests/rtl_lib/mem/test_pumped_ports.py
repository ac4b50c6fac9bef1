"""Loads from a double-pumped RAM, plain and forwarding, against a list of words."""

import random

import pytest
from amaranth import *
from amaranth.lib import wiring
from amaranth.sim import Simulator

from rtl_lib.library import DOUBLE
from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.banked import BankedRam, PumpedBlock
from rtl_lib.mem.pumped_ports import PumpedLoadPort
from rtl_lib.mem.ram_ports import RamStorePort

WORDS, CYCLES = 16, 400


class System(Elaboratable):
    """Stores of one turn or of two, a plain load and a forwarding one, on words of ``word`` bytes."""

    def __init__(self, access, word, stores):
        options = {"access_bytes": access, "word_bytes": word, "addr_bits": 7}
        self.loads = [PumpedLoadPort(**options), PumpedLoadPort(**options, forwarding=True, writes=stores)]
        self.stores = [RamStorePort(**options) for _ in range(stores)]
        self.ram = BankedRam(
            map=BankMap(),
            word_bytes=word,
            words=WORDS * 4 // word,
            reads=((0, 1), (1, 1)),
            writes=(1,) * stores,
            bytewise=access < word,
            turns=tuple(range(stores)),
            addr_bits=7 - (word.bit_length() - 1),
            pumped=(PumpedBlock(0, (0, 1), False),),
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules += [*self.loads, *self.stores, self.ram]
        for port, side in (*zip(self.loads, self.ram.reads), *zip(self.stores, self.ram.writes)):
            wiring.connect(m, port.ram, side)
        for seen, written in zip(self.loads[1].written, self.ram.written[0], strict=True):
            m.d.comb += [getattr(seen, name).eq(getattr(written, name)) for name in ("addr", "data", "strobe")]
        return m


@pytest.mark.parametrize("stores", [1, 2])
@pytest.mark.parametrize(("access", "word"), [(4, 4), (1, 4), (4, 8)])
def test_loads_see_what_their_rules_say(access, word, stores):
    """Stores and a load of each kind in every cycle, at few places: plain loads see stores of earlier cycles than their
    own, forwarding ones all up to the cycle before their data. Of two stores the second counts."""
    rng, dut, content = random.Random(access * word), System(access, word, stores), bytearray(WORDS * 4)
    places = 6 // stores
    cycles = [
        (
            [
                (k > 2 and rng.random() < 0.8, rng.randrange(places) * access, rng.randrange(1 << 8 * access))
                for _ in range(stores)
            ],
            rng.randrange(places) * access,
        )
        for k in range(CYCLES)
    ]
    history, seen = [], []
    for writes, _ in cycles:
        history.append(bytes(content))
        for on, place, value in writes:
            if on:
                content[place : place + access] = value.to_bytes(access, "little")

    async def drive(ctx):
        for port in dut.loads:
            ctx.set(port.i.valid, 1)
        for writes, address in cycles:
            for store, (on, place, value) in zip(dut.stores, writes, strict=True):
                ctx.set(store.i.valid, int(on))
                ctx.set(store.i.payload.addr, place)
                ctx.set(store.i.payload.data, value)
            for port in dut.loads:
                ctx.set(port.i.payload, address)
            seen.append([ctx.get(port.o.payload) for port in dut.loads])
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6, phase=1e-6)
    simulator.add_clock(0.5e-6, phase=1e-6, domain=DOUBLE)
    simulator.add_testbench(drive)
    simulator.run()
    plain, forwarding = (port.timing.latency for port in dut.loads)
    for k in range(4, CYCLES - forwarding):
        place = cycles[k][1]
        assert seen[k + plain][0] == int.from_bytes(history[k][place : place + access], "little"), k
        assert seen[k + forwarding][1] == int.from_bytes(history[k + forwarding][place : place + access], "little"), k
