"""Identical trees of a design are written to Verilog once, and only those."""

import re

import pytest
from amaranth import *
from amaranth.hdl import Fragment
from amaranth.hdl._ir import PortDirection
from amaranth.lib.memory import Memory

from rtl_lib import dedup as alike_module
from rtl_lib.dedup import alike, outline
from rtl_lib.library import PartLibrary, convert

WIDTH = 8


@pytest.fixture(autouse=True)
def small_trees_count(monkeypatch):
    monkeypatch.setattr(alike_module, "LEAST", 1)


class Worker(Elaboratable):
    """Adds what comes in to a sum and remembers the last sums."""

    def __init__(self, step=3, names="worker", depth=4):
        self.step, self.depth = step, depth
        self.i, self.o = Signal(WIDTH, name=f"{names}_in"), Signal(WIDTH, name=f"{names}_out")
        self.watched = Signal(name=f"{names}_watched")

    def elaborate(self, platform):
        m = Module()
        total = Signal(WIDTH, init=5)
        m.submodules.memory = memory = Memory(shape=WIDTH, depth=self.depth, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        with m.If(self.i[0]):
            m.d.sync += total.eq(total + self.i + self.step)
        m.d.comb += [
            write.addr.eq(total),
            write.data.eq(total),
            write.en.eq(1),
            read.addr.eq(self.i[1:]),
            self.o.eq(read.data ^ total),
            self.watched.eq(total[0]),
        ]
        return m


class Whole(Elaboratable):
    """Workers one behind the other; the watched bits of some are looked at."""

    def __init__(self, workers, watched=()):
        self.workers, self.watched = workers, watched
        self.i, self.o = Signal(WIDTH, name="i"), Signal(WIDTH, name="o")

    def elaborate(self, platform):
        m = Module()
        value = self.i
        for k, worker in enumerate(self.workers):
            m.submodules[f"worker_{k}"] = worker
            m.d.comb += worker.i.eq(value)
            value = worker.o
        m.d.comb += self.o.eq(value ^ Cat(self.workers[k].watched for k in self.watched))
        return m

    @property
    def ports(self):
        return {"i": (self.i, PortDirection.Input), "o": (self.o, PortDirection.Output)}


def instances(design, tmp_path) -> list[str]:
    """The types of the workers in the Verilog of a design."""
    text = convert(design, "top", design.ports, tmp_path)["top.v"]
    return re.findall(r"^\s*\\?(\S+)\s+worker_\d+ \(", text, flags=re.MULTILINE)


def test_trees_that_differ_in_numbers_of_names_only_are_one_module(tmp_path):
    kinds = instances(Whole([Worker(names=f"w{k}") for k in range(3)]), tmp_path)
    assert len(kinds) == 3 and len(set(kinds)) == 1 and kinds[0].startswith("worker_")


@pytest.mark.parametrize("other", [{"step": 4}, {"names": "servant"}, {"depth": 8}])
def test_trees_that_differ_are_not(other, tmp_path):
    assert len(set(instances(Whole([Worker(), Worker(**other)]), tmp_path))) == 2


def test_a_port_that_one_tree_needs_all_have(tmp_path):
    files = convert(*_named(Whole([Worker() for _ in range(3)], watched=[1])), tmp_path)
    shared = next(text for name, text in files.items() if name.startswith("worker_"))
    assert re.search(r"output worker_watched;", shared)
    unwatched = convert(*_named(Whole([Worker() for _ in range(3)])), tmp_path)
    assert not re.search(
        r"output worker_watched;", next(text for name, text in unwatched.items() if name.startswith("worker_"))
    )


def _named(design):
    return design, "top", design.ports


def test_the_same_design_gives_the_same_text(tmp_path):
    texts = [convert(*_named(Whole([Worker() for _ in range(3)], [0, 2])), tmp_path) for _ in range(2)]
    assert texts[0] == texts[1]


def test_a_signal_of_which_bits_are_driven_outside_keeps_trees_apart(tmp_path):
    design = Whole([Worker(), Worker()])
    fragment = Fragment.get(design, PartLibrary(tmp_path))
    assert alike(outline(fragment), [design.i, design.o])
    taken = design.workers[0].watched
    fragment.add_statements("comb", taken.eq(0))
    assert not alike(outline(fragment), [design.i, design.o])


def test_the_ports_of_a_module_are_what_any_of_its_trees_needs(tmp_path):
    whole = Whole([Worker(names=f"w{k}") for k in range(3)], watched=[0, 2])
    (found,) = alike(outline(Fragment.get(whole, PartLibrary(tmp_path))), [whole.i, whole.o])
    for k, tree in enumerate(found.trees):
        ports = {tree.signals[number].name: driven for number, driven in found.ports}
        assert ports == {f"w{k}_in": False, f"w{k}_out": True, f"w{k}_watched": True}
