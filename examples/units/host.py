"""The same work by one, two and four compute units: how close it comes to a half and a quarter of the time."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

UNITS = {"stir_1": 1, "stir_2": 2, "stir_4": 4}
GROUP = 16


def golden(x, rounds):
    for k in range(rounds):
        x = x ^ x << np.uint32(13)
        x = x ^ x >> np.uint32(17)
        x = (x ^ x << np.uint32(5)) + np.uint32(k)
    return x


def main(argv=None):
    args = options(__doc__, argv, n=1024, rounds=64)
    n = -(-args.n // GROUP) * GROUP
    numbers = np.random.default_rng(3).integers(0, 1 << 32, n, dtype=np.uint32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    in_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=numbers)

    launches = []
    for name, units in UNITS.items():
        out = np.empty_like(numbers)
        out_dev = cl.Buffer(ctx, mf.WRITE_ONLY, out.nbytes)
        event = cl.Kernel(program, name)(queue, (n,), (GROUP,), in_dev, out_dev, np.uint32(args.rounds))
        event.wait()
        cl.enqueue_copy(queue, out, out_dev).wait()
        check(name, out, golden(numbers, args.rounds))
        launches.append(Launch(name, event, trips=n * args.rounds // units, bytes=2 * numbers.nbytes))
    return launches


if __name__ == "__main__":
    main()
