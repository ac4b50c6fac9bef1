"""Work-groups that synchronize by barriers: tree reductions, prefix sums, bitonic sorting, tiled matrix product."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

TILE = 8


def totals(size):
    return lambda values: values.reshape(-1, size).sum(axis=1, dtype=np.int32)


def lines(kernel, golden, size, rounds):
    """A launch over groups of ``size`` values, each of which takes part in ``rounds`` rounds."""
    return kernel, golden, size, rounds


LINES = (
    lines("reduce_32", totals(32), 32, 5),
    lines("reduce_64", totals(64), 64, 6),
    lines("reduce_1024", totals(1024), 1024, 10),
    lines("prefix_sum", lambda values: values.reshape(-1, 256).cumsum(axis=1, dtype=np.int32).ravel(), 256, 8),
    lines("bitonic", lambda values: np.sort(values.reshape(-1, 64)).ravel(), 64, 21),
)


def main(argv=None):
    args = options(__doc__, argv, values=12288, n=64)
    rng = np.random.default_rng(5)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags

    launches = []
    for name, golden, size, rounds in LINES:
        values = rng.integers(-1000, 1000, -(-args.values // size) * size, dtype=np.int32)
        expected = golden(values)
        found = np.empty_like(expected)
        in_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=values)
        out_dev = cl.Buffer(ctx, mf.WRITE_ONLY, found.nbytes)
        event = cl.Kernel(program, name)(queue, values.shape, (size,), in_dev, out_dev)
        event.wait()
        cl.enqueue_copy(queue, found, out_dev).wait()
        check(name, found, expected)
        launches.append(Launch(name, event, trips=values.size * rounds, bytes=values.nbytes + found.nbytes))

    n = -(-args.n // TILE) * TILE
    a, b = rng.integers(-100, 100, (2, n, n), dtype=np.int32)
    c = np.empty_like(a)
    a_dev, b_dev = (cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=m) for m in (a, b))
    c_dev = cl.Buffer(ctx, mf.WRITE_ONLY, c.nbytes)
    event = cl.Kernel(program, "tiled_matmul")(queue, (n, n), (TILE, TILE), a_dev, b_dev, c_dev, np.int32(n))
    event.wait()
    cl.enqueue_copy(queue, c, c_dev).wait()
    check("tiled_matmul", c, a @ b)
    launches.append(Launch("tiled_matmul", event, trips=n * n * n // TILE, bytes=3 * a.nbytes))
    return launches


if __name__ == "__main__":
    main()
