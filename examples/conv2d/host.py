"""3 x 3 convolution of a float image with zero padding."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

WEIGHT = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], dtype=np.float32) / np.float32(16)


def golden(image):
    height, width = image.shape
    padded = np.pad(image, 1)
    total = np.zeros_like(image)
    for dy in range(3):
        for dx in range(3):
            total += WEIGHT[dy, dx] * padded[dy : dy + height, dx : dx + width]
    return total


def main(argv=None):
    args = options(__doc__, argv, width=128, height=128)
    image = np.random.default_rng(5).random((args.height, args.width), dtype=np.float32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    image_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=image)
    result_dev = cl.Buffer(ctx, mf.WRITE_ONLY, image.nbytes)

    event = program.conv2d(queue, (1,), None, image_dev, result_dev, np.int32(args.width), np.int32(args.height))
    event.wait()
    result = np.empty_like(image)
    cl.enqueue_copy(queue, result, result_dev).wait()
    check("conv2d", result, golden(image))
    return [Launch("conv2d", event, trips=image.size, bytes=2 * image.nbytes)]


if __name__ == "__main__":
    main()
