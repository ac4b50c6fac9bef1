"""Structs, unions and their layout against PoCL: as output by the frontend and after all passes."""

import numpy as np
import pytest
from pocl import pocl_context, run_both

from hls.frontend import parse_source
from hls.passes.run_stages import optimize


@pytest.fixture(scope="module")
def context():
    return pocl_context()


LAYOUT = """
typedef struct { char a; int b; short c; } Plain;
typedef struct __attribute__((packed)) { char a; int b; short c; } Packed;
typedef struct { char a; float4 v; } Vec;
typedef struct { char a; uchar3 t; long l; } __attribute__((aligned(32))) Wide;
struct Nested { Plain p[2]; union { int i; short s[3]; } u; char end __attribute__((aligned(8))); };
enum Size { SMALL, LARGE = 40, LARGER };
__kernel void k(__global int *o, __global Plain *plain, __global Packed *packed, __global struct Nested *n) {
    o[0] = sizeof(Plain); o[1] = sizeof(Packed); o[2] = sizeof(Vec); o[3] = sizeof(Wide); o[4] = sizeof(struct Nested);
    o[5] = sizeof(n->u); o[6] = LARGER; o[7] = (int)((__global char *)&n->end - (__global char *)n);
    enum Size size = LARGE; o[8] = size;
    for (int i = 0; i < 3; i++) {
        plain[i].b = packed[i].b + i; plain[i].c = packed[i].c; plain[i].a = packed[i].a;
        packed[i].c += 3; packed[i].b *= 2;
    }
    n->p[1] = plain[0]; n->p[0].b = 9; n->u.s[1] = 7; n->u.s[2] = 8; n->end = 'x';
}
"""


def test_layout(context):
    rng = np.random.default_rng(2)
    run_both(
        context,
        LAYOUT,
        "k",
        {
            "o": np.zeros(9, "i4"),
            "plain": np.zeros(36, "u1"),
            "packed": rng.integers(0, 256, 21, "u1"),
            "n": np.zeros(48, "u1"),
        },
    )


VALUES = """
typedef struct { int a; float b; } Pair;
typedef struct { Pair in[3]; int count; float4 v; } Bag;
typedef union { float f; uint u; uchar b[4]; ushort h[2]; } Bits;
Pair made(int a, float b) { Pair p = { a, b }; return p; }
Pair swapped(Pair p) { int t = p.a; p.a = (int)p.b; p.b = t; return p; }
void add(Bag *bag, Pair p) { bag->in[bag->count] = p; bag->count++; }
int total(const Bag *bag) { int s = 0; for (int i = 0; i < bag->count; i++) s += bag->in[i].a; return s; }
Bits flip(Bits x) { x.u ^= 0x80000000u; x.b[0] = 1; return x; }
__constant Pair fixed[2][2] = { { { 1, 2.5f }, { .b = 3.5f, .a = 2 } }, [1] = { [1] = { 7 } } };
__kernel void k(__global const Pair *in, __global Pair *out, __global int *o, Pair by, int n) {
    Bag bag = { .count = 0, .v = (float4)(1, 2, 3, 4) };
    for (int i = 0; i < 3; i++) add(&bag, swapped(in[i]));
    o[0] = total(&bag); o[1] = bag.count + (int)bag.v.z;
    Bag copy = bag; copy.in[1].a += 100; o[2] = copy.in[n & 1].a; o[3] = bag.in[1].a;
    Pair *p = &copy.in[1]; p->b = 2; (*p).a++; o[4] = copy.in[1].a + made(5, 6).a + (p + 1)->a;
    Pair grid[4]; for (int i = 0; i < 4; i++) { grid[i] = made(i, i * 0.5f); grid[i].a += fixed[i >> 1][i & 1].a; }
    out[0] = grid[n]; out[1] = n > 2 ? by : grid[1]; out[2] = (Pair){ 4, 5.0f }; out[3] = swapped(by);
    Bits x; x.f = by.b; x = flip(x); o[5] = x.u; o[6] = x.h[1] + x.b[3]; Bits y = { 3.5f }; o[7] = y.u;
    int m[2][3] = { 1, 2, { 3 }, 4 }; o[8] = m[0][1] * 10 + m[1][0];
    const int t[] = { [2] = 5, 6 }; o[9] = t[n] + sizeof(t);
}
"""


def test_values(context):
    pair = np.dtype([("a", "i4"), ("b", "f4")])
    given = np.array([(1, 2), (3, 4), (5, 6)], pair)
    for n in (2, 3):
        run_both(
            context,
            VALUES,
            "k",
            {
                "in": given,
                "out": np.zeros(4, pair),
                "o": np.zeros(10, "i4"),
                "by": np.array((9, -1.5), pair)[()],
                "n": np.int32(n),
            },
        )


PARTS = """
typedef union { uint u; float f; uchar b[4]; uchar4 v; ushort h[2]; } Word;
typedef union { ulong l; int i[2]; short s[4]; double d; } Wide;
__kernel void k(__global uint *o, __global ulong *w, int n) {
    Word x; x.u = o[0]; x.b[n & 3] = 7; o[1] = x.u + x.b[o[2] & 3]; x.h[n & 1] ^= 0x55; o[3] = x.v.z + x.u; x.f += 1.0f; o[4] = x.u;
    for (int i = 0; i < n; i++) { Word y; y.u = o[i]; y.b[i & 3] += 7; y.v.y = y.h[(i + 1) & 1]; o[i] = y.u; }
    ulong z = w[0]; uchar *p = (uchar *)&z; uint s = 0;
    for (int i = 0; i < 8; i++) { s = s * 31 + p[(i + n) & 7]; if (i & 1) p[i] += n; }
    w[1] = z + s;
    Wide q; q.l = w[2]; for (int i = 0; i < n; i++) q.s[(i * 3) & 3] += q.i[i & 1]; w[3] = q.l;
}
"""


@pytest.mark.parametrize("n", [3, 6])
def test_parts_of_a_number_chosen_at_run_time(context, n):
    rng = np.random.default_rng(n)
    run_both(
        context,
        PARTS,
        "k",
        {"o": rng.integers(0, 1 << 30, 8, "u4"), "w": rng.integers(0, 1 << 62, 4, "u8"), "n": np.int32(n)},
    )


def test_parts_of_a_number_need_no_memory():
    (function,) = optimize(parse_source(PARTS).module).kernels
    assert all(memory.space == "global" for memory in function.memories.values())
