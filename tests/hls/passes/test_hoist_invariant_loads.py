"""Hoisting of loop-invariant loads: which leave their loop, which stay, and that the result is the same."""

import numpy as np
import pytest
from test_transforms import compiled, loops, same

from hls.ir import memory_name, walk
from hls.ir.parser import parse_module
from hls.passes.memory.hoist_loads import HoistLoads

HEAD = (
    "kernel void k(global const int *restrict a, global int *restrict b, global int *c, global volatile int "
    "*restrict d, int n)"
)


def inside(function) -> list[str]:
    """Memories that loops still load from."""
    return sorted(
        memory_name(op)
        for loop in loops(function)
        for region in loop.regions
        for op in region.ops
        if op.opcode == "load"
    )


def check(body: str, stays: str, sizes=(0, 1, 2, 7), **options):
    module, function = compiled(f"{HEAD} {{ {body} }}", **options)
    assert inside(function) == list(stays)
    for n in sizes:
        rng = np.random.default_rng(n)
        same(module, function, {name: rng.integers(0, 9, 96).astype(np.int32) for name in "abcd"}, {"n": n})
    return function


@pytest.mark.parametrize(
    "body, stays",
    [
        ("for (int i = 0; i < a[0]; i++) b[i] = i;", ""),
        ("for (int i = a[n]; i < a[n] + a[n + 1]; i++) b[i] = i;", ""),
        # both at once, in the loop over t
        ("for (int t = 0; t < n; t++) for (int i = a[t]; i < a[t] + a[t + 1]; i++) b[i] = t;", "a"),
        ("for (int t = 0; t < n; t++) if (a[t] & 1) for (int i = 0; i < a[t + 1]; i++) b[i] = t;", "aa"),
        ("for (int i = 0; i < n; i++) b[i] = a[3] * i;", ""),
        ("for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) b[j * 8 + i] = a[3] * i;", ""),
        ("for (int i = 0; i < n; i++) if (n > 3) b[i] = a[3] * i;", ""),  # under a condition that stays the same
        ("for (int i = 0; i < n; i++) if (i > 3) b[i] = a[3] * i;", "a"),  # the program might not read it at all
        # read before the first iteration in any case
        ("for (int i = 0; i < a[0]; i++) { if (i == 5) break; b[i] = i; }", ""),
        ("for (int i = 0; i < a[0]; i++) b[i] = a[i];", "a"),
        ("for (int i = 0; i < a[0]; i++) c[i] = i;", ""),  # a is restrict
        ("for (int i = 0; i < c[0]; i++) b[i] = i;", ""),
        ("for (int i = 0; i < c[0]; i++) c[i + 1] = i;", "c"),
        ("for (int i = 0; i < b[0]; i++) atomic_add(&b[i + 1], 1);", "b"),
        ("for (int i = 0; i < d[0]; i++) b[i] = i;", "d"),
        (
            "for (int i = 0; i < a[0]; i++) { b[i] = i; mem_fence(CLK_GLOBAL_MEM_FENCE); }",
            "",
        ),  # between a work-item's own
    ],
    ids=range(16),
)
def test_loads(body, stays):
    check(body, stays)


def test_the_same_place_in_two_overlapping_buffers():
    """Neither pointer is restrict, so a store through one may be what the other reads."""
    text = "kernel void k(global int *a, global int *c, int n) { for (int i = 0; i < a[0]; i++) c[i + 1] = i; }"
    _, function = compiled(text)
    assert inside(function) == ["a"]


def test_behind_a_barrier_other_work_items_may_have_written():
    text = (
        "__attribute__((reqd_work_group_size(4, 1, 1))) kernel void k(global int *restrict a, global int *restrict "
        "b, int n) {"
        "for (int i = 0; i < a[0]; i++) { barrier(CLK_GLOBAL_MEM_FENCE); b[get_global_id(0)] = i; } a[0] = 1; }"
    )
    _, function = compiled(text)
    # the first bound, and that of each other iteration
    assert sum(op.opcode == "load" for op in walk(function.body)) == 2
    _, function = compiled(text.replace("a[0] = 1;", ""))
    assert sum(op.opcode == "load" for op in walk(function.body)) == 1


def test_an_equal_address_is_one_place_also_where_it_is_computed_again():
    """Nothing has joined equal computations yet: the bound that is read before the loop is that of its iterations."""
    (function,) = parse_module(
        """kernel @k(%n.0: i32) {
  memory a: global i32 x ?
  %1: i1 = const {value = 1}
  %2: i64 = sext %n.0
  %3: ptr = addr %2 {mem = "a"}
  %first.4: i32 = load %3, %1
  %5: i1 = slt %n.0, %first.4
  %6: i32 = loop %5, %n.0 {
    (%i.7: i32):
    %8: i64 = sext %n.0
    %9: ptr = addr %8 {mem = "a"}
    %again.10: i32 = load %9, %1
    %11: i32 = add %i.7, %again.10
    %12: i1 = slt %11, %again.10
    yield %12, %11
  }
  return
}
"""
    ).functions.values()
    result = HoistLoads().run(function)
    assert [op.result.name for op in walk(result.body) if op.opcode == "load"] == ["first"]
