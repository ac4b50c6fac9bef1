"""Vector addition, as a loop and as work-items. With pyopencl instead of sim.cl it runs on any OpenCL device."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def main(argv=None):
    n = options(__doc__, argv, n=65536).n
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, n), dtype=np.float32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    a_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=a)
    b_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=b)

    launches = []
    for name, size, scalars in (("vecadd", (1,), (np.int32(n),)), ("vecadd_ndrange", (n,), ())):
        c = np.empty_like(a)
        c_dev = cl.Buffer(ctx, mf.WRITE_ONLY, c.nbytes)
        kernel = cl.Kernel(program, name)
        event = kernel(queue, size, None, a_dev, b_dev, c_dev, *scalars)
        event.wait()
        cl.enqueue_copy(queue, c, c_dev).wait()
        check(name, c, a + b)
        launches.append(Launch(name, event, trips=n, bytes=3 * a.nbytes))
    return launches


if __name__ == "__main__":
    main()
