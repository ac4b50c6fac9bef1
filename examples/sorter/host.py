"""Rows of 16 keys, each sorted on its way from one kernel to another."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

KEYS = 16


def main(argv=None):
    rows = options(__doc__, argv, rows=8192).rows
    keys = np.random.default_rng(8).integers(-1 << 31, 1 << 31, (rows, KEYS), dtype=np.int32)
    keys[::3] %= 5  # some are equal

    ctx = cl.create_some_context()
    queues = [cl.CommandQueue(ctx) for _ in range(2)]
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    keys_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=keys)
    sorted_dev = cl.Buffer(ctx, mf.WRITE_ONLY, keys.nbytes)

    program.fetch_keys(queues[0], (1,), None, keys_dev, np.int32(rows))
    event = program.store_sorted(queues[1], (1,), None, sorted_dev, np.int32(rows))
    event.wait()
    queues[0].finish()
    result = np.empty_like(keys)
    cl.enqueue_copy(queues[1], result, sorted_dev).wait()
    check("sorter", result, np.sort(keys, axis=1))
    return [Launch("store_sorted", event, trips=rows, bytes=keys.nbytes, others=keys.nbytes)]


if __name__ == "__main__":
    main()
