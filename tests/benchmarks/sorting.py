"""Sorting, merging and searching (kernels/sorting.cl)."""

import numpy as np

from .case import Case

__all__ = ["CASES"]

INT = np.int32


def _sorted(a, *_):
    a[:] = np.sort(a)


def _moves(arguments, _) -> int:
    """Of insertion sort: what every element passes, and its own test that ends the search."""
    a = arguments[0]
    return sum(int((a[:i] > a[i]).sum()) + 1 for i in range(1, len(a)))


def _merge_sort(a, b, n):
    source, target, width = a, b, 1
    while width < n:
        for low in range(0, n, 2 * width):
            target[low : low + 2 * width] = np.sort(source[low : low + 2 * width])
        source, target, width = target, source, 2 * width


def _radix_sort(a, b, n):
    for shift in range(0, 16, 4):
        b[:] = a[np.argsort(a >> shift & 15, kind="stable")]
        a[:] = b


def _merge_lists(a, b, out, n, m):
    out[:] = np.sort(np.concatenate([a, b]), kind="stable")


def _binary_search(table, key, at, n, keys):
    at[:] = np.searchsorted(table, key)


def _tests(arguments, _) -> int:
    """Of the binary searches: how many halves are taken."""
    table, keys, *_ = arguments
    count = 0
    for key in keys:
        low, high = 0, len(table)
        while low < high:
            middle, count = (low + high) // 2, count + 1
            low, high = (middle + 1, high) if table[middle] < key else (low, middle)
    return count


def _arg_max(a, out, n):
    out[0] = np.argmax(a)


def _ints(rng, n: int) -> np.ndarray:
    return rng.integers(0, 1 << 16, n).astype(INT)


CASES = (
    Case("sorting.cl", "insertion_sort", lambda rng: [_ints(rng, 80), INT(80)], _sorted, _moves),
    Case(
        "sorting.cl", "bubble_sort", lambda rng: [_ints(rng, 64), INT(64)], _sorted, lambda arguments, _: 64 * 63 // 2
    ),
    Case(
        "sorting.cl",
        "merge_sort",
        lambda rng: [_ints(rng, 256), np.zeros(256, INT), INT(256)],
        _merge_sort,
        lambda arguments, _: 256 * 8,
    ),
    Case(
        "sorting.cl",
        "radix_sort",
        lambda rng: [_ints(rng, 256).astype(np.uint32), np.zeros(256, np.uint32), INT(256)],
        _radix_sort,
        lambda arguments, _: 4 * (3 * 256 + 32),
    ),
    Case(
        "sorting.cl",
        "merge_lists",
        lambda rng: [np.sort(_ints(rng, 500)), np.sort(_ints(rng, 524)), np.zeros(1024, INT), INT(500), INT(524)],
        _merge_lists,
        lambda arguments, _: 1024,
    ),
    Case(
        "sorting.cl",
        "binary_search",
        lambda rng: [np.sort(_ints(rng, 400)), _ints(rng, 200), np.zeros(200, INT), INT(400), INT(200)],
        _binary_search,
        _tests,
    ),
    Case(
        "sorting.cl",
        "arg_max",
        lambda rng: [_ints(rng, 1000), np.zeros(1, INT), INT(1000)],
        _arg_max,
        lambda arguments, _: 999,
    ),
)
