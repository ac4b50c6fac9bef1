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
#: by board and kernel, in a file: the cycles of the first measurement, and of the last
FILE = Path(__file__).parent / "recorded.json"
RECORDED: dict[str, dict[str, list[int]]] = json.loads(FILE.read_text())


def mean(ratios) -> float:
    """The geometric mean."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def table(board: str, figures: list[Figure]) -> Table:
    result = Table(title=board, title_justify="left")
    for column in ("kernel", "first", "last", "cycles", "bound", "ratio"):
        result.add_column(column, justify="left" if column == "kernel" else "right", no_wrap=True)
    for one in sorted(figures, key=lambda figure: -figure.ratio):
        recorded = [f"{cycles:,}" for cycles in RECORDED.get(board, {}).get(one.case.kernel, ())] or ["-", "-"]
        result.add_row(one.case.kernel, *recorded, f"{one.cycles:,}", f"{one.bound:,}", f"{one.ratio:.2f}")
    return result


def verdict(board: str, figures: list[Figure]) -> tuple[str, bool]:
    """The means beside the goals, and whether they are reached."""
    average, worst = mean(one.ratio for one in figures), max(figures, key=lambda one: one.ratio)
    goal, most = GOALS.get(board, GOALS["de5net"])
    return (
        f"{board}: {len(figures)} kernels, geometric mean {average:.2f} times the bound (goal {goal:g}), "
        f"worst {worst.ratio:.2f}: {worst.case.kernel} (goal {most:g})"
    ), average <= goal and worst.ratio <= most


def record(board: str, figures: list[Figure]) -> None:
    """Note the cycles as the last ones; also as the first of a kernel that has none."""
    kernels = RECORDED.setdefault(board, {})
    for one in figures:
        first, _ = kernels.get(one.case.kernel, (one.cycles, 0))
        kernels[one.case.kernel] = [first, one.cycles]
    boards = (
        f' "{board}": {{\n' + ",\n".join(f'  "{name}": {cycles}' for name, cycles in kernels.items()) + "\n }"
        for board, kernels in RECORDED.items()
    )
    FILE.write_text("{\n" + ",\n".join(boards) + "\n}\n")


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="parts of kernel names; default: all")
    parser.add_argument("--board", action="append", help="default: ecp5_onchip and de5net")
    parser.add_argument("--record", action="store_true", help=f"note the cycles as the last ones in {FILE.name}")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a goal is missed")
    arguments = parser.parse_args(argv)
    cases = [c for c in CASES if not arguments.kernels or any(part in c.kernel for part in arguments.kernels)]
    if not cases:
        parser.error(f"no kernel has {' or '.join(arguments.kernels)} in its name")
    console, met = Console(width=100, highlight=False), True
    for board in arguments.board or GOALS:
        figures = []
        for one in run(cases, board):
            console.print(f"{board}: {one.case.kernel}: {one.cycles:,} cycles, bound {one.bound:,}")
            figures.append(one)
        console.print(table(board, figures))
        text, reached = verdict(board, figures)
        console.print(text)
        met = met and reached
        if arguments.record:
            record(board, figures)
    return 1 if arguments.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
