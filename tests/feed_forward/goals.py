"""What kernels split into parts, or copied, must reach: figure beside goal, on the model's replay.

    python -m tests.feed_forward.goals [--board NAME] [names]

A goal is the most cycles of an iteration of the innermost loop, launch and end included, or how many times faster
copies must be than the kernel whole. The bytes of a kernel as asked for and whole are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hls.driver import plan_text
from hls.options import Options
from hls.target.board import Board, load_board

from .table import NODES, SIDE, Given, arguments, print_table, replayed, text_of

__all__ = ["GOALS", "Goal", "Reached", "launch_of", "source_of"]

SOURCE = (Path(__file__).parent / "goals.cl").read_text()
ITEMS = 4096


@dataclass(frozen=True)
class Goal:
    """A kernel, with this argument of its attribute feed_forward ("": without), takes at most ``most`` cycles an
    iteration, or (``gain``) is so many times as fast as it is whole."""

    kernel: str
    asked: str = ""
    most: float = 0.0
    gain: float = 0.0


#: copies of graph kernels whose data stay in caches
_COPIED = ("breadth_first", "independent", "rank", "color_graph")

GOALS = (
    Goal("merge", most=1.1),
    Goal("run_lengths", most=1.2),
    *(Goal(kernel, most=1.05) for kernel in ("cond_h", "argmax", "least_of")),
    Goal("needleman_nested", most=1.10),
    Goal("needleman_apart", most=1.10),
    Goal("needleman_in_place", most=1.3),
    Goal("floyd", "independent", most=1.05),
    *(Goal(kernel, most=1.05) for kernel in ("hotspot", "nearest")),
    Goal("rank", "memory(1), compute(1)", gain=0.995),
    *(Goal(kernel, f"memory(0), compute({c})", gain=g) for kernel in _COPIED for c, g in ((2, 1.9), (4, 3.5))),
)


@dataclass(frozen=True)
class Reached:
    """The figure of a goal: cycles of the kernel ``whole``, and ``asked`` as the goal says; ``inner`` iterations."""

    goal: Goal
    inner: int
    whole: int
    asked: int

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        if self.goal.gain:
            return self.whole >= self.goal.gain * self.asked
        return self.asked <= self.goal.most * self.inner

    def __str__(self) -> str:
        if self.goal.gain:
            figure, goal = f"{self.whole / self.asked:.2f} x", f"{self.goal.gain:.2f} x"
        else:
            figure, goal = f"{self.asked / self.inner:.3f}", f"{self.goal.most:.2f}"
        name = f"{self.goal.kernel} {self.goal.asked}".strip()
        return f"| {name} | {self.asked:,} | {figure} | {goal} | {'yes' if self.met else 'no'} |"


def source_of(kernel: str) -> str:
    """The text of a kernel of goals.cl or table.cl."""
    return text_of(kernel, SOURCE) if f"__kernel void {kernel}(" in SOURCE else text_of(kernel)


def launch_of(kernel: str) -> tuple[Given, int]:
    """(buffers and scalars of a launch, iterations of the innermost loop)."""
    rng = np.random.default_rng(11)
    if kernel.startswith("needleman"):
        side = 2 * SIDE if kernel == "needleman_in_place" else SIDE  # the others have room for SIDE on the chip
        score = rng.integers(-3, 4, (side + 1) ** 2).astype(np.int32)
        return ({"table": np.zeros_like(score), "score": score}, {"n": side, "penalty": 2}), side * side
    if kernel in ("breadth_first", "color_graph"):
        return _graph(kernel, rng)
    if kernel == "run_lengths":
        outs = {name: np.zeros(ITEMS, np.int32) for name in ("values", "lengths")}
        a = np.repeat(rng.integers(0, 9, ITEMS).astype(np.int32), rng.integers(1, 5, ITEMS))[:ITEMS]
        return ({"a": a} | outs | {"runs": np.zeros(1, np.int32)}, {"n": ITEMS}), ITEMS
    floats = {name: rng.random(8 * ITEMS).astype(np.float32) for name in ("a", "b", "c")}
    if kernel == "hotspot":
        buffers = {"from": floats["a"], "power": floats["b"], "to": floats["c"]}
        return (buffers, {"rows": SIDE, "cols": 4 * SIDE, "step": 0.5}), 4 * SIDE * SIDE
    if kernel == "nearest":
        return ({"places": floats["a"], "distance": floats["b"]}, {"n": 4 * ITEMS, "x": 0.5, "y": 0.25}), 4 * ITEMS
    *given, inner = arguments(kernel)
    return (given[0], given[1]), inner


def _graph(kernel: str, rng: np.random.Generator) -> tuple[Given, int]:
    """A graph of which most nodes look at their neighbours, as in the first rounds."""
    graph = {name: arguments("rank")[0][name] for name in ("row", "column")}
    seen = rng.random(NODES) < 0.95
    inner = int(np.diff(graph["row"])[seen].sum())
    again = {"again": np.zeros(1, np.int32)}
    if kernel == "breadth_first":
        visited = (rng.random(NODES) < 0.7).astype(np.int8)
        ends = {"next": np.zeros(NODES, np.int8), "cost": np.zeros(NODES, np.int32)}
        return (
            graph | {"mask": seen.astype(np.int8), "visited": visited} | ends | again,
            {"n": NODES, "level": 3},
        ), inner
    value = rng.permutation(NODES).astype(np.int32)
    ends = {"color": np.where(seen, -1, 2).astype(np.int32), "value": value, "most": np.zeros(NODES, np.int32)}
    return (graph | ends | again, {"n": NODES}), inner


def reached(goal: Goal, board: Board) -> Reached:
    """The figure of a goal. Raises AssertionError if the kernel as asked for leaves other bytes than whole."""
    launch, inner = launch_of(goal.kernel)
    text = source_of(goal.kernel)
    attribute = f"__kernel __attribute__((feed_forward({goal.asked})))" if goal.asked else "__kernel"
    texts = (text, text.replace("__kernel", attribute, 1))
    (whole, expected), (asked, found) = (
        replayed(plan_text(one, board, Options(), "k.cl"), goal.kernel, launch) for one in texts
    )
    assert found == expected, f"{goal.kernel}, {goal.asked}: other bytes"
    return Reached(goal, inner, whole, asked)


def _figures(board_name: str, names: list[str]) -> Iterator[Reached]:
    board = load_board(board_name)
    for goal in GOALS:
        if not names or any(name in goal.kernel for name in names):
            yield reached(goal, board)


if __name__ == "__main__":
    print_table("goals", __doc__, ("kernel", "cycles", "figure", "goal", "met"), _figures)
