"""What copies of a kernel gain that share the iterations of its outermost loop, on the model's replay.

    python -m tests.feed_forward.copies [--board NAME]

Prints the cycles of a launch of each kernel of table.cl named below, whole and copied, the copies whole and each split
into a memory part and a compute part; the bytes are compared.
"""

import argparse

from hls.driver import plan_text
from hls.options import Options
from hls.target.board import load_board

from .table import replayed, text_of

__all__ = ["main"]

KERNELS, COUNTS = ("independent", "rank"), (2, 4)


def main() -> None:
    """The command line. Raises AssertionError if copies leave other bytes."""
    parser = argparse.ArgumentParser(prog="python -m tests.feed_forward.copies", description=__doc__)
    parser.add_argument("--board", default="de5net")
    board = load_board(parser.parse_args().board)
    for kernel in KERNELS:
        text, cells = text_of(kernel), [kernel]
        cycles, expected = replayed(plan_text(text, board, Options(), "k.cl"), kernel)
        cells.append(f"{cycles:,}")
        for count, memory in [(count, memory) for memory in (False, True) for count in COUNTS]:
            asked = f"__kernel __attribute__((feed_forward(memory({count * memory}), compute({count}))))"
            copied, found = replayed(plan_text(text.replace("__kernel", asked, 1), board, Options(), "k.cl"), kernel)
            assert found == expected, f"{kernel}: {count} copies{' with memory parts' * memory} leave other bytes"
            cells.append(f"{copied:,} ({cycles / copied:.2f} x)")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
