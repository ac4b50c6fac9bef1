"""A single part on an ECP5: its cells after synthesis, and the clock it reaches between registers after place and
route.

What the tables of :mod:`.pnr_channels` and :mod:`.pnr_units` are made of.
"""

import argparse
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from amaranth import *
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import convert
from tests.boards.pnr import DEVICES, TOP, Figures, place_and_route, synthesize

__all__ = ["Cells", "count_cells", "place_between", "print_table", "verilog"]

DEVICE = "LFE5UM5G-85 grade 8"
SHARED = re.compile(r"\b[a-z]\w*_[0-9a-f]{10}\b")  # the name of a module of rtl_lib.library
ASKED_MHZ = 200  # more than any of these parts needs, so that the tools do not stop early


@dataclass(frozen=True)
class Cells:
    """``lut4`` counts LUTs of logic, ``comb`` the LUT places taken: a cell of a carry chain takes two, one of LUT RAM
    four."""

    lut4: int
    comb: int
    ff: int
    ram: int


class Between(wiring.Component):
    """A part between registers: what it takes comes from a shift register, and what it gives goes into one that shifts
    as it adds, so that no net of the surroundings goes to more than two places."""

    def __init__(self, part):
        self.part = part
        super().__init__({"i": In(1), "o": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.part = self.part
        ports = [(member.flow, Value.cast(value)) for _, member, value in self.part.signature.flatten(self.part)]
        taken, given = (Cat(value for flow, value in ports if flow == wanted) for wanted in (In, Out))
        moving, result = Signal(len(taken), reset_less=True), Signal(len(given), reset_less=True)
        gathered = Signal.like(result)
        m.d.sync += [moving.eq(Cat(self.i, moving)), result.eq(given), gathered.eq(result ^ Cat(self.i, gathered))]
        m.d.comb += [taken.eq(moving), self.o.eq(gathered[-1])]
        return m


def count_cells(part: wiring.Component) -> Cells:
    """What synthesis makes of the part alone, without any surroundings."""
    with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
        cells = synthesize(verilog(part), Path(temporary), alone=True)
    return Cells(cells["lut4"], cells["lut4"] + 2 * cells["carry"] + 4 * cells["lutram"], cells["ff"], cells["ram"])


def place_between(part: wiring.Component) -> Figures:
    """The figures of the part between registers, with those; of them its clock and critical path are those of the
    part."""
    return place_and_route(verilog(Between(part)), DEVICES[DEVICE], {"clk": ASKED_MHZ}, alone=True)


def verilog(part: wiring.Component) -> dict[str, str]:
    """Verilog files by name; ``top`` is the part."""
    os.environ.setdefault("AMARANTH_USE_YOSYS", "builtin")
    ports = {
        "__".join(map(str, path)): (
            Value.cast(value),
            PortDirection.Input if member.flow == In else PortDirection.Output,
        )
        for path, member, value in part.signature.flatten(part)
    }
    files = convert(part, TOP, {name: port for name, port in ports.items() if len(port[0])})
    numbers = {name: f"part{k}" for k, name in enumerate(_used(files, TOP))}
    return {
        f"{numbers[name]}.v": SHARED.sub(lambda found: numbers[found[0]], files[f"{name}.v"]) for name in numbers
    } | {f"{TOP}.v": SHARED.sub(lambda found: numbers[found[0]], files[f"{TOP}.v"])}


def _used(files: Mapping[str, str], user: str) -> list[str]:
    """The names of shared parts that a module and the parts in it use, as they come: they change with every line of the
    library, but what was measured holds as long as the part is the same."""
    names = list(dict.fromkeys(SHARED.findall(files[f"{user}.v"])))
    return list(dict.fromkeys(found for name in names if name != user for found in (name, *_used(files, name))))


def print_table(
    description: str,
    parts: Mapping[str, Callable[[], wiring.Component]],
    kernels: Mapping[str, Callable[[], Figures]] | None = None,
) -> None:
    """The table of what the command line names, of all ``parts`` (name -> what makes it) and ``kernels`` (name -> what
    measures it) if it names none."""
    kernels = kernels or {}
    known = [*parts, *kernels]
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--cells", action="store_true", help="only count the cells of parts, in half a minute each")
    parser.add_argument("--path", action="store_true", help="also show the critical path")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in known]:
        parser.error(f"there is no {unknown[0]!r}, but {', '.join(known)}")
    print("| part | LUT4 | LUT4 places | registers | block RAMs | MHz |\n| --- | --- | --- | --- | --- | --- |")
    for name in arguments.names or known:
        if name in kernels:
            cells = placed = kernels[name]()
        else:
            cells = count_cells(parts[name]())
            placed = None if arguments.cells else place_between(parts[name]())
        print(
            f"| {name} | {cells.lut4} | {cells.comb} | {cells.ff} | {cells.ram} | "
            f"{f'{placed.fmax:.0f}' if placed else '-'} |",
            flush=True,
        )
        if placed and arguments.path:
            print("\n".join(placed.path), flush=True)
