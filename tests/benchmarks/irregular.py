"""Loops whose work depends on the data (kernels/irregular.cl)."""

import numpy as np

from .case import Case

__all__ = ["CASES"]

INT, UINT, FLOAT = np.int32, np.uint32, np.float32


def _if_convert(a, b, out, n):
    i = 0
    for _ in range(n):
        i += 2 if a[i] * b[i] > 0 else 1
    out[0] = i


def _tanh_table(value, at, n):
    for place in at:
        x = int(value[place])
        if x <= 0:
            value[place] = x + 128
        elif x < 4000:
            cube = (x * x >> 12) * x >> 12
            value[place] = x - (cube * 1365 >> 12)


def _compact(data, out, count, n):
    found = []
    for v in data:
        found += [v] * int(v & 1) + [-v] * int(v % 3 == 0)
    out[: len(found)], count[0] = found, len(found)


def _run_lengths(data, value, length, count, n):
    starts = np.flatnonzero(np.concatenate([[True], data[1:] != data[:-1]]))
    runs = np.diff([*starts, n])
    value[: len(runs)], length[: len(runs)], count[0] = data[starts], runs, len(runs)


def _row_lengths(text, length, rows, width):
    for r, row in enumerate(text.reshape(rows, width)):
        ends = np.flatnonzero(row == 0)
        length[r] = ends[0] if len(ends) else width


def _rows_of_text(rng):
    text = np.ones((64, 32), np.int8)
    for row, end in zip(text, rng.integers(0, 40, 64), strict=True):
        row[end:] = 0
    return [text.reshape(-1), np.zeros(64, INT), INT(64), INT(32)]


def _random_access(table, mask, seed, n):
    r = int(seed)
    for _ in range(n):
        r = (r << 1 & 0xFFFFFFFF) ^ (7 if r >> 31 else 0)
        table[r & mask] ^= UINT(r)


def _cheapest(weight, height, out, n):
    best = 1 << 30
    for w, h in zip(weight, height, strict=True):
        best = w + h if w < best else best
    out[0] = best


def _md_neighbours(x, y, z, neighbours, fx, atoms, most):
    fx[:] = 0
    for k in range(most):
        j = neighbours.reshape(atoms, most)[:, k]
        dx, dy, dz = x - x[j], y - y[j], z - z[j]
        r2 = FLOAT(1) / (dx * dx + dy * dy + dz * dz)
        r6 = r2 * r2 * r2
        fx += dx * (r2 * r6 * (FLOAT(1.5) * r6 - FLOAT(2)))


def _others(rng, atoms: int, most: int) -> np.ndarray:
    """Neighbours of each atom, itself not among them."""
    others = rng.integers(1, atoms, (atoms, most))
    return ((np.arange(atoms)[:, None] + others) % atoms).astype(INT).reshape(-1)


def _blocks(side: int):
    for bz, by, bx in np.ndindex(side, side, side):
        for nz in range(max(0, bz - 1), min(side, bz + 2)):
            for ny in range(max(0, by - 1), min(side, by + 2)):
                for nx in range(max(0, bx - 1), min(side, bx + 2)):
                    yield (bz * side + by) * side + bx, (nz * side + ny) * side + nx


def _md_grid(count, position, force, side):
    for here, there in _blocks(side):
        for p in range(count[here]):
            delta = position[here * 4 + p] - position[there * 4 : there * 4 + count[there]]
            force[here * 4 + p] += delta[delta * delta < 64].sum()


def _collatz(start, steps, n):
    for i, x in enumerate(int(value) for value in start):
        while x != 1:
            x, steps[i] = (3 * x + 1 if x & 1 else x >> 1), steps[i] + 1


def _collatz_bound(arguments, _) -> int:
    start, steps, n = (np.copy(argument) for argument in arguments)
    _collatz(start, steps, n)
    return int(steps.sum())


CASES = (
    Case(
        "irregular.cl",
        "if_convert",
        lambda rng: [
            rng.integers(-9, 2, 1024).astype(INT),
            rng.integers(1, 9, 1024).astype(INT),
            np.zeros(1, INT),
            INT(400),
        ],
        _if_convert,
        lambda arguments, _: 400,  # with the branch predicted; a load and a product stand in the recurrence otherwise
    ),
    Case(
        "irregular.cl",
        "tanh_table",
        lambda rng: [rng.integers(-400, 6000, 512).astype(INT), rng.integers(0, 512, 512).astype(INT), INT(512)],
        _tanh_table,
        lambda arguments, _: 512,
    ),
    Case(
        "irregular.cl",
        "compact",
        lambda rng: [rng.integers(0, 999, 800).astype(INT), np.zeros(1600, INT), np.zeros(1, INT), INT(800)],
        _compact,
        lambda arguments, _: 800,
    ),
    Case(
        "irregular.cl",
        "run_lengths",
        lambda rng: [
            np.repeat(rng.integers(0, 99, 400), rng.integers(1, 5, 400))[:800].astype(INT),
            np.zeros(800, INT),
            np.zeros(800, INT),
            np.zeros(1, INT),
            INT(800),
        ],
        _run_lengths,
        lambda arguments, _: 799,
    ),
    Case(
        "irregular.cl",
        "row_lengths",
        _rows_of_text,
        _row_lengths,
        lambda arguments, _: int((arguments[0] != 0).sum()),  # the test that ends a row needs no cycle of its own
    ),
    Case(
        "irregular.cl",
        "random_access",
        lambda rng: [rng.integers(0, 1 << 32, 1024).astype(UINT), UINT(1023), UINT(123456789), INT(800)],
        _random_access,
        lambda arguments, _: 800,
    ),
    Case(
        "irregular.cl",
        "cheapest",
        lambda rng: [
            rng.integers(0, 1 << 20, 1000).astype(INT),
            rng.integers(0, 99, 1000).astype(INT),
            np.zeros(1, INT),
            INT(1000),
        ],
        _cheapest,
        lambda arguments, _: 1000,
    ),
    Case(
        "irregular.cl",
        "md_neighbours",
        lambda rng: [
            *(rng.uniform(-9, 9, 64).astype(FLOAT) for _ in range(3)),
            _others(rng, 64, 12),
            np.zeros(64, FLOAT),
            INT(64),
            INT(12),
        ],
        _md_neighbours,
        lambda arguments, _: 64 * 12,
    ),
    Case(
        "irregular.cl",
        "md_grid",
        lambda rng: [
            rng.integers(1, 5, 27).astype(INT),
            rng.integers(0, 40, 108).astype(INT),
            np.zeros(108, INT),
            INT(3),
        ],
        _md_grid,
        lambda arguments, _: int(sum(arguments[0][here] * arguments[0][there] for here, there in _blocks(3))),
    ),
    Case(
        "irregular.cl",
        "collatz",
        lambda rng: [rng.integers(2, 5000, 100).astype(UINT), np.zeros(100, INT), INT(100)],
        _collatz,
        _collatz_bound,
    ),
)
