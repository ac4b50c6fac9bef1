"""Dot product of two vectors in strict order."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def main(argv=None):
    n = options(__doc__, argv, n=8192).n
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, n), dtype=np.float32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    a_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=a)
    b_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=b)
    result_dev = cl.Buffer(ctx, mf.WRITE_ONLY, 4)

    event = program.dot_product(queue, (1,), None, a_dev, b_dev, result_dev, np.int32(n))
    event.wait()
    result = np.empty(1, dtype=np.float32)
    cl.enqueue_copy(queue, result, result_dev).wait()
    # accumulate adds one element after the other; np.dot and np.sum do not
    check("dot_product", result, np.add.accumulate(a * b, dtype=np.float32)[-1:])
    return [Launch("dot_product", event, trips=n, bytes=2 * a.nbytes)]


if __name__ == "__main__":
    main()
