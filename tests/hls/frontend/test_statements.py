"""Jumps, switches, pointers and scalar built-ins against PoCL: as output by the frontend and after all passes."""

import numpy as np
import pytest
from pocl import pocl_context, run_both

from hls.frontend import parse_source


@pytest.fixture(scope="module")
def context():
    return pocl_context()


GOTO = """
__kernel void k(__global int *o, int n) {
    int s = 0;
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 10; j++) {
            if (i * j == n) goto found;
            if (j == 7) goto next;
            s += i + j;
        }
        s += 1000;
    next:
        s += 1;
        if (s > 500) { s += 5; goto done; }
    }
    s = -1;
    goto done;
found:
    s += 100000;
    if (n == 12) return;
done:
    switch (n) { case 6: if (s > 9) goto out; s = 1; break; default: s += 2; }
    o[0] = s;
out: ;
}
"""


def test_goto(context):
    for n in (12, 6, 3, 99, 0, 49):
        run_both(context, GOTO, "k", {"o": np.zeros(1, "i4"), "n": np.int32(n)})


#: of branches, loops and blocks, forward and backward, over declarations; two ways into a loop that gotos make
ENTERED = """
int entered(int n) {
    int s = 0, again = 0, i = 1, x = n & 7;
    if (n & 1) goto in_then;
    if (n & 2) goto in_loop;
    if (n & 4) goto deep;
    if (n > 20) { s += 1; in_then: s += 2; if (n & 8) goto in_else; s += 4; }
    else { s += 8; in_else: s += 16; }
    for (i = 0; i < 3; i++) { s += 100; in_loop: s += 1000; if (n & 16 && again++ < 2) goto deep; }
    { int t; x = n; while (x-- > 5) { if (x & 1) { s ^= x; deep: t = s + 3; s = t; } else s += 7; } }
    if (s % 5 == 1 && again++ < 3) goto in_else;
    return s;
}
__kernel void k(__global int *o, int n) {
    int s = 1;
    if (n & 1) goto middle;
top: s = 3 * s + 1;
middle: s += n--;
    if (n > 0 && s < 1000) goto top;
    o[0] = s;
    for (int i = 0; i < 4; i++) o[i + 1] = entered(o[0] + n * i);
}
"""


def test_gotos_into_blocks(context):
    for n in (0, 3, 6, 9, 20, 23):
        run_both(context, ENTERED, "k", {"o": np.zeros(5, "i4"), "n": np.int32(n)})


POINTERS = """
int sum(__global const int *p, __global const int *end) { int s = 0; while (p != end) s += *p++; return s; }
void fill(int *p, int *end, int v) { for (; p < end; ++p, v *= 2) *p = v; }
__kernel void k(__global const int *a, __global int *o, int n) {
    int t[8], *q = t + 6, *r = &t[1];
    fill(t, t + 8, n);
    o[0] = sum(a + 1, a + n); o[1] = q - r; o[2] = *--q + q[-2] + *(r + 1); o[3] = r <= q; o[4] = q == &t[5];
    __global const int *c = n > 3 ? a : o;
    o[5] = c[2] + (c == a) * 100; o[6] = (int)sizeof(t) / (int)sizeof *t;
    const __global uchar *bytes = (const __global uchar *)(a + 1); o[7] = bytes[0] | bytes[3] << 8;
    int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }, (*row)[3] = &m[1]; o[8] = (*row)[2] + (&m[0][0])[4];
    char u = 'a' + '\\x01'; u <<= 1; u ^= 5; u %= 7; o[9] = u; o[10] = (n, n + 1, -n); short w = 70000; o[11] = w--; o[12] = ~w | -w;
    ulong big = ULONG_MAX; big /= 3; o[13] = (int)(big >> 33); o[14] = 7 / -2 * 10 + -7 % 3; o[15] = (uchar)300 + (char)200;
}
"""


def test_pointers_and_integers(context):
    a = np.random.default_rng(5).integers(-1000, 1000, 8, "i4")
    for n in (3, 5):
        run_both(context, POINTERS, "k", {"a": a, "o": np.arange(16, dtype="i4"), "n": np.int32(n)})


RETURNED = """
struct S { int a; int b[3]; };
__global int *row(__global int *p, int k) { if (k > 2) return p + 4 * k; return p; }
int *member(struct S *s, int k) { return &s->b[k]; }
__kernel void k(__global int *o, int n) {
    __global int *r = row(o, n);
    r[1] = 5; *row(o, 1) = (int4)(1, 2, 3, 4).y + (float2)(1.5f, 2.5f).yx.s0 * 2;
    struct S s = { 1, { 2, 3, 4 } };
    *member(&s, 1) = 9; o[2] = s.b[1] + *member(&s, 2);
}
"""


def test_pointers_as_results(context):
    for n in (1, 3):
        run_both(context, RETURNED, "k", {"o": np.zeros(20, "i4"), "n": np.int32(n)})


SCALARS = """
__kernel void k(__global const int *a, __global const long *l, __global const float *f, __global long *o, __global float *r) {
    int x = a[0], y = a[1]; uint u = a[2]; long p = l[0], q = l[1]; ulong v = l[2]; char c = (char)a[3]; ushort h = (ushort)a[4];
    o[0] = mul_hi(x, y); o[1] = mul_hi(p, q); o[2] = mul_hi(v, (ulong)q); o[3] = mad_hi(p, q, p); o[4] = mad24(x >> 8, y >> 8, x);
    o[5] = mul24(x >> 8, y >> 8); o[6] = hadd(p, q); o[7] = rhadd(x, y); o[8] = clz(v) + clz(c) + clz(h); o[9] = popcount(p);
    o[10] = rotate(v, (ulong)13); o[11] = rotate(c, (char)3); o[12] = abs(p); o[13] = abs_diff(p, q); o[14] = add_sat(p, q);
    o[15] = sub_sat(p, q); o[16] = add_sat(c, (char)100); o[17] = mad_sat(p, q, p); o[18] = mad_sat(x, y, x); o[19] = mad_sat(v, v, v);
    o[20] = upsample(c, (uchar)h); o[21] = upsample(x, u); o[22] = min(c, (char)3) + max(h, (ushort)9) + clamp(x, -5, 5);
    o[23] = bitselect(x, y, a[5]); o[24] = select(p, q, (long)(x > y)); o[25] = convert_uchar_sat(x) + convert_char_sat(p);
    o[26] = convert_int_rte(f[0]) + convert_int_rtp(f[1]) * 10 + convert_int_rtn(f[2]) * 100; o[27] = mad_sat((ulong)3, (ulong)5, (ulong)7);
    r[0] = smoothstep(-2.0f, 2.0f, f[0]); r[1] = sign(f[1]); r[2] = degrees(f[2]) ; r[3] = radians(f[2]); r[4] = fdim(f[0], f[1]);
    r[5] = copysign(f[0], f[1]); r[6] = maxmag(f[0], f[1]); r[7] = minmag(f[0], f[1]); r[8] = isnormal(f[1]) + isfinite(f[0]);
}
"""


@pytest.mark.parametrize("seed", range(3))
def test_scalar_functions(context, seed):
    rng = np.random.default_rng(seed)
    args = {
        "a": rng.integers(-1 << 31, 1 << 31, 6, "i4"),
        "l": rng.integers(-1 << 63, (1 << 63) - 1, 3, "i8"),
        "f": (rng.standard_normal(3) * 3).astype("f4"),
        "o": np.zeros(28, "i8"),
        "r": np.zeros(9, "f4"),
    }
    run_both(context, SCALARS, "k", args)


def test_the_kind_of_a_kernel_has_a_reason():
    source = """__kernel void a(__global int *o) { o[0] = 1; }
    int where() { return get_global_id(0); }
    __kernel void b(__global int *o) { o[where()] = 1; }
    __attribute__((reqd_work_group_size(1, 1, 1))) __kernel void c(__global int *o) { o[get_global_id(0)] = 1; }
    __attribute__((max_global_work_dim(0))) __kernel void d(__global int *o) { o[get_compute_id(0)] = 1; }
    __attribute__((reqd_work_group_size(8, 2, 1))) __kernel void e(__global int *o) { atomic_inc(o); }"""
    kernels = parse_source(source).module.functions
    assert [(kernels[n].attrs["ndrange"], kernels[n].attrs["reason"]) for n in "abcde"] == [
        (False, "calls no work-item function"),
        (True, "calls get_global_id at line 2"),
        (False, "reqd_work_group_size is (1, 1, 1)"),
        (False, "max_global_work_dim is 0"),
        (True, "reqd_work_group_size is (8, 2, 1)"),
    ]
