"""y = alpha * x + y over one vector."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def main(argv=None):
    n = options(__doc__, argv, n=65536).n
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    alpha = np.float32(1.7)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    x_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=x)
    y_dev = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=y)

    event = program.saxpy(queue, (1,), None, np.int32(n), alpha, x_dev, y_dev)
    event.wait()
    result = np.empty_like(y)
    cl.enqueue_copy(queue, result, y_dev).wait()
    check("saxpy", result, alpha * x + y)
    return [Launch("saxpy", event, trips=n, bytes=3 * x.nbytes)]


if __name__ == "__main__":
    main()
