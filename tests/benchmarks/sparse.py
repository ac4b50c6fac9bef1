"""Products of sparse matrices and vectors (kernels/sparse.cl)."""

import numpy as np

from .case import Case
from .graphs import rows

__all__ = ["CASES"]

INT, FLOAT = np.int32, np.float32
N, MOST = 96, 6


def _values(rng, n: int) -> np.ndarray:
    return rng.uniform(-1, 1, n).astype(FLOAT)


def _spmv_rows(row, column, value, x, y, n):
    for i in range(n):
        total = FLOAT(0)
        for e in range(row[i], row[i + 1]):
            total += value[e] * x[column[e]]
        y[i] = total


def _spmv_ellpack(column, value, x, y, n, most):
    y[:] = 0
    for k in range(most):
        y += value.reshape(n, most)[:, k] * x[column.reshape(n, most)[:, k]]


def _spmv_coordinates(row, column, value, x, y, count):
    for e in range(count):
        y[row[e]] += value[e] * x[column[e]]


def _spmv_columns(first, row, value, x, y, n):
    for j in range(n):
        for e in range(first[j], first[j + 1]):
            y[row[e]] += value[e] * x[j]


def _compressed(rng):
    row, column = rows(rng, N)
    return [row, column, _values(rng, len(column)), _values(rng, N), np.zeros(N, FLOAT), INT(N)]


def _coordinates(rng):
    """Elements in no order, as a file would list them."""
    return [
        rng.integers(0, N, 500).astype(INT),
        rng.integers(0, N, 500).astype(INT),
        _values(rng, 500),
        _values(rng, N),
        np.zeros(N, FLOAT),
        INT(500),
    ]


def _longest_chain(targets, latency: int) -> int:
    """Cycles of sums into ``y[target]``, one started a cycle at most, each after the last one into the same element."""
    ready: dict[int, int] = {}
    now = 0
    for target in targets:
        now = max(now + 1, ready.get(int(target), 0))
        ready[int(target)] = now + latency
    return now


CASES = (
    Case("sparse.cl", "spmv_rows", _compressed, _spmv_rows, lambda arguments, _: len(arguments[1])),
    Case(
        "sparse.cl",
        "spmv_ellpack",
        lambda rng: [
            rng.integers(0, N, N * MOST).astype(INT),
            _values(rng, N * MOST),
            _values(rng, N),
            np.zeros(N, FLOAT),
            INT(N),
            INT(MOST),
        ],
        _spmv_ellpack,
        lambda arguments, _: N * MOST,
    ),
    Case(
        "sparse.cl",
        "spmv_coordinates",
        _coordinates,
        _spmv_coordinates,
        lambda arguments, of: _longest_chain(arguments[0], 1 + of.add),
    ),
    Case(
        "sparse.cl",
        "spmv_columns",
        _compressed,
        _spmv_columns,
        lambda arguments, of: _longest_chain(arguments[1], 1 + of.add),
    ),
)
