"""What `--feed-forward=auto` adds to the planning of a kernel.

    python -m tests.feed_forward.planning_time [--board NAME] [names]

Prints a row for each kernel of the tables and goals of this package and of the examples, each planned alone: processor
milliseconds of planning without and with auto (the least of three), their ratio, how many plans auto makes, and what it
decides. The goal is a ratio of 1.3, and of 1.0 where a kernel loads nothing from global memory.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from hls.diag import CompileError
from hls.driver import Plan, plan_text
from hls.ir import Attr
from hls.options import Options
from hls.planning import program
from hls.target.board import Board, load_board

from .goals import SOURCE as GOALS
from .table import SOURCE as TABLE
from .table import print_table, text_of

__all__ = ["PlanningTime", "planning_time"]

TIMES = 3
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class PlanningTime:
    """Processor seconds of planning a kernel ``alone``, with auto, and the ``plans`` of kernels and parts that auto
    makes; ``kernels`` remain, of which some are ``split``."""

    kernel: str
    alone: float
    auto: float
    plans: int
    kernels: int
    split: bool

    def __str__(self) -> str:
        decided = "split" if self.split else f"{self.kernels} copies" if self.kernels > 1 else "whole"
        times = f"{1000 * self.alone:.0f} | {1000 * self.auto:.0f} | {self.auto / self.alone:.2f}"
        return f"| {self.kernel} | {times} | {self.plans} | {decided} |"


def _planned(text: str, board: Board, feed_forward: str) -> tuple[float, Plan]:
    before = time.process_time()
    plan = plan_text(text, board, Options(feed_forward=feed_forward), "k.cl")
    return time.process_time() - before, plan


def planning_time(kernel: str, text: str, board: Board) -> PlanningTime:
    """The row of a kernel, whose text has no other. Raises CompileError for one that cannot be planned alone."""
    alone = min(_planned(text, board, "never")[0] for _ in range(TIMES))
    with patch.object(program, "plan_alone", side_effect=program.plan_alone) as counted:
        auto, plan = min((_planned(text, board, "auto") for _ in range(TIMES)), key=lambda one: one[0])
    split = any(Attr.LOADS_FOR in one.function.attrs for one in plan.kernels)
    return PlanningTime(kernel, alone, auto, counted.call_count // TIMES, len(plan.kernels), split)


def _texts() -> Iterator[tuple[str, str]]:
    for source in (TABLE, GOALS):
        for kernel in re.findall(r"__kernel void (\w+)\(", source):
            yield kernel, text_of(kernel, source)
    for path in sorted(EXAMPLES.glob("*/*.cl")):
        yield path.parent.name, path.read_text()


def _rows(board_name: str, names: list[str]) -> Iterator[PlanningTime | str]:
    board = load_board(board_name)
    for kernel, text in _texts():
        if names and not any(name in kernel for name in names):
            continue
        try:
            yield planning_time(kernel, text, board)
        except CompileError as error:
            yield f"| {kernel} | {error.diagnostics[0].message} |"


if __name__ == "__main__":
    print_table("planning_time", __doc__, ("kernel", "never, ms", "auto, ms", "ratio", "plans", "auto"), _rows)
