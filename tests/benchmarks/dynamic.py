"""Dynamic programming and string matching (kernels/dynamic.cl)."""

import numpy as np

from .case import Case

__all__ = ["CASES"]

INT = np.int32


def _nw(first, second, score, t, penalty, n):
    t = t.reshape(n + 1, n + 1)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            match = t[i - 1, j - 1] + score[first[i - 1] * 4 + second[j - 1]]
            t[i, j] = max(match, t[i - 1, j] - penalty, t[i, j - 1] - penalty)


def _border(n: int, penalty: int) -> np.ndarray:
    t = np.zeros((n + 1, n + 1), INT)
    t[0], t[:, 0] = -penalty * np.arange(n + 1), -penalty * np.arange(n + 1)
    return t.reshape(-1)


def _text(rng, n: int, letters: int = 4) -> np.ndarray:
    return rng.integers(0, letters, n).astype(np.uint8)


def _two_texts(rng):
    return [_text(rng, N), _text(rng, N), np.zeros(1, INT), INT(N)]


def _lcs(a, b, length, n):
    rows = np.zeros((n + 1, n + 1), INT)
    for i in range(n):
        for j in range(n):
            rows[i + 1, j + 1] = rows[i, j] + 1 if a[i] == b[j] else max(rows[i, j + 1], rows[i + 1, j])
    length[0] = rows[n, n]


def _edit_distance(a, b, out, n):
    rows = np.zeros((n + 1, n + 1), INT)
    rows[0], rows[:, 0] = np.arange(n + 1), np.arange(n + 1)
    for i in range(n):
        for j in range(n):
            rows[i + 1, j + 1] = min(rows[i, j + 1] + 1, rows[i + 1, j] + 1, rows[i, j] + (a[i] != b[j]))
    out[0] = rows[n, n]


def _viterbi(seen, start, step, emit, cost, length):
    step, emit, cost = step.reshape(16, 16), emit.reshape(16, -1), cost.reshape(length, 16)
    cost[0] = start + emit[:, seen[0]]
    for t in range(1, length):
        cost[t] = (cost[t - 1][:, None] + step).min(axis=0) + emit[:, seen[t]]


def _knapsack(weight, value, best, items, capacity):
    best[:] = 0
    for i in range(items):
        w = weight[i]
        best[w:] = np.maximum(best[w:], best[: capacity + 1 - w] + value[i])


def _floyd_warshall(d, n):
    d = d.reshape(n, n)
    for k in range(n):
        d[:] = np.minimum(d, d[:, k, None] + d[k, None, :])


def _distances(rng, n: int) -> np.ndarray:
    d = rng.integers(1, 1000, (n, n)).astype(INT)
    d[np.diag_indices(n)] = 0
    return d.reshape(-1)


def _failures(pattern) -> list[int]:
    following, k = [0], 0
    for letter in pattern[1:]:
        while k and pattern[k] != letter:
            k = following[k - 1]
        k += pattern[k] == letter
        following.append(int(k))
    return following


def _kmp(pattern, text, matches, m, n):
    matches[0], _ = _walk(pattern, text, m)


def _walk(pattern, text, m) -> tuple[int, int]:
    """Matches, and the steps of the automaton: letters and falls."""
    following, found, q, falls = _failures(pattern), 0, 0, 0
    for letter in text:
        while q and pattern[q] != letter:
            q, falls = following[q - 1], falls + 1
        q += int(pattern[q] == letter)
        if q >= m:
            found, q = found + 1, following[q - 1]
    return found, len(text) + falls


def _table(rng):
    return [
        rng.integers(0, 60, 16).astype(INT),
        rng.integers(1, 60, 256).astype(INT),
        rng.integers(1, 60, 256).astype(INT),
    ]


N = 48

CASES = (
    Case(
        "dynamic.cl",
        "nw",
        lambda rng: [
            rng.integers(0, 4, N).astype(INT),
            rng.integers(0, 4, N).astype(INT),
            rng.integers(-4, 6, 16).astype(INT),
            _border(N, 3),
            INT(3),
            INT(N),
        ],
        _nw,
        lambda arguments, _: N * N,
    ),
    Case("dynamic.cl", "lcs", _two_texts, _lcs, lambda arguments, _: N * N),
    Case("dynamic.cl", "edit_distance", _two_texts, _edit_distance, lambda arguments, _: N * N),
    Case(
        "dynamic.cl",
        "viterbi",
        lambda rng: [_text(rng, 24, 16), *_table(rng), np.zeros(24 * 16, INT), INT(24)],
        _viterbi,
        lambda arguments, _: 23 * 16,  # the loop over 16 earlier states is short enough to be unrolled
    ),
    Case(
        "dynamic.cl",
        "knapsack",
        lambda rng: [
            rng.integers(1, 40, 20).astype(INT),
            rng.integers(1, 99, 20).astype(INT),
            np.zeros(129, INT),
            INT(20),
            INT(128),
        ],
        _knapsack,
        lambda arguments, _: int(sum(129 - w for w in arguments[0])),
    ),
    Case(
        "dynamic.cl",
        "floyd_warshall",
        lambda rng: [_distances(rng, 20), INT(20)],
        _floyd_warshall,
        lambda arguments, _: 20**3,
    ),
    Case(
        "dynamic.cl",
        "kmp",
        lambda rng: [_text(rng, 6, 2), _text(rng, 1500, 2), np.zeros(1, INT), INT(6), INT(1500)],
        _kmp,
        # a letter, or a fall, a cycle: the next state needs the present one
        lambda arguments, _: _walk(arguments[0], arguments[1], 6)[1],
    ),
)
