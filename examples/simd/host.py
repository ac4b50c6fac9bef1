"""Vector addition with 1 to 16 SIMD lanes: how bandwidth grows until the memory's peak is reached."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

LANES = {"add_1": 1, "add_2": 2, "add_4": 4, "add_8": 8, "add_16": 16}
GROUP = 64


def main(argv=None):
    n = options(__doc__, argv, n=262144).n
    n = -(-n // GROUP) * GROUP
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, n), dtype=np.float32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    a_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=a)
    b_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=b)

    launches = []
    for name, lanes in LANES.items():
        c = np.empty_like(a)
        c_dev = cl.Buffer(ctx, mf.WRITE_ONLY, c.nbytes)
        event = cl.Kernel(program, name)(queue, (n,), (GROUP,), a_dev, b_dev, c_dev)
        event.wait()
        cl.enqueue_copy(queue, c, c_dev).wait()
        check(name, c, a + b)
        launches.append(Launch(name, event, trips=n // lanes, bytes=3 * a.nbytes))
    return launches


if __name__ == "__main__":
    main()
