"""Rows of a matrix whose length only the launch knows, on a board whose addresses have few bits: narrowing leaves
products of as many bits as an address, and they still tell rows apart. Planning may compare addresses at run time
beside; so the test looks at the order of accesses that the passes leave without that."""

import pytest

from hls.frontend import parse_source
from hls.ir import TokenType, walk
from hls.options import Options
from hls.passes.run_stages import legalize, link_program, optimize
from hls.planning.iterate import Compilation
from hls.target.board import load_board


def waits(columns: str) -> bool:
    """Whether iterations of the innermost loop wait for accesses of earlier ones: the row i is not the row k, whose
    products are a sum that the loop over k carries."""
    text = f"""__kernel void k(__global float *restrict a, __global float *restrict b, int n) {{
                   for (int k = 0; k < n - 1; k++)
                       for (int i = k + 1; i < n; i++)
                           for (int j = {columns}; j++)
                               a[i * n + j] -= b[i] * a[k * n + j]; }}"""
    board = load_board("ecp5_onchip")
    options = Compilation(board, Options()).passes()
    module = legalize(link_program(parse_source(text, "k.cl", {}, []).module), board, options)
    (function,) = optimize(module, options).kernels
    (loop,) = [op for op in walk(function.body) if op.opcode == "loop" and op.attrs["label"] == "j"]
    return any(isinstance(arg.type, TokenType) and not arg.type.between for arg in loop.regions[0].args)


@pytest.mark.parametrize("columns", ["0; j < n", "k; j < n", "k + 1; j < n"])
def test_rows_are_told_apart(columns):
    assert not waits(columns)


def test_a_column_behind_the_end_of_its_row_is_in_the_next():
    assert waits("0; j <= n")
