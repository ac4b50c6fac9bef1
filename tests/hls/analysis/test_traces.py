"""Addresses of stores of work-items, in all orders in which the work-items can be combined."""

import numpy as np
import pytest

from hls.analysis.affine.affine import AffineForms
from hls.analysis.dependence import enumerate as enumerate_module
from hls.analysis.dependence.address_slice import PythonEmitter
from hls.analysis.dependence.enumerate import MOST_STEPS, AddressTraces
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


def test_endless_loops_are_not_enumerated(monkeypatch):
    """A nest that never ends would use up all the steps that a kernel has, and so leave none for other nests."""
    runs = []
    run = PythonEmitter.run

    def counted(emitter, steps):
        rows, left = run(emitter, steps)  # raises Exhausted if the steps do not suffice
        runs.append(steps - left)
        return rows, left

    monkeypatch.setattr(PythonEmitter, "run", counted)
    monkeypatch.setattr(enumerate_module, "Exhausted", ZeroDivisionError)  # not caught
    (kernel, _) = planned(
        "channel int c, d;\n"
        "__attribute__((autorun)) __attribute__((max_global_work_dim(0))) __kernel void k() {\n"
        "  int count[4][64];\n  int turn = 0;\n  while (1) {\n"
        "    for (int i = 0; i < 64; i++) count[turn][(i ^ 5) & 63] = 0;\n"
        "    for (int i = 0; i < 64; i++) count[turn][(i * 3) & 63] += read_channel_intel(c);\n"
        "    for (int i = 0; i < 64; i++) write_channel_intel(d, count[turn][(i ^ 9) & 63]);\n"
        "    turn = (turn + 1) & 3;\n  }\n}\n"
        "__kernel void host(__global int *restrict o, int n) {\n"
        "  for (int i = 0; i < n; i++) { write_channel_intel(c, i); o[i] = read_channel_intel(d); }\n}\n"
    ).values()
    stores = [op for op in walk(kernel.function.body) if op.opcode == "store"]
    traces = AddressTraces(AffineForms(kernel.function))
    outer = traces.tree.around(stores[0])[0]
    assert traces.least(stores[0], stores[1], outer, 0, 1) == 1
    assert sum(runs) < 10_000 and traces.left > MOST_STEPS // 2
