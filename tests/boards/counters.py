"""What hardware counters cost: logic cells of a design without and with them, as the report estimates them and after
synthesis (Yosys, ECP5).

python -m tests.boards.counters [--board BOARD] [--estimate] FILE.cl ...
"""

import argparse
from pathlib import Path

from hls.driver import compile
from hls.model.area import estimate
from hls.options import Options
from hls.target.board import load_board

from .area import FAMILIES, Area, Design, areas

__all__ = ["measure"]

KINDS = ("", "accounts", "accesses", "all")


def measure(source: Path, board: str, kind: str, synthesized: bool = True) -> tuple[int, int, Area | None]:
    """The number of counters of that kind, of all kernels; the estimated logic cells of the board's device, of the
    design that has them; and its cells after synthesis, if it is ``synthesized``."""
    options = Options(counters=kind, include_dirs=(source.parent,))
    result = compile(source.read_text(), load_board(board), options, str(source))
    design = Design(result.verilog, result.top)
    number = sum(len(kernel.counters) for kernel in result.interface.kernels)
    estimated = estimate(result.verilog, result.top, result.board.device).total.logic
    return number, round(estimated), areas(design, FAMILIES["ecp5"])[design.top] if synthesized else None


def main() -> None:
    """Print a row for each source and kind of counters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", default="ecp5_onchip")
    parser.add_argument("--estimate", action="store_true", help="no synthesis, which takes minutes")
    parser.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    print(f"{'':24} {'counters':>8} {'estimate':>8} {'LUT4':>7} {'carry':>6} {'FF':>7} {'LUT RAM':>7} {'places':>7}")
    for source in given.files:
        without: tuple[int, Area | None] | None = None
        for kind in KINDS:
            number, cells, area = measure(source, given.board, kind, not given.estimate)
            without = without or (cells, area)
            row = f"{source.stem[:13]:13} {kind or 'off':10} {number:8} {cells:8}"
            grown = f"estimate {cells / without[0] - 1:+.1%}"
            if area and without[1]:
                row += f" {area.lut:7} {area.carry:6} {area.ff:7} {area.lutram:7} {area.places:7}"
                grown += f", places {area.places / without[1].places - 1:+.1%}, FF {area.ff / without[1].ff - 1:+.1%}"
            print(f"{row}  {grown if kind else ''}", flush=True)


if __name__ == "__main__":
    main()
