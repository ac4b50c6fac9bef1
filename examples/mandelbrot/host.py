"""The Mandelbrot set: the number of iterations of each pixel."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

LEFT, TOP, SPAN = np.float32(-2.0), np.float32(-1.25), np.float32(2.5)


def golden(width, height, step, limit):
    """All pixels together, each operation rounded to float as in the kernel."""
    cx = np.broadcast_to(LEFT + step * np.arange(width, dtype=np.float32), (height, width))
    cy = np.broadcast_to((TOP + step * np.arange(height, dtype=np.float32))[:, None], (height, width))
    x, y = np.zeros((2, height, width), dtype=np.float32)
    count = np.zeros((height, width), dtype=np.int32)
    for _ in range(limit):
        inside = x * x + y * y <= np.float32(4)
        count += inside
        # a point outside keeps its value, so it stays outside and never overflows
        x, y = (np.where(inside, x * x - y * y + cx, x), np.where(inside, np.float32(2) * x * y + cy, y))
    return count


def main(argv=None):
    args = options(__doc__, argv, width=64, height=48, limit=100)
    step = SPAN / np.float32(args.width)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    iterations = np.empty((args.height, args.width), dtype=np.int32)
    iterations_dev = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, iterations.nbytes)

    event = program.mandelbrot(
        queue,
        (1,),
        None,
        iterations_dev,
        np.int32(args.width),
        np.int32(args.height),
        LEFT,
        TOP,
        step,
        np.int32(args.limit),
    )
    event.wait()
    cl.enqueue_copy(queue, iterations, iterations_dev).wait()
    check("mandelbrot", iterations, golden(args.width, args.height, step, args.limit))
    return [Launch("mandelbrot", event, trips=int(iterations.sum()), bytes=iterations.nbytes)]


if __name__ == "__main__":
    main()
