"""Which accesses are coalesced, which are not, and that the result is the same. Random kernels are in test_random."""

import numpy as np
import pytest
from test_transforms import compiled, same

from hls.ir import ArrayType, lane_mask, moved_type, walk
from hls.ir.rewrite import constant

pytestmark = pytest.mark.usefixtures("through_memory")
ARGS = "kernel void k(global const int *restrict a, global int *restrict b, global int *c, int n)"
LOOP = "for (int i = 1; i < n; i++)"


def accesses(function, opcode):
    """(bytes from the first to the last, members) of each access."""
    return [(moved_type(op).bytes, op.attrs.get("members", 1)) for op in walk(function.body) if op.opcode == opcode]


def check(text, loads, stores, sizes=(0, 1, 2, 5, 9), **options):
    module, function = compiled(text, **options)
    assert accesses(function, "load") == loads
    assert accesses(function, "store") == stores
    for n in sizes:
        rng = np.random.default_rng(n)
        same(module, function, {name: rng.integers(-99, 99, 64).astype(np.int32) for name in "abc"}, {"n": n})
    return function


@pytest.mark.parametrize(
    "body, loads, stores",
    [
        (f"{LOOP} b[i] = a[i - 1] + a[i] + a[i + 1];", [(12, 3)], [(4, 1)]),
        (f"{LOOP} b[i] = a[3 * i] + a[3 * i + 2];", [(12, 2)], [(4, 1)]),  # a hole
        (f"{LOOP} {{ b[2 * i + 1] = a[i]; b[2 * i] = i; }}", [(4, 1)], [(8, 2)]),
        (f"{LOOP} b[i] = a[i] + a[i + 16];", [(4, 1), (4, 1)], [(4, 1)]),  # farther apart than a word
        (f"{LOOP} {{ int x = b[i]; b[i] = x + b[i + 1]; }}", [(8, 2)], [(4, 1)]),
        (f"{LOOP} {{ b[i] = i; c[i] = b[i - 1] + b[i]; }}", [(8, 2)], [(4, 1), (4, 1)]),
        # a store between
        (f"{LOOP} {{ int x = b[i - 1]; b[i] = i; c[i] = x + b[i]; }}", [(4, 1), (4, 1)], [(4, 1), (4, 1)]),
        (f"{LOOP} {{ int x = c[i]; b[i] = x; c[i + 1] = x + c[i + 1]; }}", [(8, 2)], [(4, 1), (4, 1)]),  # b is restrict
        (f"{LOOP} {{ c[i] = a[i]; b[i] = a[i + 1]; }}", [(8, 2)], [(4, 1), (4, 1)]),
        (f"{LOOP} {{ b[i] = 1; b[i + 1] = a[i]; b[i] = 3; }}", [(4, 1)], [(8, 2)]),  # the last one counts
        (f"{LOOP} {{ b[i] = 1; c[i] = b[i + 1]; b[i + 1] = 2; }}", [(4, 1)], [(4, 1), (8, 2)]),
        (f"{LOOP} {{ b[i] = 1; c[i] = b[i]; b[i + 1] = 2; }}", [(4, 1)], [(4, 1), (4, 1), (4, 1)]),  # a load between
        (f"{LOOP} if (a[i] > 0) b[i] = a[i + 1];", [(4, 1), (4, 1)], [(4, 1)]),  # the second waits for the first
        (f"{LOOP} b[i] = i & 1 ? a[i] : a[i + 1];", [(8, 2)], [(4, 1)]),
        (f"{LOOP} b[a[i] & 31] = a[(a[i] & 7) + 1] + a[a[i] & 7];", [(4, 3), (8, 2)], [(4, 1)]),
        ("for (int i = n - 1; i >= 0; i--) { b[2 * i] = a[i]; b[2 * i + 1] = -a[i]; }", [(4, 2)], [(8, 2)]),
    ],
    ids=range(16),
)
def test_groups(body, loads, stores):
    check(f"{ARGS} {{ {body} }}", loads, stores)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = 0; i < n; i++)",
        "for (int i = n - 1; i >= 0; i--)",
        "for (uint i = 0; i < (uint)n; i++)",
        "for (int i = 0; i <= n; i += 2)",
    ],
)
def test_copies_of_a_loop(loop):
    """A tail is a matter of the mask; the leading copy always runs."""
    step = 8 if "+= 2" not in loop else 15
    function = check(
        f"{ARGS} {{\n#pragma unroll 8\n{loop} b[i] = a[i] * 3; }}",
        [(4 * step, 8)],
        [(4 * step, 8)],
        sizes=(*range(10), 17),
    )
    for op in walk(function.body):
        if lane_mask(op) if op.opcode in ("load", "store") else False:
            assert constant(op.operands[1 if op.opcode == "load" else 2]) == 1


@pytest.mark.parametrize("body", ["if (a[i] & 1) b[i] = c[i];", "b[i] = a[i] > 0 ? c[i] : 7;"])
def test_conditions_from_memory(body):
    """What the copies load under conditions that they load is joined as well: the conditions are one access, made
    before."""
    check(
        f"{ARGS} {{\n#pragma unroll 4\nfor (int i = 0; i < n; i++) {body} }}",
        [(16, 4), (16, 4)],
        [(16, 4)],
        sizes=(*range(7), 17),
    )


def test_a_group_is_no_larger_than_a_word():
    text = f"{ARGS} {{\n#pragma unroll 24\nfor (int i = 0; i < n; i++) b[i] = a[i]; }}"
    check(text, [(64, 16), (32, 8)], [(64, 16), (32, 8)])
    check(text, [(16, 4)] * 6, [(16, 4)] * 6, word_bytes=16)


def test_equal_loads_are_made_once_on_any_board():
    body = f"{LOOP} b[i] = a[i] * a[i] + a[i + 1] + (i & 3 ? a[i] : 5);"
    function = check(f"{ARGS} {{ {body} }}", [(4, 3), (4, 1)], [(4, 1)], word_bytes=0)
    assert not any(isinstance(v.type, ArrayType) for op in walk(function.body) for v in op.results)


def test_loads_with_a_store_between_are_not_equal():
    check(f"{ARGS} {{ {LOOP} {{ int x = b[i]; b[i] = a[i]; c[i] = x + b[i]; }} }}", [(4, 1)] * 3, [(4, 1)] * 2)


def test_volatile_is_left_alone():
    text = "kernel void k(global volatile int *a, global int *restrict b, global int *c, int n)"
    check(f"{text} {{ {LOOP} b[i] = a[i] + a[i] + a[i + 1]; }}", [(4, 1)] * 3, [(4, 1)])


def test_loops_between_are_looked_into():
    inner = "for (int j = 0; j < n; j++) b[j] = j;"
    check(
        f"{ARGS} {{ for (int i = 0; i < 3; i++) {{ int x = b[i]; {inner} c[i] = x + b[i]; }} }}",
        [(4, 1)] * 2,
        [(4, 1)] * 2,
    )
    check(
        f"{ARGS} {{ for (int i = 0; i < 3; i++) {{ int x = a[i]; {inner} c[i] = x + a[i + 1]; }} }}",
        [(8, 2)],
        [(4, 1)] * 2,
    )


def test_pieces_of_different_sizes():
    """Views of one buffer with partial overlaps; lanes are as small as the smallest step."""
    views = "global const uchar *p = (global const uchar *)a; global const short *h = (global const short *)a;"
    check(f"{ARGS} {{ {views} {LOOP} b[i] = a[i] + p[4 * i + 5] + h[2 * i + 1]; }}", [(6, 3)], [(4, 1)])
    out = "global uchar *p = (global uchar *)b;"
    check(f"{ARGS} {{ {out} {LOOP} {{ b[i] = a[i]; p[4 * i + 1] = 7; p[4 * i + 4] = i; }} }}", [(4, 1)], [(5, 3)])


def test_floats_keep_their_bits():
    module, function = compiled(
        "kernel void k(global const float *restrict x, global float *restrict y, int n) {"
        "for (int i = 0; i < n; i++) { y[2 * i] = x[2 * i + 1]; y[2 * i + 1] = x[2 * i]; } }"
    )
    assert accesses(function, "load") == [(8, 2)] and accesses(function, "store") == [(8, 2)]
    x = np.array([1.5, -0.0, np.inf, 1e-42, 3, 7], np.float32)
    same(module, function, {"x": x, "y": np.zeros(6, np.float32)}, {"n": 3})


def test_vectors_join_and_are_joined():
    views = "global const int4 *v = (global const int4 *)a; global int2 *w = (global int2 *)b;"
    loop = "for (int i = 0; i < n && i < 5; i++)"
    check(f"{ARGS} {{ {views} {loop} b[i] = v[2 * i].x + v[2 * i + 1].w; }}", [(32, 2)], [(4, 1)])
    check(
        f"{ARGS} {{ {views} {loop} {{ int4 x = v[2 * i]; w[2 * i] = x.yx; w[2 * i + 1] = x.wz; }} }}",
        [(16, 1)],
        [(16, 2)],
    )
    check(f"{ARGS} {{ {views} {loop} b[i] = v[i].y + a[4 * i + 4]; }}", [(16, 2)], [(4, 1)])


def test_addresses_from_data_are_not_joined_where_the_memory_is_written():
    """A hazard unit compares the address of each; a whole span it could not."""
    body = f"{LOOP} {{ int k = a[i] & 15; b[k] = b[k] + b[k + 1]; }}"
    check(f"{ARGS} {{ {body} }}", [(4, 1), (4, 1), (4, 1)], [(4, 1)])
    check(f"{ARGS} {{ {LOOP} {{ int k = a[i] & 15; c[i] = b[k] + b[k + 1]; }} }}", [(4, 1), (8, 2)], [(4, 1)])


def test_what_no_other_iteration_stores_to_is_joined_in_place():
    """Whatever the address is made of: work-items have no order, and rows lie apart."""
    items = "int g = get_global_id(0); b[2 * g] += a[2 * g]; b[2 * g + 1] += a[2 * g + 1];"
    rows = "for (int i = 0; i < 4; i++)\n#pragma unroll 4\nfor (int j = 0; j < n; j++) b[i * n + j] += a[j];"
    _, function = compiled(f"{ARGS} {{ {items} }}")
    assert accesses(function, "load") == [(8, 2)] * 2 and accesses(function, "store") == [(8, 2)]
    check(f"{ARGS} {{ {rows} }}", [(16, 4)] * 2, [(16, 4)])
