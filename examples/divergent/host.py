"""Sums over sparse rows of very different lengths, in integers and in floats added in strict order."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def golden(first, value):
    total = np.zeros(len(first) - 1, dtype=value.dtype)
    length = np.diff(first)
    for k in range(length.max(initial=0)):
        long_enough = k < length
        taken = value[first[:-1][long_enough] + k]
        total[long_enough] += taken * taken
    return total


def row_lengths(rng, rows, skewed):
    """Lengths from 0 to 127; or, skewed, at most 12 except for one row in 32, of length 200."""
    if skewed:
        return np.where(np.arange(rows) % 32 == 31, 200, rng.integers(0, 13, rows))
    return rng.integers(0, 128, rows)


def main(argv=None):
    args = options(__doc__, argv, rows=128, skewed_rows=512)
    rng = np.random.default_rng(9)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags

    launches = []
    for title, name, rows in (
        ("divergent", "divergent", args.rows),
        ("divergent_float", "divergent_float", args.rows),
        ("divergent_skewed", "divergent_float", args.skewed_rows),
    ):
        lengths = row_lengths(rng, rows, title == "divergent_skewed")
        first = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        trips = int(first[-1])
        integers = rng.integers(-1000, 1000, max(trips, 1), dtype=np.int32)
        value = integers if name == "divergent" else integers.astype(np.float32) / np.float32(7)

        first_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=first)
        value_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=value)
        sums = np.empty(rows, dtype=value.dtype)
        sums_dev = cl.Buffer(ctx, mf.WRITE_ONLY, sums.nbytes)
        kernel = cl.Kernel(program, name)
        event = kernel(queue, (1,), None, first_dev, value_dev, sums_dev, np.int32(rows))
        event.wait()
        cl.enqueue_copy(queue, sums, sums_dev).wait()
        check(title, sums, golden(first, value))
        launches.append(Launch(title, event, trips, bytes=first.nbytes + 4 * trips + sums.nbytes))
    return launches


if __name__ == "__main__":
    main()
