"""A 32-tap filter over a signal, with its window in a shift register."""

import re
import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def coefficients(source, taps):
    """The kernel's own table, so that it is defined only once."""
    table = re.search(r"coefficient\[64\] = \{(.*?)\}", source, re.DOTALL).group(1)
    return np.array([int(word) for word in table.split(",")], dtype=np.int32)[:taps]


def main(argv=None):
    args = options(__doc__, argv, n=16384, taps=32)
    rng = np.random.default_rng(3)
    samples = rng.integers(-(1 << 15), 1 << 15, args.n, dtype=np.int32)
    source = (HERE / "kernel.cl").read_text()

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, source).build(options=[f"-DTAPS={args.taps}"])
    mf = cl.mem_flags
    samples_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=samples)
    filtered_dev = cl.Buffer(ctx, mf.WRITE_ONLY, samples.nbytes)

    event = program.fir(queue, (1,), None, samples_dev, filtered_dev, np.int32(args.n))
    event.wait()
    filtered = np.empty_like(samples)
    cl.enqueue_copy(queue, filtered, filtered_dev).wait()
    check("fir", filtered, np.convolve(samples, coefficients(source, args.taps))[: args.n])
    return [Launch("fir", event, trips=args.n, bytes=2 * samples.nbytes)]


if __name__ == "__main__":
    main()
