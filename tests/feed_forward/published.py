"""The published tables of the feed-forward design model (2022), with the same kernels as this compiler makes them.

    python -m tests.feed_forward.published [--board NAME] [names]

Table II: what a split into a memory part and a compute part gains for ten kernels. Table III: what two of each gain for
four microbenchmarks: eight loads of each work and 80 operations of floats (AI10), or 48 with an inner loop under a
condition and a reduction (AI6), regular (R) or with a gathered index (IR). Ours are written as plain single work-item
kernels, and run on the model's replay; sizes are those of table.py and goals.py, in the cache. The bytes of all forms
are compared. Each row: the published speedup, cycles of an iteration of the innermost loop of the kernel whole, how many
times faster it is split, as two of each part, as two copies, and with `--feed-forward=auto` (what auto decides). "-": the
compiler refuses that form.

The publication gives 6.47 for MIS in its table and 6.35 in its text; its factors come from kernels whose false
dependences of memory a split removes, which the kernels here do not have whole.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hls.diag import CompileError
from hls.driver import plan_text
from hls.options import Options
from hls.target.board import Board, load_board

from .goals import launch_of, source_of
from .table import Given, decided, print_table, replayed, text_of

__all__ = ["TABLE_II", "TABLE_III", "Row", "microbenchmark"]

SOURCE = (Path(__file__).parent / "published.cl").read_text()
#: kernel by the name in Table II, the promise that it needs, and the published speedup
TABLE_II = {
    "BFS": ("breadth_first", "", 13.84),
    "HS": ("hotspot", "", 0.85),
    "NN": ("nearest", "", 1.03),
    "HS3D": ("hotspot3d", "", 0.88),
    "NW": ("needleman_in_place", "", 50.95),
    "BP": ("back_propagation", "", 44.54),
    "FW": ("floyd", "independent", 64.95),
    "MIS": ("independent", "", 6.47),
    "PR": ("rank", "", 0.96),
    "GC": ("color_graph", "", 1.02),
}
#: (inner loop under a condition, gathered index) of each microbenchmark, and the published speedup of two of each part
TABLE_III = {
    "AI10 R": (False, False, 1.55),
    "AI10 IR": (False, True, 1.00),
    "AI6 for-if R": (True, False, 1.90),
    "AI6 for-if IR": (True, True, 1.84),
}
LOADS, ITEMS, SHORT = 8, 8192, 8
FORMS = ("memory(1), compute(1)", "memory(2), compute(2)", "memory(0), compute(2)")


@dataclass(frozen=True)
class Row:
    """A kernel: the ``published`` speedup of a form, cycles of the kernel whole, of its forms (None: refused) and as
    auto makes it, and what auto ``decided``; ``inner`` iterations."""

    name: str
    published: float
    inner: int
    whole: int
    forms: tuple[int | None, ...]
    auto: int
    decided: str

    def __str__(self) -> str:
        gains = [f"{self.whole / one:.2f}" if one else "-" for one in (*self.forms, self.auto)]
        cells = self.name, f"{self.published:.2f}", f"{self.whole / self.inner:.3f}", *gains, self.decided
        return f"| {' | '.join(cells)} |"


def microbenchmark(loops: bool, gathered: bool) -> str:
    """The text of a microbenchmark with eight loads: 80 operations for each element, or 48 in an inner loop under a
    condition whose sum is stored."""
    rng = random.Random(f"{loops} {gathered}")
    buffers = [f"a{k}" for k in range(LOADS)]
    index = f"i * {SHORT} + j" if loops else "i"
    values = [f"{one}[at]" for one in buffers]
    operations = 48 if loops else 80
    lines = [f"float x = {values[0]};"]
    for k in range(operations - 1):
        operand = values[k + 1] if k + 1 < LOADS else rng.choice((*(f"v{n}" for n in range(1, LOADS)), "x", "0.75f"))
        if k + 1 < LOADS:
            lines.append(f"float v{k + 1} = {operand};")
            operand = f"v{k + 1}"
        lines.append(f"x = x {rng.choice('+-*')} {operand};")
    at = f"int at = {f'where[{index}]' if gathered else index};"
    work = "\n".join((at, *lines))
    body = f"for (int i = 0; i < n; i++) {{ {work} out[i] = x; }}"
    if loops:
        inner = f"for (int j = 0; j < {SHORT}; j++) {{ {work} sum += x; }}"
        body = f"for (int i = 0; i < n; i++) {{ float sum = 0.0f; if (chosen[i]) {inner} out[i] = sum; }}"
    parameters = [f"__global const float *restrict {one}" for one in buffers]
    parameters += ["__global const int *restrict where"] * gathered + ["__global const int *restrict chosen"] * loops
    return f"__kernel void k({', '.join(parameters)}, __global float *restrict out, int n) {{ {body} }}"


def _microbenchmark(name: str) -> tuple[str, Given, int, float]:
    """(text, launch, iterations, published speedup) of a microbenchmark."""
    loops, gathered, published = TABLE_III[name]
    rng, n = np.random.default_rng(5), ITEMS // SHORT if loops else ITEMS
    buffers = {f"a{k}": rng.random(ITEMS).astype(np.float32) for k in range(LOADS)}
    if gathered:
        buffers["where"] = rng.integers(0, ITEMS, ITEMS).astype(np.int32)
    inner = ITEMS
    if loops:
        buffers["chosen"] = (rng.random(n) < 0.75).astype(np.int32)
        inner = SHORT * int(buffers["chosen"].sum())
    buffers["out"] = np.zeros(n, np.float32)
    return microbenchmark(loops, gathered), (buffers, {"n": n}), inner, published


def _application(name: str) -> tuple[str, Given, int, float]:
    """(text, launch, iterations, published speedup) of a kernel of Table II."""
    kernel, _, published = TABLE_II[name]
    rng = np.random.default_rng(3)
    if kernel == "hotspot3d":
        columns, rows, layers = 64, 32, 8
        floats = {one: rng.random(columns * rows * layers).astype(np.float32) for one in ("from", "power", "to")}
        scalars = {"columns": columns, "rows": rows, "layers": layers, "step": 0.1}
        return text_of(kernel, SOURCE), (floats, scalars), (columns - 2) * (rows - 2) * (layers - 2), published
    if kernel == "back_propagation":
        inputs, outputs = 512, 16
        sizes = {"delta": outputs, "layer": inputs, "weight": inputs * outputs, "before": inputs * outputs}
        floats = {one: rng.random(size).astype(np.float32) for one, size in sizes.items()}
        return text_of(kernel, SOURCE), (floats, {"inputs": inputs, "outputs": outputs}), inputs * outputs, published
    launch, inner = launch_of(kernel)
    return source_of(kernel), launch, inner, published


def _row(name: str, board: Board) -> Row:
    """The row of a kernel. Raises AssertionError if a form of it leaves other bytes."""
    text, launch, inner, published = _application(name) if name in TABLE_II else _microbenchmark(name)
    kernel, promise = TABLE_II[name][:2] if name in TABLE_II else ("k", "")

    def planned(asked: str, feed_forward: str = "never"):
        attribute = f"__attribute__((feed_forward({asked})))" if asked else ""
        return plan_text(
            text.replace("__kernel", f"__kernel {attribute}", 1), board, Options(feed_forward=feed_forward), "k.cl"
        )

    whole, expected = replayed(planned(""), kernel, launch)
    forms: list[int | None] = []
    for form in FORMS:
        try:
            cycles, found = replayed(planned(f"{form}, {promise}" if promise else form), kernel, launch)
        except CompileError:
            forms.append(None)
            continue
        assert found == expected, f"{name}, {form}: other bytes"
        forms.append(cycles)
    plan = planned(promise, "auto")
    auto, found = replayed(plan, kernel, launch)
    assert found == expected, f"{name}, auto: other bytes"
    return Row(name, published, inner, whole, tuple(forms), auto, decided(plan))


def _rows(board_name: str, names: list[str]) -> Iterator[Row]:
    board = load_board(board_name)
    for name in (*TABLE_II, *TABLE_III):
        if not names or any(one in name for one in names):
            yield _row(name, board)


if __name__ == "__main__":
    print_table(
        "published",
        __doc__,
        ("kernel", "published", "whole, cycles an iteration", "split", "2 of each", "2 copies", "auto", "auto is"),
        _rows,
    )
