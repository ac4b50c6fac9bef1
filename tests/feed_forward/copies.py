"""What copies of a kernel gain that share the iterations of its outermost loop, on the model's replay.

    python -m tests.feed_forward.copies [--board NAME]

Prints the cycles of a launch of each kernel of table.cl named below, whole and copied, the copies whole and each split
into a memory part and a compute part; the bytes are compared. A kernel that needs a promise for it is shown with the
promise alone first.
"""

import argparse

from hls.driver import plan_text
from hls.options import Options
from hls.target.board import load_board

from .table import replayed, text_of

__all__ = ["main"]

KERNELS, COUNTS = ("independent", "rank", "total", "floyd"), (2, 4)
#: kernels whose iterations only a promise lets share
PROMISED = ("floyd",)


def main() -> None:
    """The command line. Raises AssertionError if copies leave other bytes."""
    parser = argparse.ArgumentParser(prog="python -m tests.feed_forward.copies", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="names of kernels; default: all")
    parser.add_argument("--board", default="de5net")
    options = parser.parse_args()
    board = load_board(options.board)
    for kernel in options.kernels or KERNELS:
        promise = ", independent" * (kernel in PROMISED)
        asked = ["independent"] * bool(promise)
        asked += [f"memory({count * memory}), compute({count}){promise}" for memory in (0, 1) for count in COUNTS]
        text, cells = text_of(kernel), [kernel]
        cycles, expected = replayed(plan_text(text, board, Options(), "k.cl"), kernel)
        cells.append(f"{cycles:,}")
        for one in asked:
            given = text.replace("__kernel", f"__kernel __attribute__((feed_forward({one})))", 1)
            copied, found = replayed(plan_text(given, board, Options(), "k.cl"), kernel)
            assert found == expected, f"{kernel}, {one}: other bytes"
            cells.append(f"{copied:,} ({cycles / copied:.2f} x)")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
