"""Extensions of C99 that kernels use, against PoCL, whose compiler supports them: ranges of labels and elements, ``a
?: b``, ``({ ... })``, ``typeof``, ``alignof``, literals of arrays; and OpenCL's ``vec_step``."""

import numpy as np
import pytest
from pocl import pocl_context, run_both, run_here

from hls.diag import CompileError
from hls.frontend import parse_source


@pytest.fixture(scope="module")
def context():
    return pocl_context()


VALUES = """
#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
typedef struct { int a[3]; float f; } S;
typedef struct { S s[2]; char c; } Outer;
S made(int n) { S s = { { n, n + 1, n + 2 }, 0.5f }; return s; }
Outer outer(int n) { Outer o = { { made(n), made(n + 10) }, 'x' }; return o; }
int twice(int x) { return ({ int y = 0; for (int i = 0; i < x; i++) { if (i == 5) break; y += 2; } y; }); }
__kernel void k(__global int *o, int n) {
    o[0] = (int[2]){ 1, n }[1] + (int[]){ 3 }[0];
    o[1] = ((S){ .a = { 1, 2, 3 }, .f = 2.0f }).a[n & 1];
    o[2] = made(n).a[n & 1] + outer(n).s[n & 1].a[2];
    o[3] = (int[]){ 5, 6, 7, n }[n & 3];
    int x = ({ int q = n * 2; q + 1; });
    o[4] = x;
    o[5] = n ?: 5; o[6] = (n - n) ?: 6;
    o[7] = o[0]++ ?: 77;
    __typeof__(n) y = n + 3; __typeof__(int *) p = &y; *p += 1; o[8] = y;
    o[9] = vec_step(float3) + 10 * vec_step(x) + 100 * vec_step((short2)(1));
    o[10] = sizeof(S) + 16 * sizeof((short[]){ 1, 2, 3 }) + 100 * __alignof__(S) + 1000 * __alignof__(double);
    o[11] = MAX(n + 1, x) + MAX(n, 2) * MAX(1.5f, (float)n);
    o[12] = twice(n);
    ({ o[13] = n; });
    float4 v = ({ float4 w = (float4)(1, 2, 3, 4); w.x += n; w; });
    o[14] = (int)v.x;
    __global int *q = n > 3 ? o : 0; o[15] = (q ?: o + 1)[0];
}
"""


@pytest.mark.parametrize("n", [0, 3, 4, 9])
def test_values(context, n):
    run_both(context, VALUES, "k", {"o": np.zeros(16, "i4"), "n": np.int32(n)})


RANGES = """
__kernel void k(__global int *o, int n, uint u) {
    for (int i = -6; i < 14; i++) {
        int r = 0;
        switch (i + n) { case -5 ... -2: r = 1; case 0 ... 0: r += 5; break; case 4: case 6 ... 9: r = 3; break; default: r = 2; }
        o[i + 6] = r;
    }
    switch (u) { case 0x80000000u ... 0xffffffffu: o[20] = 1; break; case 0 ... 9: o[20] = 2; }
    switch ((char)n) { case 'a' ... 'z': o[21] = 1; break; case '0' ... '9': o[21] = 2; }
    int t[6] = { [0 ... 3] = 7, [5] = n }, grid[4][2] = { [1 ... 2] = { 3, 4 }, [0][1] = 9, [3][0 ... 1] = 5 };
    for (int i = 0; i < 6; i++) o[22 + i] = t[i];
    for (int i = 0; i < 8; i++) o[28 + i] = grid[i / 2][i % 2];
}
"""


@pytest.mark.parametrize("n, u", [(0, 3), (-2, 1 << 31), (ord("q"), (1 << 32) - 1), (ord("5"), 12)])
def test_ranges(context, n, u):
    run_both(context, RANGES, "k", {"o": np.zeros(36, "i4"), "n": np.int32(n), "u": np.uint32(u)})


PASSED_ON = """
int sum(const int *p) { return p[0] + p[1] + p[2]; }
__kernel void k(__global int *o, int n) { for (int i = 0; i < n; i++) o[i] = sum((int[]){ 1, o[i], i }) + sum((typeof(o[0])[]){ 7, i, 1 }); }
"""


def test_literals_of_arrays_are_passed_on():
    """PoCL does not pass them to a parameter without an address space."""
    found = run_here(parse_source(PASSED_ON).module, "k", {"o": np.arange(10, dtype="i4"), "n": np.int32(10)}, (1,))
    assert found["o"].tolist() == [3 * i + 9 for i in range(10)]


LATER = """
__kernel void k(__global int *o, __global half *h, int n) {
    size_t i = get_global_linear_id() + get_local_linear_id();
    h[i] = 2.0h * (half)n + .5h - 1e2H;
    if (__builtin_expect(n > -99, 1)) o[i] = ctz(n);
    uchar4 c = ctz((uchar4)(n, 0, 8, 7)); o[i + 6] = c.x | c.y << 8 | c.z << 16 | c.w << 24;
}
"""


@pytest.mark.parametrize("n", [12, 0, -1, 96])
def test_what_later_versions_have(n):
    """Numbers of work-items in one dimension, zeros at the lower end, numbers of half precision."""
    found = run_here(
        parse_source(LATER).module, "k", {"o": np.zeros(12, "i4"), "h": np.zeros(6, "f2"), "n": np.int32(n)}, (3, 2)
    )
    zeros = (n & -n).bit_length() - 1 if n else 32
    assert found["o"].tolist() == [zeros] * 6 + [min(zeros, 8) | 8 << 8 | 3 << 16] * 6
    assert found["h"].tolist() == [2.0 * n - 99.5] * 6


@pytest.mark.parametrize(
    "statement, message",
    [
        ("switch (n) { case 3 ... 1: ; }", "the label 3 ... 1 holds no value"),
        ("switch (n) { case 1 ... 5: ; case 3: ; }", "duplicate case label"),
        ("switch (n) { case 1 ... n: ; }", "a case label must be a constant integer"),
        ("int t[4] = { [2 ... 4] = 1 };", "elements 2 to 4 are no part of 'int[4]'"),
        ("for (int i = 0; i < n; i++) { int x = ({ if (i) break; i; }); }", "break outside a loop or switch"),
        ("int x = ({ if (n) return; n; });", "a jump out of '({ ... })'"),
        ("int x = ({ int y = 1; });", "void"),
        ("o[0] = vec_step(void);", "void is no vector"),
        ("o[0] = vec_step(o);", "vec_step takes a number or a vector"),
        ("__typeof__(m) x = 1;", "'m' is not declared"),
    ],
)
def test_refused(statement, message):
    with pytest.raises(CompileError) as error:
        parse_source(f"__kernel void k(__global int *o, int n) {{\n{statement} }}", "k.cl")
    (found,) = error.value.diagnostics
    assert message in found.message and found.span.line == 2
