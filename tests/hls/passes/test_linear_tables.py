"""Constant tables that are linear over GF(2) become XORs of bits of the index; other large tables stay memories."""

import random

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import Function, walk
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize


def table(rng: random.Random, bits: int, width: int, start: int) -> list[int]:
    """The XOR, for each number of ``bits`` bits, of the columns of the bits that are set, and ``start``."""
    columns = [rng.getrandbits(width) for _ in range(bits)]
    numbers = []
    for k in range(1 << bits):
        number = start
        for place, column in enumerate(columns):
            number ^= column if k >> place & 1 else 0
        numbers.append(number)
    return numbers


def source(rows: list[list[int]], type: str, index: str) -> str:
    text = ", ".join("{" + ", ".join(f"0x{number:x}" for number in row) + "}" for row in rows)
    return (
        f"__constant {type} T[{len(rows)}][{len(rows[0])}] = {{{text}}};\n"
        f"__kernel void k(__global const uint *restrict a, __global {type} *restrict o, int n) {{\n"
        f"    for (int i = 0; i < n; i++) {{ uint x = a[i]; o[i] = {index}; }}\n}}"
    )


def optimized(text: str) -> Function:
    return optimize(parse_source(text, "k.cl", {}, []).module, PipelineOptions(check=True)).kernels[0]


def has_table(function: Function) -> bool:
    return any(op.opcode == "addr" and op.attrs["mem"] == "T" for op in walk(function.body))


@pytest.mark.parametrize("seed", range(6))
def test_the_same_numbers(seed):
    rng = random.Random(seed)
    type, width = rng.choice([("uint", 32), ("ushort", 16), ("uchar", 8), ("ulong", 64)])
    bits, rows = rng.choice([7, 8, 9]), rng.choice([1, 3, 8])
    given = [table(rng, bits, width, rng.choice([0, rng.getrandbits(width)])) for _ in range(rows)]
    row = rng.randrange(rows)
    function = optimized(source(given, type, f"T[{row}][(x >> 3) & {(1 << bits) - 1}]"))
    numbers = np.array([rng.getrandbits(32) for _ in range(50)], "u4")
    out = np.zeros(50, f"u{width // 8}")
    run_kernel(function, "k", {"a": numbers, "o": out}, {"n": 50})
    assert out.tolist() == [given[row][int(x) >> 3 & (1 << bits) - 1] for x in numbers]
    assert not has_table(function)


def test_one_wrong_element_is_noticed():
    rng = random.Random(7)
    row = table(rng, 8, 32, 0)
    row[rng.randrange(3, 256)] ^= 1 << 9
    assert has_table(optimized(source([row], "uint", "T[0][x & 255]")))


@pytest.mark.parametrize(
    "index, computed",
    [
        ("T[3][x & 255]", True),
        ("T[3][x >> 24]", True),
        ("T[3][(uchar)x]", True),
        ("T[x & 3][x >> 24]", False),  # the row is not known
        ("T[3][(x & 127) + 1]", False),
        ("((__constant uint *)T)[x & 127]", True),
    ],
)
def test_which_rows_are_computed(index, computed):
    rng = random.Random(8)
    rows = [table(rng, 8, 32, rng.getrandbits(32)) for _ in range(4)]
    assert has_table(optimized(source(rows, "uint", index))) != computed
