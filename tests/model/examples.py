"""Estimated cycles of the examples beside those of the replay, which takes the place of a measurement: no hardware is made.

``python -m tests.model.examples [--board NAME] [names]``: each example runs twice, on the model and on the emulator, at the
size that its host program has by default, or SLUICE_EXAMPLE_N and the like say. Launches are paired by the name of their
kernel and their order.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Pair", "compared", "pairs"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True)
class Pair:
    """A launch as it was estimated, with its interval, and as it was replayed."""

    kernel: str
    estimated: float
    least: float
    most: float
    replayed: int

    @property
    def error(self) -> float:
        """Of the estimate, as a share of the replayed cycles."""
        return self.estimated / self.replayed - 1

    @property
    def inside(self) -> bool:
        """Whether the interval holds the replayed cycles."""
        return self.least <= self.replayed <= self.most


def pairs(estimated: Sequence[dict], replayed: Sequence[dict]) -> Iterator[Pair]:
    """The launches that both have: predictions as JSON, in the order of the launches of each kernel."""
    waiting: dict[str, list[dict]] = defaultdict(list)
    for one in replayed:
        waiting[one["kernel"]].append(one)
    for one in estimated:
        if waiting[one["kernel"]]:
            cycles, other = one["cycles"], waiting[one["kernel"]].pop(0)
            yield Pair(one["kernel"], cycles["likely"], cycles["least"], cycles["most"], other["cycles"]["likely"])


def compared(name: str, board: str) -> list[Pair]:
    """The launches of an example. Raises CalledProcessError, with what was printed, if a run fails, and LookupError if
    the estimate would be of another text."""
    folder = EXAMPLES / name
    with tempfile.TemporaryDirectory() as runs:
        printed = _sluice(folder, "predict", "--json", "--board", board, "host.py")
        replayed = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        _sluice(folder, "run", "--device", "emulator", "--workload", runs, "host.py", SLUICE_BOARD=board)
        source = next(iter(sorted(folder.glob("*.cl")))).name
        estimated = json.loads(_sluice(folder, "estimate", source, "--workload", runs, "--json", "--board", board))
    found = list(pairs(estimated, replayed))
    if len(found) != len(estimated):
        raise AssertionError(f"{name}: {len(estimated)} launches were estimated, {len(found)} of them replayed")
    return found


def _sluice(folder: Path, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "sluice", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=folder, check=False
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    if "W0910" in done.stderr:
        raise LookupError("the host program builds another text")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model.examples", description=__doc__)
    parser.add_argument("names", nargs="*", help="examples; default: all")
    parser.add_argument("--board", default="de5net")
    arguments = parser.parse_args()
    names = arguments.names or sorted(path.parent.name for path in EXAMPLES.glob("*/host.py"))
    found: list[Pair] = []
    for name in names:
        try:
            launches = compared(name, arguments.board)
        except subprocess.CalledProcessError as error:
            last = (error.stderr or error.stdout or "").strip().splitlines()[-1:]
            print(f"{name}: not compared: {' '.join(last)}", flush=True)
            continue
        except LookupError as error:
            print(f"{name}: not compared: {error}", flush=True)
            continue
        for one in launches:
            outside = "" if one.inside else "  outside"
            print(
                f"{name:12} {one.kernel:18} estimated {one.estimated:11,.0f}  replayed {one.replayed:11,}  "
                f"{one.error:+7.1%}{outside}",
                flush=True,
            )
        found += launches
    if found:
        errors = sorted(abs(one.error) for one in found)
        inside = sum(one.inside for one in found) / len(found)
        print(
            f"{len(found)} launches: mean error {sum(errors) / len(errors):.2%}, median {errors[len(errors) // 2]:.2%}, "
            f"worst {errors[-1]:.1%}, interval holds in {inside:.0%}"
        )


if __name__ == "__main__":
    main()
