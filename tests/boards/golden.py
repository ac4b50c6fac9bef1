"""Reference results of the kernels in this folder, by numpy: each takes the arrays a, b and returns c (int32 wraps)."""

import numpy as np


def vecadd(a, b):
    return a + b


def dot_product(a, b):
    return np.array([np.sum(a * b, dtype=np.int32)], np.int32)


def fir(a, b):
    return np.convolve(a, b)[: a.size].astype(np.int32)


def matmul(a, b):
    return (a.reshape(32, 32) @ b.reshape(32, 32)).reshape(-1)


def stencil(a, b):
    field, weights = a.reshape(64, 64), b.reshape(3, 3)
    c = np.zeros_like(field)
    for v in range(3):
        for u in range(3):
            c[1:63, 1:63] += field[v : v + 62, u : u + 62] * weights[v, u]
    return c.reshape(-1)


#: name: (function, sizes of a, b, c, iterations of its innermost loop)
KERNELS = {
    "vecadd": (vecadd, (1024, 1024, 1024), 1024),
    "dot_product": (dot_product, (1024, 1024, 1), 1024),
    "fir": (fir, (1024, 32, 1024), 1024 + 32),
    "fir_small": (fir, (1024, 32, 1024), 1024 * 32),
    "matmul": (matmul, (1024, 1024, 1024), 32 * 32 * 32),
    "stencil": (stencil, (4096, 9, 4096), 62 * 62),
}


def inputs(name, seed=1):
    """The arrays a, b, c of a run (c zero), and what c must be after it."""
    function, sizes, _ = KERNELS[name]
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-1000, 1000, size, np.int32) for size in sizes[:2])
    return {"a": a, "b": b, "c": np.zeros(sizes[2], np.int32)}, function(a, b)
