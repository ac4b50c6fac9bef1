"""Shared parts: converted once, instantiated, and read back from the cache."""

import os
import re
import stat
import subprocess
import sys
from functools import reduce
from itertools import pairwise
from operator import xor

import pytest
from amaranth import Module, Signal
from amaranth.hdl._ir import PortDirection
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.credits import CreditCounter
from rtl_lib.exit_buffer import ExitFifo
from rtl_lib.library import _split, convert, convert_part, shared
from rtl_lib.mem.fifo import StreamFifo


def design(*fifos):
    """FIFOs of 8 bits one behind the other; the ports of the chain."""
    m = Module()
    for k, fifo in enumerate(fifos):
        m.submodules[f"fifo{k}"] = fifo
    for before, after in pairwise(fifos):
        m.d.comb += [
            after.i.valid.eq(before.o.valid),
            after.i.payload.eq(before.o.payload),
            before.o.ready.eq(after.i.ready),
        ]
    first, last = fifos[0].i, fifos[-1].o
    inputs = {"valid": first.valid, "payload": first.payload, "ready": last.ready}
    outputs = {"taken": first.ready, "offered": last.valid, "result": last.payload}
    ports = {n: (v, PortDirection.Input) for n, v in inputs.items()}
    return m, ports | {n: (v, PortDirection.Output) for n, v in outputs.items()}


def modules(files):
    return [name for text in files.values() for name in re.findall(r"^module \\?(\S+?)\s*\(", text, flags=re.MULTILINE)]


def test_equal_parts_share_a_module_and_others_do_not(tmp_path):
    m, ports = design(StreamFifo(8, 4), StreamFifo(8, 4), StreamFifo(8, 64))
    files = convert(m, "chain", ports, tmp_path)
    assert sorted(name.rpartition("_")[0] for name in files if name != "chain.v") == [
        "ram",
        "stream_fifo",
        "stream_fifo",
    ]
    assert len(modules(files)) == len(set(modules(files)))
    instances = re.findall(r"^\s*(stream_fifo_\w+) part \(", files["chain.v"], flags=re.MULTILINE)
    assert len(instances) == 3 and len(set(instances)) == 2


def test_every_instance_has_its_clock(tmp_path):
    m, ports = design(StreamFifo(8, 4))
    top = convert(m, "chain", ports, tmp_path)["chain.v"]
    assert ".clk(clk)" in top and ".rst(rst)" in top


def test_the_cache_gives_the_same_text(tmp_path):
    cold = convert(*_chain(), tmp_path)
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    warm = convert(*_chain(), tmp_path)
    assert warm == cold
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == kept, "a part was converted again"


def _chain():
    m, ports = design(StreamFifo(8, 5), StreamFifo(8, 40))
    return m, "chain", ports


def test_a_part_inside_a_part_comes_along(tmp_path):
    m = Module()
    m.submodules.exit = exit_ = ExitFifo(8, 6)
    ports = {"offered": (exit_.o.valid, PortDirection.Output), "ready": (exit_.o.ready, PortDirection.Input)}
    for _ in range(2):  # from conversion, then from the cache
        names = {name.rpartition("_")[0] for name in convert(m, "top", ports, tmp_path)}
        assert names == {"", "exit_fifo", "stream_fifo"}


@shared
class Outer(wiring.Component):
    """A part around a part around a part."""

    def __init__(self):
        super().__init__({"o": Out(stream.Signature(8))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.inner = inner = ExitFifo(8, 6)
        wiring.connect(m, inner.o, wiring.flipped(self.o))
        return m


def test_parts_nest_deeper_than_one_step(tmp_path):
    for _ in range(2):  # from conversion, then from the cache
        m = Module()
        m.submodules.outer = outer = Outer()
        ports = {"offered": (outer.o.valid, PortDirection.Output), "ready": (outer.o.ready, PortDirection.Input)}
        names = {name.rpartition("_")[0] for name in convert(m, "top", ports, tmp_path)}
        assert names == {"", "outer", "exit_fifo", "stream_fifo"}


@pytest.mark.parametrize("limits", [(3, 3), (3, 4)])
def test_arguments_decide_what_is_the_same(tmp_path, limits):
    m = Module()
    ports = {}
    for k, limit in enumerate(limits):
        m.submodules[f"c{k}"] = counter = CreditCounter(limit)
        ports[f"available{k}"] = (counter.available, PortDirection.Output)
        ports[f"take{k}"] = (counter.take, PortDirection.Input)
    assert len(convert(m, "top", ports, tmp_path)) == 1 + len(set(limits))


def test_the_translators_own_names_do_not_depend_on_what_else_it_translates():
    """Else a design found its parts in the cache, and was another text than when it was first made."""

    def text(*order):
        name, lines = (
            "\\$auto$rtlil.cc:2739:Not$",
            {
                first: (f"  wire {{name}}{first} ;\n", f"  assign {{name}}{first}  = ~ {what};\n")
                for first, what in zip(order, "ab", strict=True)
            },
        )
        whole = "".join(lines[k][part] for part in (0, 1) for k in sorted(order, key=str))
        return f"module top(a);\n{whole.format(name=name)}  assign c = {name}{order[1]} ;\nendmodule\n"

    assert _split(text(44, 46)) == _split(text(3, 2)) == _split(text(999, 1000)) == _split(text(1000, 999))
    assert _split(text(1, 2)) != _split(
        text(1, 2).replace("assign c = \\$auto$rtlil.cc:2739:Not$2", "assign c = \\$auto$rtlil.cc:2739:Not$1")
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: "",
        lambda t: t[:-9],
        lambda t: t.replace("wire", "wirf", 1),
        lambda t: t.replace("|", "", 1),
        lambda t: "//\n" + t,
    ],
)
def test_a_damaged_file_of_the_cache_is_made_anew(tmp_path, damage):
    part = CreditCounter(4)
    whole = convert_part(part, tmp_path)
    for path in tmp_path.glob("*.v"):
        path.write_text(damage(path.read_text()))
    assert convert_part(CreditCounter(4), tmp_path) == whole
    assert all("|" in path.read_text().splitlines()[0] for path in tmp_path.glob("*.v"))


@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_the_mode_of_the_cache_is_that_of_the_umask(tmp_path, umask, mode):
    """A team can share it; and what a killed compiler left half-written is in nobody's way."""
    (tmp_path / "cache").mkdir()
    before = os.umask(umask)
    try:
        convert_part(CreditCounter(4), tmp_path / "cache")
    finally:
        os.umask(before)
    (path,) = (tmp_path / "cache").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == mode
    whole = path.read_text()
    path.rename(path.with_suffix(".new"))
    convert_part(CreditCounter(4), tmp_path / "cache")
    assert [one.read_text() for one in (tmp_path / "cache").iterdir()] == [whole]


@shared
class Broad(wiring.Component):
    """More bits at one side than Amaranth numbers."""

    def __init__(self, *, inputs: int, outputs: int):
        super().__init__(
            {
                f"{name}{k}": direction(512)
                for name, direction, count in (("i", In, inputs), ("o", Out, outputs))
                for k in range(count)
            }
        )
        self.sides = [getattr(self, f"i{k}") for k in range(inputs)], [getattr(self, f"o{k}") for k in range(outputs)]

    def elaborate(self, platform):
        m = Module()
        given, driven = self.sides
        m.d.comb += [to.eq(given[k % len(given)] + k) for k, to in enumerate(driven)]
        return m


@pytest.mark.parametrize("inputs, outputs", [(130, 1), (1, 130)])
def test_parts_with_more_bits_than_amaranth_numbers(inputs, outputs, tmp_path):
    m = Module()
    m.submodules.part = part = Broad(inputs=inputs, outputs=outputs)
    a, r = Signal(512), Signal(512)
    m.d.comb += [port.eq(a) for port in part.sides[0]]
    m.d.comb += r.eq(reduce(xor, part.sides[1]))
    verilog = convert(m, "top", {"a": (a, PortDirection.Input), "r": (r, PortDirection.Output)}, tmp_path)
    assert list(verilog) == ["top.v"]


#: prints the text of a design whose own, shared and common modules all have two clocks
TWO_CLOCKS = """
import sys
from pathlib import Path
from amaranth import DomainRenamer, Module, Signal
from amaranth.hdl._ir import PortDirection
from rtl_lib.library import DOUBLE, convert
from rtl_lib.mem.pumped import PumpedRam

def unit(a, o):
    m, r, held = Module(), Signal(8), Signal(8)
    m.d.sync += r.eq(a + 1)
    m.d[DOUBLE] += held.eq(r)
    m.d.comb += o.eq(held)
    return m

m, ports = Module(), {}
for k in range(2):
    a, o = Signal(8), Signal(8)
    m.submodules[f"unit{k}"] = unit(a, o)
    ports |= {f"a{k}": (a, PortDirection.Input), f"o{k}": (o, PortDirection.Output)}
m.submodules.ram = ram = PumpedRam(width=8, depth=8, reads=2, dual=False)
print(convert(m, "top", ports, Path(sys.argv[1])))
"""


def test_the_text_does_not_depend_on_the_order_of_sets(tmp_path):
    """Amaranth adds the clocks that a module uses in the order of a set, which the hash seed decides."""
    texts = []
    for seed in ("0", "1", "2"):
        command = [sys.executable, "-c", TWO_CLOCKS, str(tmp_path / seed)]
        texts.append(
            subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True).stdout
        )
    assert len(set(texts)) == 1 and texts[0].count(b"sync2x_clk") > 4
