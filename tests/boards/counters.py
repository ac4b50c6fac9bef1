"""What hardware counters cost: cells after synthesis (Yosys, ECP5) of a design without and with them.

python -m tests.boards.counters [--board BOARD] FILE.cl ...
"""

import argparse
from pathlib import Path

from hls.driver import compile
from hls.options import Options
from hls.target.board import load_board

from .area import FAMILIES, Area, Design, areas

__all__ = ["measure"]

KINDS = ("", "accounts", "accesses", "all")


def measure(source: Path, board: str, kind: str) -> tuple[int, Area]:
    """The number of counters of that kind, of all kernels, and the cells of the design that has them."""
    options = Options(counters=kind, include_dirs=(source.parent,))
    result = compile(source.read_text(), load_board(board), options, str(source))
    design = Design(result.verilog, result.top)
    number = sum(len(kernel.counters) for kernel in result.interface.kernels)
    return number, areas(design, FAMILIES["ecp5"])[design.top]


def main() -> None:
    """Print a row for each source and kind of counters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", default="ecp5_onchip")
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    print(f"{'':24} {'counters':>8} {'LUT4':>7} {'carry':>6} {'FF':>7} {'LUT RAM':>7} {'places':>7}")
    for source in given.files:
        without = None
        for kind in KINDS:
            number, area = measure(source, given.board, kind)
            without = without or area
            grown = f"places {area.places / without.places - 1:+.1%}, FF {area.ff / without.ff - 1:+.1%}"
            row = f"{source.stem[:13]:13} {kind or 'off':10} {number:8} {area.lut:7} {area.carry:6} {area.ff:7}"
            print(f"{row} {area.lutram:7} {area.places:7}  {grown if kind else ''}", flush=True)


if __name__ == "__main__":
    main()
