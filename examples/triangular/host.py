"""Lower triangular matrix times vector, in integers and in floats added in strict order."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options


def golden(matrix, x):
    """Row by row, each sum from left to right (adding zero products would turn -0.0 into 0.0: they are left out)."""
    total = np.zeros_like(x)
    for j in range(len(x)):
        total[j:] += matrix[j:, j] * x[j]
    return total


def main(argv=None):
    n = options(__doc__, argv, n=128).n
    rng = np.random.default_rng(8)
    integers = rng.integers(-1000, 1000, (n + 1, n), dtype=np.int32)
    floats = rng.standard_normal((n + 1, n), dtype=np.float32)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags

    launches = []
    for name, numbers in (("triangular", integers), ("triangular_float", floats)):
        matrix, x = numbers[:n].copy(), numbers[n].copy()
        matrix_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=matrix)
        x_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=x)
        y_dev = cl.Buffer(ctx, mf.WRITE_ONLY, x.nbytes)
        kernel = cl.Kernel(program, name)
        event = kernel(queue, (1,), None, matrix_dev, x_dev, y_dev, np.int32(n))
        event.wait()
        y = np.empty_like(x)
        cl.enqueue_copy(queue, y, y_dev).wait()
        check(name, y, golden(matrix, x))
        trips = n * (n + 1) // 2
        launches.append(Launch(name, event, trips, bytes=trips * 4 + 2 * x.nbytes))
    return launches


if __name__ == "__main__":
    main()
