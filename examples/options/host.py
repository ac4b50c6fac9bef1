"""Prices of options by the Black-Scholes formula, compared with the same in double precision."""

import math
import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check_near, options

RATE, VOLATILITY = 0.02, 0.3
TOLERANCE = 2e-5  #: prices go up to 30, and the polynomial of the formula is exact to 7.5e-8 of them


def normal(x):
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])


def golden(price, strike, years):
    spread = VOLATILITY * np.sqrt(years)
    d1 = (np.log(price / strike) + (RATE + VOLATILITY * VOLATILITY / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-RATE * years)
    return price * normal(d1) - discounted * normal(d2), discounted * normal(-d2) - price * normal(-d1)


def main(argv=None):
    args = options(__doc__, argv, n=32768)
    rng = np.random.default_rng(1973)
    given = [rng.uniform(low, high, args.n).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))]

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    devices = [cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=values) for values in given]
    call, put = np.empty((2, args.n), np.float32)
    outs = [cl.Buffer(ctx, mf.WRITE_ONLY, call.nbytes) for _ in range(2)]
    event = program.black_scholes(queue, (args.n,), None, *devices, *outs, np.float32(RATE), np.float32(VOLATILITY))
    event.wait()
    for found, device in zip((call, put), outs, strict=True):
        cl.enqueue_copy(queue, found, device).wait()
    exact = golden(*(values.astype(float) for values in given))
    check_near("black_scholes", np.concatenate([call, put]), np.concatenate(exact), TOLERANCE)
    return [Launch("black_scholes", event, trips=args.n, bytes=5 * call.nbytes)]


if __name__ == "__main__":
    main()
