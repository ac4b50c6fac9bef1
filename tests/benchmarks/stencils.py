"""Stencils (kernels/stencils.cl)."""

import numpy as np

from .case import Case

__all__ = ["CASES"]

FLOAT = np.float32
N, STEPS = 32, 4


def _jacobi(a, b, steps, n):
    a, b = a.reshape(n, n), b.reshape(n, n)
    inner = slice(1, n - 1)
    for _ in range(steps):
        total = a[inner, inner] + a[inner, :-2] + a[inner, 2:] + a[2:, inner] + a[:-2, inner]
        b[inner, inner] = FLOAT(0.2) * total
        a[inner, inner] = b[inner, inner]


def _convolve(a, w, out, n):
    a, out = a.reshape(n, n), out.reshape(n, n)
    out[: n - 2, : n - 2] = sum(w[u * 3 + v] * a[u : n - 2 + u, v : n - 2 + v] for u in range(3) for v in range(3))


def _sobel(image, out, n):
    image, out = image.reshape(n, n).astype(np.int32), out.reshape(n, n)
    weights = (1, 2, 1)

    def part(v: int, u: int):
        return image[1 + v : n - 1 + v, 1 + u : n - 1 + u]

    gx = sum(weight * (part(d, 1) - part(d, -1)) for d, weight in zip((-1, 0, 1), weights, strict=True))
    gy = sum(weight * (part(1, d) - part(-1, d)) for d, weight in zip((-1, 0, 1), weights, strict=True))
    out[1 : n - 1, 1 : n - 1] = np.minimum(abs(gx) + abs(gy), 255)


def _life(cells, out, n):
    padded = np.pad(cells.reshape(n, n), 1)
    around = sum(padded[v : v + n, u : u + n] for v in range(3) for u in range(3)) - cells.reshape(n, n)
    out[:] = ((around == 3) | (around == 2) & (cells.reshape(n, n) != 0)).reshape(-1)


def _cells(arguments, _) -> int:
    return (N - 2) ** 2


CASES = (
    Case(
        "stencils.cl",
        "jacobi",
        lambda rng: [
            rng.uniform(-1, 1, N * N).astype(FLOAT),
            rng.uniform(-1, 1, N * N).astype(FLOAT),
            np.int32(STEPS),
            np.int32(N),
        ],
        _jacobi,
        lambda arguments, _: 2 * STEPS * (N - 2) ** 2,  # a buffer is read whole before it is written
    ),
    Case(
        "stencils.cl",
        "convolve",
        lambda rng: [
            rng.integers(-99, 99, N * N).astype(np.int32),
            rng.integers(-9, 9, 9).astype(np.int32),
            np.zeros(N * N, np.int32),
            np.int32(N),
        ],
        _convolve,
        _cells,
    ),
    Case(
        "stencils.cl",
        "sobel",
        lambda rng: [rng.integers(0, 256, N * N).astype(np.uint8), np.zeros(N * N, np.uint8), np.int32(N)],
        _sobel,
        _cells,
    ),
    Case(
        "stencils.cl",
        "life",
        lambda rng: [rng.integers(0, 2, N * N).astype(np.uint8), np.zeros(N * N, np.uint8), np.int32(N)],
        _life,
        lambda arguments, _: N * N,
    ),
)
