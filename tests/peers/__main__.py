"""Prints the table of ``make peers``: small kernels next to the figures of another compiler. See docs/peers.md."""

import argparse
import math
import sys

from rich.console import Console
from rich.table import Table

from tests.boards.pnr import DEVICES

from .cases import CASES
from .measure import Row, measured, simulated

GOALS = {"faster": 10.0, "larger": 2.0, "mhz": 120.0}
COLUMNS = (
    "kernel",
    "word",
    "cycles",
    "MHz",
    "LUT4",
    "places",
    "FF",
    "DSP",
    "RAM",
    "us",
    "peer us",
    "faster",
    "peer LUT4",
    "larger",
)


def mean(numbers) -> float:
    """The geometric mean."""
    logs = [math.log(number) for number in numbers]
    return math.exp(sum(logs) / len(logs))


def table(name: str, rows: list[Row]) -> Table:
    result = Table(title=name, title_justify="left")
    for column in COLUMNS:
        result.add_column(column, justify="left" if column == "kernel" else "right", no_wrap=True)
    for row in rows:
        case, figures = row.case, row.figures
        result.add_row(
            case.label,
            f"{32 * case.lanes}",
            f"{row.cycles:,}",
            f"{figures.fmax:.0f}",
            f"{figures.lut4:,}",
            f"{figures.comb:,}",
            f"{figures.ff:,}",
            str(figures.dsp),
            str(figures.ram),
            f"{row.microseconds:.2f}",
            f"{case.peer.microseconds:.1f}",
            f"{row.faster:.1f}",
            f"{case.peer.lut4:,}",
            f"{row.larger:.2f}",
        )
    return result


def verdict(rows: list[Row]) -> tuple[str, bool]:
    """What the rows reach beside the goals, and whether they reach them."""
    faster, larger = mean(row.faster for row in rows), mean(row.larger for row in rows)
    least, mhz = min(row.faster for row in rows), min(row.figures.fmax for row in rows)
    met = faster >= GOALS["faster"] and larger <= GOALS["larger"] and least > 1 and mhz >= GOALS["mhz"]
    return (
        f"geometric mean: {faster:.1f} times faster (goal {GOALS['faster']:g}), {larger:.2f} times the LUT4 (goal at "
        f"most {GOALS['larger']:g}); "
        f"least {least:.1f} times faster (goal more than 1); slowest clock {mhz:.0f} MHz (goal {GOALS['mhz']:g})"
    ), met


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="parts of names, such as 'matmul float'; default: all")
    parser.add_argument("--device", action="append", choices=DEVICES, help="default: all of them")
    parser.add_argument("--path", action="store_true", help="also show each critical path")
    parser.add_argument("--strict", action="store_true", help="exit code 1 where a goal is missed on the first device")
    arguments = parser.parse_args(argv)
    chosen = [case for case in CASES if not arguments.cases or any(part in case.label for part in arguments.cases)]
    if not chosen:
        parser.error(f"no case has {arguments.cases} in its name; there are {', '.join(case.label for case in CASES)}")
    console, met, cycles = Console(width=150, highlight=False), [], {}
    for case in chosen:
        cycles[case.label] = simulated(case)
        console.print(f"{case.label}: {cycles[case.label]:,} cycles, every byte right")
    for name in arguments.device or DEVICES:
        rows = []
        for case in chosen:
            rows.append(measured(case, cycles[case.label], DEVICES[name]))
            console.print(f"{case.label}: {rows[-1].figures.lut4} LUT4, {rows[-1].figures.fmax:.0f} MHz on {name}")
            if arguments.path:
                console.print("\n".join(rows[-1].figures.path), markup=False)
        console.print(table(name, rows))
        text, reached = verdict(rows)
        console.print(text)
        met.append(reached)
    return 1 if arguments.strict and not met[0] else 0


if __name__ == "__main__":
    sys.exit(main())
