"""Nests that are one loop by the test of the inner loop compute the same; nests without such a test stay."""

import pytest

from tests.programs.tested_nests import ARGS, differences, merged_nests, random_nest


def kernel(nest: str) -> str:
    return f"__kernel void k({ARGS}) {{ int q = 5, s = 0; for (int i = 0; i < n; i++) {{ {nest} }} a[63] = q + s; }}"


@pytest.mark.parametrize("seed", range(6))
def test_random_nests_compute_the_same(seed):
    assert differences(random_nest(seed), seed) == []


@pytest.mark.parametrize(
    "nest",
    [
        "while (q > 0 && c[q & 63] != c[i & 63]) q = c[q & 63] % q; if (c[q & 63] == c[i & 63]) q++;",
        "int t = c[i & 63]; while (q > t) { q--; s += q; } q += 3;",
        "for (int j = 0; j < (q & 3); j++) s += c[(i + j) & 63]; q = s & 7;",
        "while (q > 0) { if (c[q & 63] == i) break; q--; } q += 3;",
        # stored before the test, as in the source
        "while (q > 0 && b[q & 63] < i) { b[(q + 1) & 63] = i; q >>= 1; } b[i & 63] = q; q += 4;",
    ],
)
def test_nests_that_are_one_loop(nest):
    text = kernel(nest)
    assert merged_nests(text) == 1 and differences(text, 1) == []


@pytest.mark.parametrize(
    "nest",
    [
        "do q >>= 1; while (q > i); q += 9;",  # begins without a test
        "while (q > 0) { s++; if (c[q & 63] == i) break; q--; } q += s;",  # two ways to end, behind a change
        "while (q > 0) q--; while (s > 0) s--; q += i;",  # two inner loops
        "if (i & 1) while (q > 0) q--; q += i;",  # under a condition
    ],
)
def test_nests_that_stay(nest):
    text = kernel(nest)
    assert merged_nests(text) == 0 and differences(text, 1) == []
