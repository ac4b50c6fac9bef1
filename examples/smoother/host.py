"""A signal smoothed on its way through three kernels connected by channels."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def main(argv=None):
    args = options(__doc__, argv, n=65536)
    signal = np.random.default_rng(11).integers(-1000, 1000, args.n, dtype=np.int32)

    ctx = cl.create_some_context()
    # a queue each: the launches of one queue run one after the other
    fetching, collecting = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    signal_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=signal)
    result_dev = cl.Buffer(ctx, mf.WRITE_ONLY, signal.nbytes)

    program.fetch(fetching, (1,), None, signal_dev, np.int32(args.n))
    event = program.collect(collecting, (1,), None, result_dev, np.int32(args.n))
    event.wait()
    fetching.finish()
    result = np.empty_like(signal)
    cl.enqueue_copy(collecting, result, result_dev).wait()
    padded = np.concatenate([np.zeros(2, np.int32), signal])
    check("smoother", result, (padded[:-2] + 2 * padded[1:-1] + padded[2:]) >> 2)
    return [Launch("collect", event, trips=args.n, bytes=signal.nbytes)]


if __name__ == "__main__":
    main()
