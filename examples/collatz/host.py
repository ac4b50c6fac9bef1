"""Lengths of Collatz sequences, as a loop nest and as work-items."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def golden(start):
    value, steps = start.astype(np.uint32), np.zeros_like(start)
    while (running := value > 1).any():
        value = np.where(running, np.where(value & 1, 3 * value + 1, value >> 1), value)
        steps += running
    return steps


def main(argv=None):
    n = options(__doc__, argv, n=1024).n
    # below 100,000 no sequence leaves 32 bits
    start = np.random.default_rng(6).integers(0, 100_000, n, dtype=np.uint32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    start_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=start)

    launches = []
    for name, size, scalars in (("collatz", (1,), (np.int32(n),)), ("collatz_ndrange", (n,), ())):
        steps = np.empty_like(start)
        steps_dev = cl.Buffer(ctx, mf.WRITE_ONLY, steps.nbytes)
        kernel = cl.Kernel(program, name)
        event = kernel(queue, size, None, start_dev, steps_dev, *scalars)
        event.wait()
        cl.enqueue_copy(queue, steps, steps_dev).wait()
        check(name, steps, golden(start))
        launches.append(Launch(name, event, trips=int(steps.sum()), bytes=2 * start.nbytes))
    return launches


if __name__ == "__main__":
    main()
