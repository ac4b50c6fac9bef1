"""Resources counted at the plan beside those counted in the Verilog, of the examples and the kernels of tests/benchmarks.

``python -m tests.model.areas [--board NAME] [--yosys] [names]``: a design takes one to ten seconds, as all of it is
converted. ``--yosys`` also synthesizes each for an ECP5, which takes minutes, and compares the count in the Verilog with
the cells: LUT places, registers, block RAMs, and 18-bit multipliers as DSP blocks.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hls.diag import CompileError
from hls.driver import compile, plan_area, plan_text
from hls.model.area import Resources, estimate
from hls.options import Options
from hls.target.board import Board, load_board
from tests.boards.area import FAMILIES, Design, areas

__all__ = ["KINDS", "Areas", "compared", "synthesized"]

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("logic", "registers", "rams", "dsps")


@dataclass(frozen=True)
class Areas:
    """What a design takes by its plan, and by its Verilog."""

    name: str
    planned: Resources
    counted: Resources
    built: Resources | None = None  #: after synthesis

    def error(self, kind: str) -> float:
        """Of one kind by the plan, as a share of the count."""
        return _error(self.planned, self.counted, kind)

    def built_error(self, kind: str) -> float:
        """Of one kind by the count, as a share of what synthesis made. Raises ValueError without synthesis."""
        if self.built is None:
            raise ValueError(f"{self.name} is not synthesized")
        return _error(self.counted, self.built, kind)


def _error(told: Resources, real: Resources, kind: str) -> float:
    """As a share of the real ones; where there are none, each that is told counts as one."""
    first, second = getattr(told, kind), getattr(real, kind)
    return first / second - 1 if second else float(first)


def synthesized(design: Design) -> Resources:
    """The cells of a design on an ECP5, flattened. Raises RuntimeError and TimeoutError."""
    area = areas(design, FAMILIES["ecp5"])[design.top]
    return Resources(area.places, area.ff, area.ram, area.dsp)


def compared(path: Path, board: Board, yosys: bool = False) -> Areas:
    """Both counts of a source, and if asked for, what ``yosys`` makes of it. Raises CompileError, and with Yosys
    RuntimeError and TimeoutError."""
    text, options = path.read_text(), Options({}, (path.parent,))
    planned = plan_area(plan_text(text, board, options, str(path)))
    result = compile(text, board, options, str(path))
    counted = estimate(result.generated, result.top, result.board.device, result.foreign)
    built = synthesized(Design(result.verilog, result.top)) if yosys else None
    return Areas(path.parent.name if path.name == "kernel.cl" else path.stem, planned.total, counted.total, built)


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
    parser.add_argument("--yosys", action="store_true", help="synthesize for ECP5; the board must have one")
    arguments = parser.parse_args()
    board, found = load_board(arguments.board), list[Areas]()
    for path in sources(arguments.names):
        try:
            one = compared(path, board, arguments.yosys)
        except (RuntimeError, TimeoutError) as failed:
            print(f"{path.parent.name}/{path.stem}: not synthesized: {failed}", flush=True)
            continue
        except CompileError as error:
            print(f"{path.parent.name}/{path.stem}: not compared: {error.diagnostics[0].message}", flush=True)
            continue
        found.append(one)
        texts = [f"{kind} {getattr(one.planned, kind):,} ({one.error(kind):+.1%})" for kind in KINDS]
        print(f"{one.name:20} {'  '.join(texts)}", flush=True)
        if one.built is not None:
            texts = [f"{kind} {getattr(one.built, kind):,} ({one.built_error(kind):+.1%})" for kind in KINDS]
            print(f"{'  by yosys':20} {'  '.join(texts)}", flush=True)
    for kind in KINDS:
        _summary(kind, [abs(one.error(kind)) for one in found])
        _summary(f"{kind} by yosys", [abs(one.built_error(kind)) for one in found if one.built is not None])


def _summary(what: str, errors: Sequence[float]) -> None:
    if errors:
        print(f"{what}: {len(errors)} designs, mean error {sum(errors) / len(errors):.2%}, worst {max(errors):.1%}")


if __name__ == "__main__":
    main()
