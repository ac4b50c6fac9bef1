"""What copies of a kernel gain that share the iterations of its outermost loop, on the model's replay.

    python -m tests.feed_forward.copies [--board NAME] [--rows drawn|sorted|few] [names]

Prints the cycles of a launch of each kernel of table.cl named below, and of a triangular nest, whole and copied, the
copies whole and each split into a memory part and a compute part; the bytes are compared. A kernel that needs a promise
for it is shown with the promise alone first. ``--rows`` says how long the rows of a graph are: as drawn at random, the
longest first, or so that few rows have most of the edges.
"""

import argparse

import numpy as np

from hls.driver import plan_text
from hls.options import Options
from hls.target.board import load_board

from .table import NODES, Given, arguments, replayed, text_of

__all__ = ["main"]

KERNELS, COUNTS = ("independent", "rank", "total", "floyd", "triangle"), (2, 4)
#: each iteration of the outer loop has one of the inner loop more than the one before
TRIANGLE, SIDE = (
    """__kernel void triangle(__global const int *restrict a, __global const int *restrict b, __global int *restrict out,
                       int n) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < i; j++) s ^= a[j] * b[i - j];
    out[i] = s;
  }
}
""",
    128,
)
#: kernels whose iterations only a promise lets share
PROMISED = ("floyd",)


def launch_of(kernel: str, rows: str) -> Given:
    """Buffers and scalars of a launch, in a graph with such ``rows``."""
    if kernel == "triangle":
        a, b = (np.random.default_rng(k).integers(0, 99, SIDE + 1).astype(np.int32) for k in range(2))
        return {"a": a, "b": b, "out": np.zeros(SIDE, np.int32)}, {"n": SIDE}
    buffers, scalars, _ = arguments(kernel)
    if rows == "drawn" or "row" not in buffers:
        return buffers, scalars
    edges = np.sort(np.diff(buffers["row"]))[::-1]
    if rows == "few":
        edges = np.minimum(20_000 // (np.arange(NODES) + 40), 400)
    row = np.concatenate([[0], np.cumsum(edges)]).astype(np.int32)
    return buffers | {"row": row, "column": np.resize(buffers["column"], int(row[-1]))}, scalars


def main() -> None:
    """The command line. Raises AssertionError if copies leave other bytes."""
    parser = argparse.ArgumentParser(prog="python -m tests.feed_forward.copies", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="names of kernels; default: all")
    parser.add_argument("--board", default="de5net")
    parser.add_argument("--rows", choices=("drawn", "sorted", "few"), default="drawn")
    options = parser.parse_args()
    board = load_board(options.board)
    for kernel in options.kernels or KERNELS:
        promise = ", independent" * (kernel in PROMISED)
        asked = ["independent"] * bool(promise)
        asked += [f"memory({count * memory}), compute({count}){promise}" for memory in (0, 1) for count in COUNTS]
        text, cells = TRIANGLE if kernel == "triangle" else text_of(kernel), [kernel]
        launch = launch_of(kernel, options.rows)
        cycles, expected = replayed(plan_text(text, board, Options(), "k.cl"), kernel, launch)
        cells.append(f"{cycles:,}")
        for one in asked:
            given = text.replace("__kernel", f"__kernel __attribute__((feed_forward({one})))", 1)
            copied, found = replayed(plan_text(given, board, Options(), "k.cl"), kernel, launch)
            assert found == expected, f"{kernel}, {one}: other bytes"
            cells.append(f"{copied:,} ({cycles / copied:.2f} x)")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
