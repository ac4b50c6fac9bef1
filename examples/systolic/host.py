"""Float matrix product on a systolic array: copies of one autorun kernel."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

REACH = 4  #: as in the kernel


def blocks_of(rows, side):
    """For each block of rows and each column: the block's elements, with those of adjacent multipliers adjacent."""
    count, n = rows.shape[0] // (side * REACH), rows.shape[1]
    return np.ascontiguousarray(rows.reshape(count, side, REACH, n).transpose(0, 3, 2, 1))


def matrix_of(blocks, side, n):
    """The matrix whose elements the multipliers output block by block."""
    count = n // (side * REACH)
    # of C: block row, block column, row, column, multiplier
    parts = blocks.reshape(count, count, REACH, REACH, side, side)
    return np.ascontiguousarray(parts.transpose(0, 4, 2, 1, 5, 3).reshape(n, n))


def golden(a, b):
    total = np.zeros_like(a)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[None, k]
    return total


def main(argv=None):
    args = options(__doc__, argv, n=256, side=8)
    step = args.side * REACH
    n = -(-args.n // step) * step
    a, b = np.random.default_rng(3).standard_normal((2, n, n), dtype=np.float32)

    ctx = cl.create_some_context()
    queues = [cl.CommandQueue(ctx) for _ in range(3)]
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build(options=[f"-DSIDE={args.side}"])
    mf = cl.mem_flags
    a_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=blocks_of(a, args.side))
    b_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=blocks_of(np.ascontiguousarray(b.T), args.side))
    c_dev = cl.Buffer(ctx, mf.WRITE_ONLY, a.nbytes)

    blocks, sizes = n // step, (np.int32(n), np.int32(n // step))
    program.send_rows(queues[0], (1,), None, a_dev, *sizes)
    program.send_columns(queues[1], (1,), None, b_dev, *sizes)
    event = program.collect_sums(queues[2], (1,), None, c_dev, np.int32(blocks * blocks * REACH * REACH))
    event.wait()
    for queue in queues:
        queue.finish()
    sums = np.empty(n * n, np.float32)
    cl.enqueue_copy(queues[2], sums, c_dev).wait()
    check("systolic", matrix_of(sums, args.side, n), golden(a, b))
    # every multiplier is busy in every cycle: the bound counts them; the collecting loop counts only its own iterations
    return [
        Launch(
            "collect_sums",
            event,
            trips=blocks * blocks * REACH * REACH,
            bytes=a.nbytes,
            others=2 * a.nbytes,
            cycles=n * n * n // args.side**2,
        )
    ]


if __name__ == "__main__":
    main()
