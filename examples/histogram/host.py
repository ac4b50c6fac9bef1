"""How often each byte occurs, counted by four kernels and merged by one that polls them all and waits for none."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

LANES = 4


def main(argv=None):
    count = options(__doc__, argv, count=65536).count
    rng = np.random.default_rng(21)
    data = np.minimum(rng.geometric(0.03, LANES * count), 255).astype(np.uint8)

    ctx = cl.create_some_context()
    queues = [cl.CommandQueue(ctx) for _ in range(2)]
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    data_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=data)
    result_dev = cl.Buffer(ctx, mf.WRITE_ONLY, 256 * 4)

    program.deal(queues[0], (1,), None, data_dev, np.int32(count))
    event = program.merge(queues[1], (1,), None, result_dev)
    event.wait()
    queues[0].finish()
    result = np.empty(256, np.uint32)
    cl.enqueue_copy(queues[1], result, result_dev).wait()
    check("histogram", result, np.bincount(data, minlength=256).astype(np.uint32))
    # the counts of a lane follow its last byte one after the other, and so do the sums of all
    return [Launch("merge", event, trips=256, bytes=result.nbytes, others=data.nbytes, cycles=count + 2 * 256)]


if __name__ == "__main__":
    main()
