"""PumpedRam against a list of words: random traffic at few addresses, in Python; against the single-clock Ram on the
simulated board; with two write ports, there against a list of registers."""

import random
import re

import pytest
from amaranth import *
from amaranth.hdl._ir import PortDirection
from amaranth.sim import Simulator

from hls.target.board import load_board
from rtl_lib.library import DOUBLE, convert
from rtl_lib.mem.pumped import MOST_WRITES, PumpedRam, most_reads
from rtl_lib.mem.ram import Ram
from sim.build import build
from sim.session import Session
from sim.shared import SharedMemory

CYCLE = 1e-6


def run(dut, testbench):
    """Both clocks rise together, the double one in the middle between as well."""
    sim = Simulator(dut)
    sim.add_clock(CYCLE, phase=CYCLE)
    sim.add_clock(CYCLE / 2, phase=CYCLE, domain=DOUBLE)
    sim.add_testbench(testbench)
    sim.run()


def _shapes():
    for dual in (False, True):
        for writes in range(MOST_WRITES - dual + 1):
            for reads in range(1, most_reads(dual, writes) + 1):
                yield pytest.param(
                    dual, writes, reads, id=f"{'dual' if dual else 'simple'}, {reads} reads, {writes} writes"
                )


SHAPES = list(_shapes())


@pytest.mark.parametrize("granularity", [None, 4])
@pytest.mark.parametrize("dual, writes, reads", SHAPES)
def test_traffic(dual, writes, reads, granularity):
    """Every port reads in every cycle, half of the time where something is written; what the block leaves open is wrong
    in the model. Of two writes at one place the second counts."""
    rng = random.Random(f"{dual}{reads}{granularity}")
    init = [rng.getrandbits(8) for _ in range(3)]
    dut = PumpedRam(width=8, depth=5, reads=reads, dual=dual, granularity=granularity, writes=writes, init=init)
    bits = granularity or 8
    content, seen, expected = init + [0] * 2, [], []

    async def drive(ctx):
        for cycle in range(300):
            place = rng.randrange(5)
            made = [
                (place if rng.random() < 0.5 else rng.randrange(5), rng.getrandbits(8), rng.randrange(1 << 8 // bits))
                for _ in dut.writes
            ]
            if cycle <= 2:  # the halves are known from the second cycle on
                made = []
            for port, (where, value, strobe) in zip(dut.writes, made):
                for signal, number in ((port.addr, where), (port.data, value), (port.en, strobe)):
                    ctx.set(signal, number)
            asked = [place if rng.random() < 0.5 else rng.randrange(5) for _ in range(reads)]
            for port, address in zip(dut.reads, asked, strict=True):
                ctx.set(port.addr, address)
            expected.append([content[address] for address in asked])
            for where, value, strobe in made:
                mask = sum((1 << bits) - 1 << bits * n for n in range(8) if strobe >> n & 1)
                content[where] = content[where] & ~mask | value & mask
            await ctx.tick()
            seen.append([ctx.get(port.data) for port in dut.reads])

    run(dut, drive)
    late = PumpedRam.timing.latency
    assert seen[5 + late - 1 :] == expected[5 : len(expected) - late + 1]


@pytest.mark.parametrize(
    "dual, writes, reads, kind",
    [
        (False, 1, 3, "read"),
        (True, 1, 4, "read"),
        (True, 0, 5, "read"),
        (True, 1, 0, "read"),
        (False, 2, 3, "read"),
        (True, 2, 2, "write"),
        (False, 3, 1, "write"),
        (False, -1, 1, "write"),
    ],
)
def test_more_ports_than_a_block_has_time_for(dual, writes, reads, kind):
    with pytest.raises(ValueError, match=f"{kind} ports of a block that has time for"):
        PumpedRam(width=8, depth=4, reads=reads, dual=dual, writes=writes)


class Race(Elaboratable):
    """The same random traffic for a pumped RAM and for one of each read port that has the kernel's clock alone."""

    WORDS, CYCLES = 6, 4000

    def __init__(self, dual, reads):
        self.pumped = PumpedRam(width=16, depth=self.WORDS, reads=reads, dual=dual, granularity=8, init=(7, 8))
        self.plain = [Ram(width=16, depth=self.WORDS, granularity=8, init=(7, 8)) for _ in range(reads)]
        self.over, self.wrong = Signal(), Signal()

    def elaborate(self, platform):
        m = Module()
        m.submodules.pumped = pumped = self.pumped
        noise, cycle = Signal(64, init=1), Signal(range(self.CYCLES + 1))
        m.d.sync += [noise.eq(Cat(noise[63] ^ noise[62] ^ noise[60] ^ noise[59], noise)), cycle.eq(cycle + ~self.over)]
        m.d.comb += self.over.eq(cycle == self.CYCLES)
        places = [
            Mux(noise[7 * k + 3 : 7 * k + 6] < self.WORDS, noise[7 * k + 3 : 7 * k + 6], k)
            for k in range(len(self.plain) + 1)
        ]
        strobe, data = Mux(cycle > 4, noise[40:42], 0), noise[44:60]
        m.d.comb += [
            pumped.writes[0].addr.eq(places[-1]),
            pumped.writes[0].data.eq(data),
            pumped.writes[0].en.eq(strobe),
        ]
        for k, ram in enumerate(self.plain):
            m.submodules[f"plain{k}"] = ram
            m.d.comb += [
                ram.write.addr.eq(places[-1]),
                ram.write.data.eq(data),
                ram.write.en.eq(strobe),
                ram.read.en.eq(1),
                ram.read.addr.eq(places[k]),
                pumped.reads[k].addr.eq(places[k]),
            ]
            late = ram.read.data
            for stage in range(PumpedRam.timing.latency - Ram.timing.latency):
                late, before = Signal(16, name=f"late{k}_{stage}"), late
                m.d.sync += late.eq(before)
            with m.If((cycle > 10) & (late != pumped.reads[k].data)):
                m.d.sync += self.wrong.eq(1)
        return m


class RaceOfWrites(Elaboratable):
    """The same random traffic for a pumped RAM with two write ports and for a list of registers, which the ports write
    one after the other. A quarter of the cycles writes twice at one place, and reads there."""

    WORDS, CYCLES = 6, 4000

    def __init__(self):
        self.pumped = PumpedRam(width=16, depth=self.WORDS, reads=2, dual=False, granularity=8, init=(7, 8), writes=2)
        self.over, self.wrong = Signal(), Signal()

    def elaborate(self, platform):
        m = Module()
        m.submodules.pumped = pumped = self.pumped
        noise, cycle = Signal(64, init=1), Signal(range(self.CYCLES + 1))
        steps = [noise]  # of a shift register, several a cycle, so that numbers of neighbouring cycles are not alike
        for k in range(11):
            steps.append(Signal(64, name=f"noise{k}"))
            last = steps[-2]
            m.d.comb += steps[-1].eq(Cat(last[63] ^ last[62] ^ last[60] ^ last[59], last[:63]))
        m.d.sync += [noise.eq(steps[-1]), cycle.eq(cycle + ~self.over)]
        m.d.comb += self.over.eq(cycle == self.CYCLES)
        words = Array(Signal(16, name=f"word{k}", init=(7, 8, 0, 0, 0, 0)[k]) for k in range(self.WORDS))
        places = [Mux(noise[3 * k : 3 * k + 3] < self.WORDS, noise[3 * k : 3 * k + 3], k) for k in range(4)]
        places[1:] = [Mux(noise[60:62] == 0, places[0], place) for place in places[1:]]
        for k, write in enumerate(pumped.writes):
            data, strobe = noise[12 + 16 * k : 28 + 16 * k], Mux(cycle > 4, noise[44 + 2 * k : 46 + 2 * k], 0)
            m.d.comb += [write.addr.eq(places[k]), write.data.eq(data), write.en.eq(strobe)]
            for byte in range(2):
                with m.If(strobe[byte]):
                    m.d.sync += words[places[k]].word_select(byte, 8).eq(data.word_select(byte, 8))
        for k, read in enumerate(pumped.reads):
            m.d.comb += read.addr.eq(places[2 + k])
            late = words[places[2 + k]]
            for stage in range(PumpedRam.timing.latency):
                late, before = Signal(16, name=f"late{k}_{stage}"), late
                m.d.sync += late.eq(before)
            with m.If((cycle > 10) & (late != read.data)):
                m.d.sync += self.wrong.eq(1)
        return m


def race(dut, folder, spoil=lambda text: text) -> bool:
    """Whether the simulated board sees a difference."""
    m, double = Module(), ClockDomain(DOUBLE, reset_less=True)
    m.domains += double
    m.submodules.race = dut
    ports = {
        f"{DOUBLE}_clk": (double.clk, PortDirection.Input),
        "over": (dut.over, PortDirection.Output),
        "wrong": (dut.wrong, PortDirection.Output),
    }
    verilog = {name: spoil(text) for name, text in convert(m, "race_top", ports, folder).items()}
    board, built = load_board("ecp5_onchip"), build(verilog, "race_top", hasty=True)
    memory = SharedMemory(board.memory.bytes)
    try:
        with Session(built.executable, board, memory) as session:
            over, _ = session.run_until("over", Race.CYCLES + 100)
            assert over
            return session.run_until("wrong", 1)[0]
    finally:
        memory.close()


@pytest.mark.verilator
@pytest.mark.parametrize("dual, reads", [(True, 3), (False, 2)])
def test_as_the_single_clock_ram_with_both_clocks(dual, reads, tmp_path):
    assert not race(Race(dual, reads), tmp_path)


@pytest.mark.verilator
def test_a_read_that_misses_the_write_beside_it_is_noticed(tmp_path):
    def spoil(text):
        return re.sub(r"(asked2 == )old_addr", r"\1~old_addr", text)

    assert race(Race(True, 3), tmp_path, spoil)


@pytest.mark.verilator
def test_two_writes_as_registers_with_both_clocks(tmp_path):
    assert not race(RaceOfWrites(), tmp_path)


@pytest.mark.verilator
def test_writes_in_the_wrong_turns_are_noticed(tmp_path):
    def spoil(text):
        return re.sub(r"early \? old_(\w+) : old_1_\1", r"early ? old_1_\1 : old_\1", text)

    assert race(RaceOfWrites(), tmp_path, spoil)
