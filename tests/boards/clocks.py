"""Clocks and logic that are estimated, beside those of place and route: kernels alone with their control registers and
interconnect, each on several boards; or whole systems with memory controller and host link.

python -m tests.boards.clocks [--systems] [--board BOARD@MHZ ...] [--path] [--seed N] [KERNEL ...]

The tools are those of ``sluice synth`` and ``sluice build``. Netlists and placements are kept in $SLUICE_CACHE by their
content, so a table that was interrupted goes on where it was.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from hls.cli import main as compiler
from hls.export.description import Description, read_description
from hls.report.facts.synthesis import Placed
from hls.target.board import Board, load_board
from sim.soc.make import place_system
from sim.synthesis.device import open_part
from sim.synthesis.run import Asked, synthesize
from sim.synthesis.tools import SynthesisError

__all__ = ["KERNELS", "SYSTEMS", "Row", "Summary", "estimated_mhz", "row"]

EXAMPLES, PLAIN = Path(__file__).parents[2] / "examples", Path(__file__).parent / "kernels"
#: those that are measured if none is named, smaller ones first
KERNELS = {
    **{f"plain {name}": PLAIN / f"{name}.cl" for name in ("vecadd", "dot_product", "fir_small", "stencil", "matmul")},
    **{
        name: EXAMPLES / name / "kernel.cl"
        for name in ("threshold", "saxpy", "dot", "collatz", "matmul", "triangular", "vecadd", "simd", "divergent")
    },
    **{name: EXAMPLES / name / "kernel.cl" for name in ("mandelbrot", "conv2d", "smoother", "fir", "histogram")},
    "plain fir": PLAIN / "fir.cl",
}
SYSTEMS = ("vecadd", "fir", "matmul", "conv2d", "smoother")
#: boards of which each kernel alone, and a whole system, should reach that clock
ALONE, WHOLE = ("ulx3s@100", "ecpix5@150", "orangecrab@100"), ("ulx3s@60", "ecpix5@90")
#: an estimate is good within that many percent
GOOD_PERCENT = 15.0


@dataclass(frozen=True)
class Row:
    """A kernel on a board, scheduled for ``asked_mhz``. Estimates are None where there are none: of a whole system."""

    kernel: str
    board: str
    asked_mhz: float
    estimated_mhz: float | None
    placed: Placed
    logic: int
    estimated_logic: int | None

    @property
    def clock_error(self) -> float | None:
        """By how many percent the estimated clock is higher than the one reached."""
        return _error(self.estimated_mhz, self.placed.reached_mhz)

    @property
    def logic_error(self) -> float | None:
        """By how many percent more logic was estimated than mapped."""
        return _error(self.estimated_logic, self.logic)

    def __str__(self) -> str:
        cells = [self.kernel, self.board, f"{self.asked_mhz:g}", f"{self.placed.reached_mhz:.1f}"]
        if self.estimated_mhz is not None:
            cells += [f"{self.estimated_mhz:.1f}", f"{self.clock_error:+.0f} %"]
        cells.append(f"{self.logic:,}")
        if self.estimated_logic is not None:
            cells += [f"{self.estimated_logic:,}", f"{self.logic_error:+.0f} %"]
        return f"| {' | '.join(cells)} | {_longest(self.placed)} |"


def _error(estimated: float | None, found: float) -> float | None:
    return 100 * (estimated / found - 1) if estimated is not None else None


def _longest(placed: Placed) -> str:
    """Where the critical path spends most of its time."""
    if not placed.path:
        return ""
    step = max(placed.path, key=lambda one: one.logic_ns + one.routing_ns)
    return f"{step.words} ({placed.path_ns:.1f} ns, {placed.routing:.0%} wires)"


def estimated_mhz(report: dict) -> float:
    """The clock that the slowest loop of a design permits by its schedule, or the slowest of its load-store units."""
    return min([one["fmax_mhz"] for one in report["kernels"] if one["fmax_mhz"]], default=report["clock_mhz"])


def row(name: str, source: Path, board: str, seed: int, system: bool) -> Row:
    """The row of a kernel: ``board`` is followed by @ and the clock. Raises SynthesisError, and RuntimeError if it does
    not compile."""
    target = load_board(board)
    with tempfile.TemporaryDirectory(prefix="sluice-clocks-") as temporary:
        folder = Path(temporary) / "out"
        command = ["compile", str(source), "--board", board, "--no-html", "-o", str(folder)]
        done = CliRunner().invoke(compiler, command, prog_name="sluice")
        if done.exit_code:
            raise RuntimeError(done.stderr)
        described, report = read_description(folder), json.loads((folder / "report.json").read_text())
        if system:
            return _system(name, target, described, folder, seed)
        return _alone(name, target, described, folder, report, seed)


def _alone(name: str, board: Board, described: Description, folder: Path, report: dict, seed: int) -> Row:
    device, mhz = open_part(board.device.part), board.clock.kernel_mhz
    assert device is not None, f"no open tool places {board.device.part}"
    asked = Asked(board.name, board.device.part, device, mhz, seed)
    found = synthesize(described, folder, report, asked, _quiet)
    assert found.placed is not None
    logic = found.design.logic
    return Row(name, board.name, mhz, estimated_mhz(report), found.placed, logic.mapped, logic.estimated)


def _system(name: str, board: Board, described: Description, folder: Path, seed: int) -> Row:
    mhz = board.clock.kernel_mhz
    placed, used = place_system(described, folder, board, seed, _quiet)
    return Row(name, board.name, mhz, None, placed, used.logic, None)


def _quiet(_: str) -> None:
    pass


@dataclass(frozen=True)
class Summary:
    """What the rows say of the goals."""

    rows: Sequence[Row]

    def lines(self) -> Iterator[str]:
        """A line for each goal."""
        met = sum(one.placed.met for one in self.rows)
        yield f"{met} of {len(self.rows)} reach the clock that they were scheduled for"
        yield from self._within("clock", [one.clock_error for one in self.rows])
        yield from self._within("logic", [one.logic_error for one in self.rows])

    @staticmethod
    def _within(what: str, errors: Sequence[float | None]) -> Iterator[str]:
        known = [one for one in errors if one is not None]
        if known:
            good = sum(abs(one) <= GOOD_PERCENT for one in known)
            mean = statistics.mean(known)
            yield f"{what}: {good} of {len(known)} estimates within {GOOD_PERCENT:g} %, {mean:+.1f} % in the mean"


def main() -> int:
    """Print a row for each kernel and board, and a summary; returns 1 if one could not be placed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=f"of {', '.join(KERNELS)}")
    parser.add_argument("--systems", action="store_true", help="whole systems as sluice build makes them")
    parser.add_argument("--board", action="append", metavar="BOARD@MHZ", dest="boards")
    parser.add_argument("--path", action="store_true", help="show the critical paths")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if unknown := [name for name in given.kernels if name not in KERNELS]:
        parser.error(f"there is no {unknown[0]!r}, but {', '.join(KERNELS)}")
    names = given.kernels or (SYSTEMS if given.systems else KERNELS)
    estimates = [] if given.systems else ["estimated", "error"]
    head = ["kernel", "board", "asked MHz", "reached", *estimates, "logic", *estimates, "longest stretch of the path"]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    rows, failed = [], 0
    for name in names:
        for board in given.boards or (WHOLE if given.systems else ALONE):
            try:
                found = row(name, KERNELS[name], board, given.seed, given.systems)
            except (SynthesisError, RuntimeError) as error:
                print(f"{name} on {board}: {error}", file=sys.stderr)
                failed += 1
                continue
            rows.append(found)
            print(found, flush=True)
            if given.path:
                for step in found.placed.path:
                    print(f"    {step.logic_ns:6.2f} {step.routing_ns:6.2f} {step.levels:3}  {step.words}", flush=True)
    print("\n".join(Summary(rows).lines()) if rows else "nothing was placed")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
