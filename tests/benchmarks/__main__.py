"""Cycles of plain kernels beside their bounds, on the boards named (``make bench``)."""

import argparse
import json
import math
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .suite import CASES, Figure, run

GOALS = {"ecp5_onchip": (1.08, 1.5), "de5net": (1.5, 4.0)}  #: geometric mean and worst ratio
BEFORE = Path(__file__).parent / "before.json"


def mean(ratios) -> float:
    """The geometric mean."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def table(board: str, figures: list[Figure], before: dict[str, int]) -> Table:
    result = Table(title=board, title_justify="left")
    for column in ("kernel", "cycles before", "cycles", "bound", "ratio"):
        result.add_column(column, justify="left" if column == "kernel" else "right", no_wrap=True)
    for one in sorted(figures, key=lambda figure: -figure.ratio):
        old = before.get(one.case.kernel)
        result.add_row(
            one.case.kernel, f"{old:,}" if old else "-", f"{one.cycles:,}", f"{one.bound:,}", f"{one.ratio:.2f}"
        )
    return result


def verdict(board: str, figures: list[Figure]) -> tuple[str, bool]:
    """The means beside the goals, and whether they are reached."""
    average, worst = mean(one.ratio for one in figures), max(figures, key=lambda one: one.ratio)
    goal, most = GOALS.get(board, GOALS["de5net"])
    return (
        f"{board}: {len(figures)} kernels, geometric mean {average:.2f} times the bound (goal {goal:g}), "
        f"worst {worst.ratio:.2f}: {worst.case.kernel} (goal {most:g})"
    ), average <= goal and worst.ratio <= most


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="parts of kernel names; default: all")
    parser.add_argument("--board", action="append", help="default: ecp5_onchip and de5net")
    parser.add_argument("--write", type=Path, metavar="FILE", help="cycles by board and kernel, as JSON")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a goal is missed")
    arguments = parser.parse_args(argv)
    cases = [c for c in CASES if not arguments.kernels or any(part in c.kernel for part in arguments.kernels)]
    if not cases:
        parser.error(f"no kernel has {' or '.join(arguments.kernels)} in its name")
    console, found, met = Console(width=100, highlight=False), {}, True
    before = json.loads(BEFORE.read_text())
    for board in arguments.board or GOALS:
        figures = []
        for one in run(cases, board):
            console.print(f"{board}: {one.case.kernel}: {one.cycles:,} cycles, bound {one.bound:,}")
            figures.append(one)
        console.print(table(board, figures, before.get(board, {})))
        text, reached = verdict(board, figures)
        console.print(text)
        met, found[board] = met and reached, {one.case.kernel: one.cycles for one in figures}
        if arguments.write:
            arguments.write.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if arguments.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
