"""Addresses of stores of work-items, in all orders in which the work-items can be combined."""

import numpy as np
import pytest

from hls.analysis.affine.affine import AffineForms
from hls.analysis.dependence.enumerate import AddressTraces
from hls.driver import compile
from hls.ir import memory_name, walk
from tests.plans import planned

HEAD = (
    "__attribute__((reqd_work_group_size({}))) __kernel void k(__global const int *restrict in, __global int "
    "*restrict out, int n) {{\n"
)
SETUP = (
    "  int x = get_local_id(0), y = get_local_id(1), i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
)
TAIL = "  barrier(CLK_LOCAL_MEM_FENCE);\n  out[i] = t[(x * 7 + y + n) & 31];\n}\n"


def found(group: str, body: str, words: int) -> set[tuple[int, ...]]:
    """For each iteration the words that the stores to ``t`` write, -1 for none; copies for groups are left out."""
    (kernel,) = planned(HEAD.format(group) + SETUP + body + TAIL).values()
    stores = [op for op in walk(kernel.function.body) if op.opcode == "store" and memory_name(op) == "t"]
    ways = AddressTraces(AffineForms(kernel.function)).together(stores, 4 * words)
    return (
        {tuple(offset if offset < 0 else offset // 4 for offset in way) for way in zip(*(ways[op] for op in stores))}
        if ways
        else set()
    )


def test_conditions_of_ids_count():
    body = (
        "  __local int t[64];\n  t[x + 3] = in[i];\n  if (x < 3) t[x] = in[i + n];\n  if (x >= 30) t[x + 6] = "
        "in[i + 2 * n];\n"
    )
    assert found("32, 1, 1", body, 64) == {(x + 3, x if x < 3 else -1, x + 6 if x >= 30 else -1) for x in range(32)}


def test_conditions_of_data_do_not():
    body = "  __local int t[64];\n  int v = in[i];\n  if (v > n) t[x] = v;\n  if (v > 2 * n && x != 5) t[x ^ 32] = v;\n"
    assert found("32, 1, 1", body, 64) == {(x, -1 if x == 5 else x ^ 32) for x in range(32)}


def test_two_dimensions_and_products():
    body = "  __local int t[256];\n  t[(x * y) & 127] = in[i];\n  t[128 + (x ^ y)] = in[i + n];\n"
    assert found("8, 4, 1", body, 256) == {((x * y) & 127, 128 + (x ^ y)) for x in range(8) for y in range(4)}


@pytest.mark.parametrize("size", [16, 64])
def test_pairs_in_rounds(size):
    body = (
        f"  __local int t[{size}];\n  for (int step = {size // 2}; step > 0; step >>= 1) {{\n    int a = 2 * x - (x "
        "& (step - 1)), v = in[i];\n"
        "    t[a] = v;\n    t[a + step] = v + n;\n    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n"
    )
    steps = 1 << np.arange(int(np.log2(size)))
    expected = {
        (2 * x - (x & (step - 1)), 2 * x - (x & (step - 1)) + step)
        for x in range(size // 2)
        for step in map(int, steps)
    }
    assert found(f"{size // 2}, 1, 1", body, size) == expected


def test_what_an_argument_decides_is_not_known():
    body = (
        "  __local int t[64];\n  for (int k = 0; k < n; k++) {\n    t[(x * n + k) & 63] = k;\n    t[x] = in[i];\n  }\n"
    )
    assert found("32, 1, 1", body, 64) == set()


def test_a_kernel_whose_ids_are_narrow_says_how_large_groups_may_be():
    source = (
        "__kernel void k(__global const int *restrict in, __global int *restrict out) {\n  __local int t[256];\n  "
        "int x = get_local_id(0);\n"
        "  t[x] = in[get_global_id(0)];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  out[get_global_id(0)] = t[x ^ 1];\n}\n"
    )
    result = compile(source)
    (kernel,) = result.kernels
    assert kernel.function.attrs["max_work_group_size"] == result.interface.kernels[0].most_work_items == 256
