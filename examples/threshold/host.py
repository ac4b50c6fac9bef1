"""Threshold of a grey image, one byte a pixel."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def main(argv=None):
    args = options(__doc__, argv, width=256, height=256)
    image = np.random.default_rng(10).integers(0, 256, (args.height, args.width), dtype=np.uint8)
    level = np.uint8(128)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    image_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=image)
    result_dev = cl.Buffer(ctx, mf.WRITE_ONLY, image.nbytes)

    event = program.threshold(queue, (1,), None, image_dev, result_dev, np.int32(image.size), level)
    event.wait()
    result = np.empty_like(image)
    cl.enqueue_copy(queue, result, result_dev).wait()
    check("threshold", result, np.where(image > level, 255, 0).astype(np.uint8))
    return [Launch("threshold", event, trips=image.size, bytes=2 * image.nbytes)]


if __name__ == "__main__":
    main()
