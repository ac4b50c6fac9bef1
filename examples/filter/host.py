"""3 x 3 convolution of a float image with zero padding, streamed through three kernels."""

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
    queues = [cl.CommandQueue(ctx) for _ in range(3)]
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build(options=[f"-DWIDTH={args.width}"])
    mf = cl.mem_flags
    image_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=image)
    result_dev = cl.Buffer(ctx, mf.WRITE_ONLY, image.nbytes)

    program.fetch_pixels(queues[0], (1,), None, image_dev, np.int32(image.size))
    program.convolve(queues[1], (1,), None, np.int32(args.height))
    event = program.store_pixels(queues[2], (1,), None, result_dev, np.int32(image.size))
    event.wait()
    for queue in queues:
        queue.finish()
    result = np.empty_like(image)
    cl.enqueue_copy(queues[2], result, result_dev).wait()
    check("filter", result, golden(image))
    return [Launch("store_pixels", event, trips=image.size, bytes=image.nbytes, others=image.nbytes)]


if __name__ == "__main__":
    main()
