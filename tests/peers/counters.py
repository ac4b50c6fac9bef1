"""What hardware counters cost in clock: the kernels of the comparison with control registers, with counters and without,
placed and routed with several seeds, of which the median counts: clocks of seeds lie further apart than the difference.

python -m tests.peers.counters [--kind accounts|accesses|all] [--seeds N] [--board BOARD] [--strict] [CASE ...]
"""

import argparse
import json
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from hls.cli import main as compiler
from hls.export.description import read_description
from hls.target.board import load_board
from sim.synthesis.device import open_part
from sim.synthesis.run import Asked, synthesize

from .cases import CASES, KERNELS, Case

__all__ = ["MOST_PERCENT", "Clocks", "clocks"]

#: by so much counters may lower the clock
MOST_PERCENT = 3.0


@dataclass(frozen=True)
class Clocks:
    """The clocks in MHz that the seeds 1, 2, 3 ... reach, without counters and with them."""

    without: tuple[float, ...]
    counted: tuple[float, ...]

    @property
    def percent(self) -> float:
        """By how much the median is higher with counters."""
        return 100 * (statistics.median(self.counted) / statistics.median(self.without) - 1)


def clocks(case: Case, kind: str, seeds: int, board: str) -> Clocks:
    """The clocks of a case on ``board``, with counters of that ``kind``."""
    return Clocks(*(tuple(_reached(case, option, seeds, board)) for option in ((), (f"--counters={kind}",))))


def _reached(case: Case, counters: tuple[str, ...], seeds: int, name: str) -> list[float]:
    board = load_board(name)
    device = open_part(board.device.part)
    assert device is not None, f"no open tool places {board.device.part}"
    with tempfile.TemporaryDirectory(prefix="sluice-counters-") as temporary:
        folder = Path(temporary) / "out"
        _compile(case, counters, name, folder)
        described, report = read_description(folder), json.loads((folder / "report.json").read_text())
        found = []
        for seed in range(1, seeds + 1):
            asked = Asked(name, board.device.part, device, board.clock.kernel_mhz, seed)
            placed = synthesize(described, folder, report, asked, lambda line: None).placed
            assert placed is not None
            found.append(placed.reached_mhz)
        return found


def _compile(case: Case, counters: tuple[str, ...], board: str, folder: Path) -> None:
    defines = {"T": case.type, "LANES": str(case.lanes)} | case.options.get("defines", {})
    macros = [f"-D{name}={value}" for name, value in defines.items()]
    command = ["compile", *counters, *macros, f"-I{KERNELS}", "--no-html", "--board", board, "-o", str(folder)]
    done = CliRunner().invoke(compiler, [*command, str(KERNELS / case.file)], prog_name="sluice")
    if done.exit_code:
        raise RuntimeError(done.stderr)


def main() -> int:
    """Print a row for each case; returns 1 if it is strict, and the mean of the medians is lowered by more than may
    be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="parts of names, such as 'matmul float'; default: all")
    parser.add_argument("--kind", default="all", choices=("accounts", "accesses", "all"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--board", default="ecp5_onchip")
    parser.add_argument("--strict", action="store_true", help="exit code 1 where the goal is missed")
    given = parser.parse_args()
    chosen = [case for case in CASES if not given.cases or any(part in case.label for part in given.cases)]
    changes = []
    for case in chosen:
        found = clocks(case, given.kind, given.seeds, given.board)
        changes.append(found.percent)
        words = " | ".join(", ".join(f"{mhz:.1f}" for mhz in each) for each in (found.without, found.counted))
        print(f"{case.label:16} without | counters, MHz: {words} | median {found.percent:+.1f} %", flush=True)
    mean = statistics.mean(changes)
    print(f"mean of the medians: {mean:+.1f} % (goal: at least -{MOST_PERCENT:g} %)")
    return int(given.strict and mean < -MOST_PERCENT)


if __name__ == "__main__":
    raise SystemExit(main())
