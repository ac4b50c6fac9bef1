"""Naive matrix product in float, every sum in strict order."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def golden(a, b):
    total = np.zeros_like(a)
    for k in range(len(a)):
        total += a[:, k, None] * b[k, None, :]
    return total


def main(argv=None):
    n = options(__doc__, argv, n=64).n
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((2, n, n), dtype=np.float32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    a_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=a)
    b_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=b)
    c_dev = cl.Buffer(ctx, mf.WRITE_ONLY, a.nbytes)

    event = program.matmul(queue, (1,), None, a_dev, b_dev, c_dev, np.int32(n))
    event.wait()
    c = np.empty_like(a)
    cl.enqueue_copy(queue, c, c_dev).wait()
    check("matmul", c, golden(a, b))
    return [Launch("matmul", event, trips=n**3, bytes=3 * a.nbytes)]


if __name__ == "__main__":
    main()
