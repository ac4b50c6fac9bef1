"""The faster conversion writes the same RTLIL as Amaranth's own functions, and reports the same errors."""

import random

import pytest
from amaranth import *
from amaranth.back import rtlil
from amaranth.hdl import Fragment, _nir
from amaranth.hdl._ir import PortDirection
from amaranth.lib import enum
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory

from rtl_lib import netlists

IN, OUT = PortDirection.Input, PortDirection.Output


class Kind(enum.Enum, shape=2):
    NONE = 0
    SOME = 1
    ALL = 3


class Random(Elaboratable):
    """Random statements on signals of random widths, in modules inside each other, with memories and instances."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.ports = {}

    def signal(self, name, direction=None):
        shape = self.rng.choice(
            [
                1,
                3,
                8,
                17,
                40,
                signed(9),
                Kind,
                StructLayout({"a": 5, "b": ArrayLayout(3, 2)}),
                StructLayout({"c": Kind}),
            ]
        )
        found = Signal(shape, name=name)
        if direction:
            self.ports[name] = (Value.cast(found), direction)
        return found

    def value(self, known):
        rng = self.rng
        a, b, c = (Value.cast(rng.choice(known)) for _ in range(3))
        kind = rng.randrange(12)
        if kind < 4:
            return [a + b, a * b[:4], a & b, a == b][kind]
        if kind < 8:
            return [Mux(a[0], b, c), Cat(a, C(5, 4), b[1:], ~c), a.bit_select(b[:3], 4), -a][kind - 4]
        return [a << b[:2], a.any() ^ b.all(), a.as_signed() < b.as_signed(), C(rng.getrandbits(9), 9)][kind - 8]

    def memory(self, m, known):
        m.submodules.memory = memory = Memory(shape=6, depth=5, init=[3, 1])
        write, read = memory.write_port(), memory.read_port(domain=self.rng.choice(["comb", "sync"]))
        values = [self.value(known) for _ in range(3)]
        m.d.comb += [write.addr.eq(values[0]), write.data.eq(values[1]), write.en.eq(1), read.addr.eq(values[2])]
        known.append(read.data)

    def instance(self, m, known):
        low, high = Signal(4, name="low"), Signal(7, name="high")
        m.submodules.outside = Instance("outside", i_a=self.value(known), o_low=low, o_high=high[1:6], p_N=3)
        known += [low, high]

    def body(self, m, depth, known):
        rng = self.rng
        for k in range(rng.randrange(3, 8)):
            target, domain = Value.cast(self.signal(f"s{depth}_{k}")), rng.choice(["comb", "sync"])
            with m.If(Value.cast(rng.choice(known))[0]):
                m.d[domain] += target.eq(self.value(known))
            with m.Switch(Cat(rng.choice(known), C(0, 2))[:2]), m.Case(1, 2):
                m.d[domain] += target[:1].eq(1)
            known.append(target)
        self.memory(m, known)
        if rng.random() < 0.5:
            self.instance(m, known)
        if depth < 3:
            for k in range(rng.randrange(1, 3)):
                inner = Module()
                self.body(inner, depth + 1, known)
                m.submodules[f"inner{k}"] = inner

    def elaborate(self, platform):
        m = Module()
        known = [self.signal(f"i{k}", IN) for k in range(4)]
        self.body(m, 0, known)
        for k in range(5):
            out = self.signal(f"o{k}", OUT)
            m.d.comb += Value.cast(out).eq(self.value(known))
        return m


def converted(design):
    return rtlil.convert(Fragment.get(design, None), name="top", ports=design.ports, emit_src=False)


def both(make):
    """What each of the two makes of a design, or its complaint."""

    def text():
        try:
            return converted(make())
        except _nir.CombinationalCycle as error:
            return str(error)

    with netlists.stock():
        own = text()
        assert _nir.Netlist.check_comb_cycles is netlists._stock_cycles
    assert _nir.Netlist.check_comb_cycles is not netlists._stock_cycles, "the functions do not fit this Amaranth"
    return own, text()


@pytest.mark.parametrize("seed", range(8))
def test_the_same_text(seed):
    own, faster = both(lambda: Random(seed))
    assert faster == own
    assert own.count("\nmodule") > 2 and "$mem" in own


class Connected(Elaboratable):
    """One signal of two bytes whose upper byte follows from the lower one; ``closed`` lets the lower one follow from
    the upper, through an inverter or directly."""

    def __init__(self, closed=None):
        self.closed = closed
        self.i, self.both = Signal(8, name="i"), Signal(16, name="both")
        self.ports = {"i": (self.i, IN), "both": (self.both, OUT)}

    def elaborate(self, platform):
        m = Module()
        middle = Signal(8)
        m.d.comb += middle.eq(~self.both[8:] if self.closed == "inverted" else self.both[8:])
        with m.If(self.i[0]):  # one cell for all bits
            m.d.comb += self.both.eq(Cat(middle if self.closed == "inverted" else self.i, self.both[:8] + 1))
        if self.closed == "directly":
            m = Module()
            m.d.comb += [middle.eq(self.both), self.both.eq(middle)]
        return m


def test_a_cell_that_follows_from_itself_in_other_bits_is_no_cycle():
    own, faster = both(Connected)
    assert faster == own and "module" in own


@pytest.mark.parametrize("closed", ["inverted", "directly"])
def test_a_cycle_is_reported_in_the_same_words(closed):
    own, faster = both(lambda: Connected(closed))
    assert faster == own and own.startswith("Combinational cycle detected")


def test_time_of_the_search_for_cycles_grows_with_the_cells_and_not_with_their_bits(monkeypatch):
    """No net is asked for what it depends on: an adder's have as many sources as it has bits."""
    asked = []
    monkeypatch.setattr(_nir.Operator, "comb_edges_to", lambda cell, bit: asked.append(bit) or [])
    converted(Random(0))
    assert not asked
