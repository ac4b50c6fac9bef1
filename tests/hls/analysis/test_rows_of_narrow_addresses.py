"""Rows of a matrix whose length only the launch knows, on a board whose addresses have few bits: narrowing leaves
products of as many bits as an address, and they still tell rows apart."""

import pytest

from tests.plans import planned


def innermost(body: str) -> int:
    """The II of the innermost loop."""
    text = f"__kernel void k(__global float *restrict a, __global float *restrict b, int n) {{ {body} }}"
    loops = planned(text, "ecp5_onchip")["k"].plan.loops
    return next(region.ii for loop, region in loops.items() if loop.attrs["label"] == "j")


def elimination(columns: str) -> str:
    """The row i is not the row k, whose products are a sum that the loop over k carries."""
    return f"""for (int k = 0; k < n - 1; k++)
                   for (int i = k + 1; i < n; i++)
                       for (int j = {columns}; j++)
                           a[i * n + j] -= b[i] * a[k * n + j];"""


@pytest.mark.parametrize("columns", ["0; j < n", "k; j < n", "k + 1; j < n"])
def test_rows_are_told_apart(columns):
    assert innermost(elimination(columns)) == 1


def test_a_column_behind_the_end_of_its_row_is_in_the_next():
    assert innermost(elimination("0; j <= n")) > 1
