"""Formulas of cycles: exactly where the cycles are a sum of products of symbols."""

import pytest

from hls.model.symbolic import fitted


@pytest.mark.parametrize(
    ("cycles", "names", "text"),
    [
        (lambda n: 14 + 7 * n["n"], ["n"], "14 + 7*n"),
        (lambda n: 9 + 3 * n["a"] + 0.5 * n["a"] * n["b"], ["a", "b"], "9 + 3*a + 0.5*a*b"),
        (lambda n: n["a"] * n["b"] * n["c"] - 4 * n["c"], ["a", "b", "c"], "-4*c + a*b*c"),
        (lambda n: 5.0, ["n"], "5"),
        (lambda n: max(2 * n["n"], 500), ["n"], "2*n"),
    ],
)
def test_sums_of_products(cycles, names, text):
    assert str(fitted(cycles, names)) == text


def test_where_a_formula_starts():
    found = fitted(lambda n: max(2 * n["n"], 500), ["n"])
    assert found is not None and found.start == 1024


@pytest.mark.parametrize(
    ("cycles", "names"),
    [
        (lambda n: n["n"] ** 2, ["n"]),
        (lambda n: max(n["n"], 3 * n["n"] - 9000), ["n"]),
        (lambda n: max(n["a"], n["b"]), ["a", "b"]),
        (lambda n: 1.0, ["a", "b", "c", "d", "e"]),
    ],
)
def test_no_formula(cycles, names):
    assert fitted(cycles, names) is None
