"""Stores of one iteration that may overlap: which are serialized in a loop of their own, and that the last one still
wins."""

import random

import numpy as np
import pytest
from test_transforms import compiled, same

from hls.ir import Attr, walk

HEAD = (
    "kernel void k(global const int *restrict a, global int *restrict b, global int *restrict c, global int *d, "
    "global int *e, "
    "global volatile int *restrict f, int n)"
)


def turns(function) -> list[int]:
    return [op.attrs[Attr.TURNS] for op in walk(function.body) if Attr.TURNS in op.attrs]


def check(body: str, expected: list[int], **options):
    module, function = compiled(f"{HEAD} {{ {body} }}", hazards=True, **options)
    assert turns(function) == expected
    for n in (0, 1, 2, 9):
        rng = np.random.default_rng(n)
        same(module, function, {name: rng.integers(0, 16, 64).astype(np.int32) for name in "abcdef"}, {"n": n})


@pytest.mark.parametrize(
    "body, expected",
    [
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; b[a[i + 1]] = -i; }", [2]),
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; if (a[i] & 1) b[a[i + 1]] = -i; }", [2]),
        ("for (int i = 0; i < n; i++) { if (a[i] & 2) { b[a[i]] = i; if (a[i] & 1) b[a[i + 1]] = -i; } }", [2]),
        ('_Pragma("unroll 4") for (int i = 0; i < n; i++) b[a[i]] = i;', [4]),
        ("for (int i = 0; i < n; i++) { b[i] = i; b[i + 20] = -i; }", [2]),  # meet 20 iterations later
        ("for (int i = 0; i < n; i++) { b[2 * i] = i; b[2 * i + 25] = -i; }", []),  # never meet
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; c[a[i + 1]] = -i; }", []),  # restrict
        ("for (int i = 0; i < n; i++) { d[a[i]] = i; d[a[i + 1]] = -i; }", [2]),
        ("for (int i = 0; i < n; i++) { d[a[i]] = i; e[0] = i; d[a[i + 1]] = -i; }", []),  # e may be d
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; b[a[i + 1]] = b[i]; }", []),  # is read: addresses are compared
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; c[i] = i; b[a[i + 1]] = 2; c[a[i]] = 5; }", [2, 2]),
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; for (int j = 0; j < i; j++) c[j] += j; b[a[i + 1]] = 2; }", [2]),
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; for (int j = 0; j < i; j++) b[j] = j; b[a[i + 1]] = 2; }", []),
        ("for (int i = 0; i < n; i++) { b[a[i]] = i; ((global char *)b)[a[i + 1]] = 2; }", []),  # of different sizes
        ("for (int i = 0; i < n; i++) { f[a[i]] = i; f[a[i + 1]] = -i; }", [2]),  # volatile: each is made, in order
        ("b[a[0]] = n; b[a[1]] = -n;", []),  # in no loop: waits once
    ],
    ids=range(16),
)
def test_stores(body, expected):
    check(body, expected)


ROWS = HEAD.replace(", int n)", ", int n) { int i = get_global_id(0); ")


@pytest.mark.parametrize(
    "body, expected",
    [
        (
            (
                "int x = a[i]; b[i] = x; b[n + i] = x + 1; b[2 * n + i] = -x; if (x & 1) b[3 * n + i] = x * 3; b[4 * n + "
                "i] = x ^ 5;"
            ),
            [],
        ),
        ("b[n + i] = 1; if (a[i] & 1) b[3 * n + i] = 2; b[2 * n + i + 1] = 3;", []),
        ("b[i] = 1; b[a[i]] = 2; b[n + i] = 3;", [3]),  # not at one distance for all
        ("for (int k = 0; k < 3; k++) { b[k] = 1; b[n + k] = 2; }", [2]),  # of iterations, which keep their order
    ],
    ids=range(4),
)
def test_rows_of_one_buffer_have_units_of_their_own(body, expected):
    """Work-items that write to rows whose length nobody knows: where it is so short that rows meet, only the last one's
    store is made."""
    module, function = compiled(f"{ROWS} {body} }}", hazards=True)
    assert turns(function) == expected and not [op for op in walk(function.body) if op.opcode == "fence"]
    for n in (0, 9):
        data = {name: np.random.default_rng(n).integers(0, 8, 64).astype(np.int32) for name in "abcdef"}
        same(module, function, data, {"n": n}, (9,))


def test_memory_that_never_waits_needs_no_turns():
    _, function = compiled(f"{HEAD} {{ for (int i = 0; i < n; i++) {{ b[a[i]] = i; b[a[i + 1]] = -i; }} }}")
    assert turns(function) == []


@pytest.mark.parametrize("seed", range(12))
def test_random(seed):
    """Any stores under any conditions, in loops of any shape."""
    rng = random.Random(seed)

    def store():
        guard = rng.choice(["", f"if (a[i] & {rng.choice([1, 2, 4])}) ", f"if (i > {rng.randrange(4)}) "])
        index = rng.choice(["a[i]", "a[i + 1]", "i", "15 - i", "(i * 3) & 7", "a[(a[i] & 3) + i]"])
        return f"{guard}{rng.choice('bbbc')}[{index}] = {rng.randrange(99)} + i;"

    body = " ".join(store() for _ in range(rng.randrange(2, 7)))
    unroll = rng.choice(["", '_Pragma("unroll 2") ', '_Pragma("unroll 3") '])
    module, function = compiled(f"{HEAD} {{ {unroll}for (int i = 0; i < n; i++) {{ {body} }} }}", hazards=True)
    for n in (0, 1, 5, 9):
        data = np.random.default_rng(n)
        same(module, function, {name: data.integers(0, 16, 64).astype(np.int32) for name in "abcdef"}, {"n": n})
