"""What a split into a memory part and a compute part gains, kernel by kernel, on the model's replay.

    python -m tests.feed_forward.table [--board NAME] [names]

Prints a row of docs/rationale/feed-forward.md for each kernel of table.cl: cycles of one launch whole and split, what
`--feed-forward=auto` decides, the greatest II of both, and logic cells. The bytes of both are compared.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hls.driver import Plan, plan_text
from hls.ir import Attr
from hls.ir.launch import IndexSpace
from hls.model.estimate import Planned
from hls.model.operations import logic_cells
from hls.options import Options
from hls.planning import Compilation
from hls.target.board import load_board
from sim.model import Launched, Replayer

__all__ = ["KERNELS", "NODES", "Given", "Row", "arguments", "decided", "print_table", "replayed", "rows", "text_of"]

SOURCE = (Path(__file__).parent / "table.cl").read_text()
KERNELS = re.findall(r"__kernel void (\w+)\(", SOURCE)
ITEMS, NODES, SIDE, PAGE = 4096, 2048, 64, 4096


@dataclass(frozen=True)
class Row:
    """One kernel whole and split; ``inner`` is how many iterations its innermost loop has in all."""

    kernel: str
    inner: int
    cycles: tuple[int, int]
    greatest_ii: tuple[int, int]
    cells: tuple[int, int]
    auto: str

    def __str__(self) -> str:
        whole, split = (f"{cycles / self.inner:.2f}" for cycles in self.cycles)
        iis, cells = " -> ".join(map(str, self.greatest_ii)), " -> ".join(f"{one:,}" for one in self.cells)
        return f"| {self.kernel} | {whole} | {split} | {iis} | {cells} | {self.auto} |"


def text_of(kernel: str, source: str = SOURCE) -> str:
    """The text of one kernel of a source."""
    begin = source.index(f"__kernel void {kernel}(")
    end = source.find("\n__kernel", begin)
    return source[begin:] if end < 0 else source[begin:end]


def arguments(kernel: str) -> tuple[dict[str, np.ndarray], dict[str, int], int]:
    """(buffers, scalars, iterations of the innermost loop) of a launch."""
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 1 << 20, 2 * ITEMS).astype(np.int32)
    row = np.concatenate([[0], np.cumsum(rng.integers(0, 11, NODES))]).astype(np.int32)
    column = rng.integers(0, NODES, row[-1]).astype(np.int32)
    floats = rng.random(NODES).astype(np.float32)
    graph = {"row": row, "column": column}
    out = np.zeros(2 * ITEMS, np.int32)
    if kernel == "merge":
        lists = {"a": np.sort(numbers[:ITEMS]), "b": np.sort(numbers[ITEMS:])}
        return lists | {"out": out}, {"n": ITEMS}, 2 * ITEMS
    if kernel in ("cond_h", "argmax", "least_of"):
        named = {"b": numbers[ITEMS:], "at": numbers[ITEMS:] % ITEMS}
        wanted = [name for name in named if f" {name}," in text_of(kernel).replace("*restrict", "")]
        return {"a": numbers[:ITEMS]} | {name: named[name] for name in wanted} | {"out": out}, {"n": ITEMS}, ITEMS
    if kernel == "needleman":
        table = np.zeros((SIDE + 1) ** 2, np.int32)
        score = rng.integers(-3, 4, table.size).astype(np.int32)
        return {"table": table, "score": score}, {"n": SIDE, "penalty": 2}, SIDE * SIDE
    if kernel == "rank":
        weights = {"value": floats, "weight": floats[::-1].copy()}
        return graph | weights | {"out": np.zeros(NODES, np.float32)}, {"n": NODES}, int(row[-1])
    if kernel == "total":
        return graph | {"value": floats, "out": np.zeros(2, np.float32)}, {"n": NODES}, int(row[-1])
    if kernel == "floyd":
        distances = rng.integers(1, 1000, (SIDE, SIDE)).astype(np.int32)
        np.fill_diagonal(distances, 0)
        return {"d": distances.reshape(-1)}, {"n": SIDE, "k": 5}, SIDE * SIDE
    state = np.where(rng.random(NODES) < 0.8, -1, 0).astype(np.int32)
    ends = {"least": np.zeros(NODES, np.float32), "again": np.zeros(1, np.int32)}
    seen = int(np.diff(row)[state == -1].sum())
    return graph | {"state": state, "value": floats} | ends, {"n": NODES}, seen


#: buffers and scalars of a launch
Given = tuple[dict[str, np.ndarray], dict[str, int]]


def replayed(plan: Plan, kernel: str, launch: Given | None = None) -> tuple[int, dict[str, bytes]]:
    """(cycles, bytes of the buffers) of a launch of a planned kernel; without ``launch``, of that of the table."""
    planned = [Planned(k.function, k.memory, k.plan, k.unrolled, k.merged, "k.cl") for k in plan.kernels]
    inner = [channel for k in plan.kernels for channel in k.inner]
    replayer = Replayer(planned, plan.module, plan.board, plan.channels, 16384, hasty=True, inner=inner)
    given, scalars = launch or arguments(kernel)[:2]
    buffers = {name: array.view(np.uint8).copy() for name, array in given.items()}
    addresses, place = {}, PAGE
    for name, buffer in buffers.items():
        addresses[name] = place
        place += -(-len(buffer) // PAGE) * PAGE
    started = replayer.emulator.start(kernel, buffers, scalars, IndexSpace.of((1,)))
    replayer.emulator.advance(last=True)
    (found,) = replayer.replay([Launched(started, addresses)])
    return found.cycles, {name: buffer.tobytes() for name, buffer in buffers.items()}


def row_of(kernel: str, board_name: str) -> Row:
    """The row of a kernel. Raises AssertionError if whole and split leave other bytes."""
    board, text = load_board(board_name), text_of(kernel)
    plans = [plan_text(text, board, Options(feed_forward=one), "k.cl") for one in ("never", "always", "auto")]
    (whole, before), (split, after) = (replayed(plan, kernel) for plan in plans[:2])
    assert before == after, f"{kernel}: the parts leave other bytes"
    timing = Compilation(board, Options()).timing
    iis = [max(region.ii for k in plan.kernels for region in k.plan.loops.values()) for plan in plans]
    cells = [sum(logic_cells(k.function, timing, board.device) for k in plan.kernels) for plan in plans]
    shape = (whole, split), (iis[0], iis[1]), (cells[0], cells[1])
    return Row(kernel, arguments(kernel)[2], *shape, decided(plans[2]))


def decided(plan: Plan) -> str:
    """What became of the only kernel of a program."""
    copies = plan.kernels[0].function.attrs.get(Attr.SHARES, 1)
    split = any(Attr.LOADS_FOR in one.function.attrs for one in plan.kernels)
    return ", ".join([f"{copies} copies"] * (copies > 1) + ["split"] * split) or "whole"


def rows(board_name: str, names: list[str]) -> Iterator[Row]:
    """The rows of the kernels that have one of the names in theirs; of all without names."""
    for kernel in KERNELS:
        if not names or any(name in kernel for name in names):
            yield row_of(kernel, board_name)


def print_table(
    name: str, text: str | None, columns: Sequence[str], rows: Callable[[str, list[str]], Iterable[object]]
) -> None:
    """The command line of a table in this package, described by a ``text``: prints the ``rows`` of a board, of the
    kernels that have one of the given names in theirs."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.feed_forward.{name}", description=text)
    parser.add_argument("kernels", nargs="*", help="parts of kernel names; default: all")
    parser.add_argument("--board", default="de5net")
    options = parser.parse_args()
    for cells in (columns, ["---"] * len(columns)):
        print(f"| {' | '.join(cells)} |")
    for row in rows(options.board, options.kernels):
        print(row, flush=True)


if __name__ == "__main__":
    print_table(
        "table", __doc__, ("kernel", "whole", "split", "greatest II", "logic cells of the operations", "auto"), rows
    )
