"""Dense linear algebra (kernels/dense.cl)."""

import numpy as np

from .case import Case

__all__ = ["CASES"]

FLOAT = np.float32


def _matrix(rng, n: int) -> np.ndarray:
    return rng.uniform(-1, 1, n * n).astype(FLOAT)


def _vector(rng, n: int) -> np.ndarray:
    return rng.uniform(-1, 1, n).astype(FLOAT)


def _three(n: int):
    return lambda rng: [_matrix(rng, n), _matrix(rng, n), _matrix(rng, n), np.int32(n)]


def _gemm_ijk(a, b, c, n):
    a, b, out = a.reshape(n, n), b.reshape(n, n), c.reshape(n, n)
    out[:] = 0
    _gemm_ikj(a, b, c, n)


def _gemm_ikj(a, b, c, n):
    """The sum of each element in the order of k: all three orders of the loops do the same operations."""
    a, b, out = a.reshape(n, n), b.reshape(n, n), c.reshape(n, n)
    for k in range(n):
        out += a[:, k, None] * b[k, None, :]


def _syrk(a, c, alpha, beta, n):
    a, out = a.reshape(n, n), c.reshape(n, n)
    lower = np.tril(np.ones((n, n), bool))
    out[lower] *= beta
    for k in range(n):
        out[lower] += ((alpha * a[:, k])[:, None] * a[None, :, k])[lower]


def _running(start, terms):
    """``start + terms[0] + terms[1] + ...`` from left to right, along the first axis."""
    for term in terms:
        start = start + term
    return start


def _atax(a, x, y, n):
    a = a.reshape(n, n)
    y[:] = 0
    for i in range(n):
        y += a[i] * _running(FLOAT(0), a[i] * x)


def _mvt(a, x1, x2, y1, y2, n):
    a = a.reshape(n, n)
    x1[:] = _running(x1, a.T * y1[:, None])
    x2[:] = _running(x2, a * y2[:, None])


def _gaussian(a, b, n):
    a = a.reshape(n, n)
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]


def _dominant(rng, n: int) -> np.ndarray:
    """A matrix whose diagonal is large, so that no quotient overflows."""
    a = _matrix(rng, n).reshape(n, n)
    a[np.diag_indices(n)] += FLOAT(n)
    return a.reshape(-1)


def _trisolv(l, x, b, n):
    l = l.reshape(n, n)
    for i in range(n):
        x[i] = _running(b[i], -(l[i, :i] * x[:i])) / l[i, i]


def _covariance(data, cov, mean, n):
    data, cov = data.reshape(n, n), cov.reshape(n, n)
    mean[:] = _running(np.zeros(n, FLOAT), data) / FLOAT(n)
    data -= mean[None, :]
    cov[:] = _running(np.zeros((n, n), FLOAT), data[:, :, None] * data[:, None, :])


def _elimination(arguments, latencies) -> int:
    *_, n = arguments
    return sum((n - k - 1) * (n - k) for k in range(n - 1))


CASES = (
    Case("dense.cl", "gemm_ijk", _three(24), _gemm_ijk, lambda arguments, _: 24**3),
    Case("dense.cl", "gemm_ikj", _three(24), _gemm_ikj, lambda arguments, _: 24**3),
    Case("dense.cl", "gemm_kij", _three(24), _gemm_ikj, lambda arguments, _: 24**3),
    Case(
        "dense.cl",
        "syrk",
        lambda rng: [_matrix(rng, 24), _matrix(rng, 24), FLOAT(1.5), FLOAT(0.75), np.int32(24)],
        _syrk,
        lambda arguments, _: sum((i + 1) * 25 for i in range(24)),
    ),
    Case(
        "dense.cl",
        "atax",
        lambda rng: [_matrix(rng, 48), _vector(rng, 48), _vector(rng, 48), np.int32(48)],
        _atax,
        # the sums of the rows are interleaved; both inner loops have a pipeline each
        lambda arguments, _: 48 * 48,
    ),
    Case(
        "dense.cl",
        "mvt",
        lambda rng: [_matrix(rng, 48), *(_vector(rng, 48) for _ in range(4)), np.int32(48)],
        _mvt,
        lambda arguments, _: 48 * 48,  # the two nests are independent
    ),
    Case(
        "dense.cl",
        "gaussian",
        lambda rng: [_dominant(rng, 20), _vector(rng, 20), np.int32(20)],
        _gaussian,
        _elimination,
    ),
    Case(
        "dense.cl",
        "trisolv",
        lambda rng: [_dominant(rng, 40), np.zeros(40, FLOAT), _vector(rng, 40), np.int32(40)],
        _trisolv,
        # x[i] needs x[i - 1]: a product, the last sum, a quotient; the sums before it are made meanwhile
        lambda arguments, of: max(40 * (1 + of.multiply + of.add + of.divide), 40 * 39 // 2),
    ),
    Case(
        "dense.cl",
        "covariance",
        lambda rng: [_matrix(rng, 24), np.zeros(576, FLOAT), np.zeros(24, FLOAT), np.int32(24)],
        _covariance,
        # sums by columns, then differences, which need the means, then the products
        lambda arguments, _: 2 * 24 * 24 + 24 * 24 * 25 // 2,
    ),
)
