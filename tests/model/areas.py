"""Resources counted at the plan beside those counted in the Verilog, of the examples and the kernels of tests/benchmarks.

``python -m tests.model.areas [--board NAME] [names]``: a design takes one to ten seconds, as all of it is converted.
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hls.diag import CompileError
from hls.driver import compile, plan_area, plan_text
from hls.model.area import Resources, estimate
from hls.options import Options
from hls.target.board import Board, load_board

__all__ = ["KINDS", "Areas", "compared"]

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("logic", "registers", "rams", "dsps")


@dataclass(frozen=True)
class Areas:
    """What a design takes by its plan, and by its Verilog."""

    name: str
    planned: Resources
    counted: Resources

    def error(self, kind: str) -> float:
        """Of one kind, as a share of the count; of none, each that is planned counts as one."""
        planned, counted = getattr(self.planned, kind), getattr(self.counted, kind)
        return planned / counted - 1 if counted else float(planned)


def compared(path: Path, board: Board) -> Areas:
    """Both counts of a source. Raises CompileError."""
    text, options = path.read_text(), Options({}, (path.parent,))
    planned = plan_area(plan_text(text, board, options, str(path)))
    result = compile(text, board, options, str(path))
    counted = estimate(result.generated, result.top, result.board.device, result.foreign)
    return Areas(path.parent.name if path.name == "kernel.cl" else path.stem, planned.total, counted.total)


def sources(names: Iterable[str]) -> Iterator[Path]:
    """The files whose names, or whose folders' names, contain one of these; all for none."""
    wanted = tuple(names)
    for path in sorted([*ROOT.glob("examples/*/kernel.cl"), *ROOT.glob("tests/benchmarks/kernels/**/*.cl")]):
        if not wanted or any(one in f"{path.parent.name}/{path.stem}" for one in wanted):
            yield path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model.areas", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; default: all")
    parser.add_argument("--board", default="de5net")
    arguments = parser.parse_args()
    board, found = load_board(arguments.board), list[Areas]()
    for path in sources(arguments.names):
        try:
            one = compared(path, board)
        except CompileError as error:
            print(f"{path.parent.name}/{path.stem}: not compared: {error.diagnostics[0].message}", flush=True)
            continue
        found.append(one)
        texts = [f"{kind} {getattr(one.planned, kind):,} ({one.error(kind):+.1%})" for kind in KINDS]
        print(f"{one.name:20} {'  '.join(texts)}", flush=True)
    for kind in KINDS:
        errors = [abs(one.error(kind)) for one in found]
        if errors:
            print(f"{kind}: {len(errors)} designs, mean error {sum(errors) / len(errors):.2%}, worst {max(errors):.1%}")


if __name__ == "__main__":
    main()
