"""``ivdep array(x)`` in a helper function still holds after inlining into its callers, twice in one of them."""

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.target.board import load_board

SOURCE = """
void mix(__global const int *restrict a, __global int *restrict o, int n) {
    int x[256], y[256];
    for (int i = 0; i < 256; i++) { x[i] = a[i]; y[i] = a[i] * 3; }
    #pragma ivdep array(x)
    #pragma ivdep array(y) safelen(64)
    for (int i = 0; i < n; i++) { int p = a[i] & 255; x[p] = x[i & 255] * 7 / 3; y[p] = y[i & 255] * 5 / 3; }
    for (int i = 0; i < 256; i++) o[i] = x[i] + y[i];
}
__kernel void k(__global const int *restrict a, __global int *restrict o, int n) { mix(a, o, n); mix(a + 256, o + 256, n); }
"""


def test_loops_of_a_helper_keep_their_promises():
    kernels, _ = plan_module(parse_source(SOURCE, "k.cl").module, load_board("de5net"), Options())
    assert [region.ii for region in kernels[0].plan.loops.values()] == [1] * 6


def test_without_them_they_wait():
    text = "\n".join(line for line in SOURCE.splitlines() if "ivdep" not in line)
    kernels, _ = plan_module(parse_source(text, "k.cl").module, load_board("de5net"), Options())
    assert sorted(region.ii for region in kernels[0].plan.loops.values())[4] > 1


POINTERS = """
void mix(__global const int *restrict a, int *x, int n) {
    #pragma ivdep array(x)
    for (int i = 0; i < n; i++) { int p = a[i] & 255; x[p] = x[i & 255] * 7 / 3; }
}
void both(__global const int *restrict a, int *y, int n) { mix(a, y + 1, n); mix(a, y, n); }
__kernel void k(__global const int *restrict a, __global int *restrict o, int n) {
    int t[257], u[256], *q = u;
    for (int i = 0; i < 256; i++) { t[i] = a[i]; u[i] = ~a[i]; }
    both(a, t, n);
    #pragma ivdep array(q)
    for (int i = 0; i < n; i++) { int p = a[i] & 255; q[p] = q[i & 255] * 7 / 3; }
    for (int i = 0; i < 256; i++) o[i] = t[i] + u[i];
}
"""


def test_promises_about_pointers_are_about_what_they_point_into():
    kernels, _ = plan_module(parse_source(POINTERS, "k.cl").module, load_board("de5net"), Options())
    assert [region.ii for region in kernels[0].plan.loops.values()] == [1] * 5
    text = "\n".join(line for line in POINTERS.splitlines() if "ivdep" not in line)
    kernels, _ = plan_module(parse_source(text, "k.cl").module, load_board("de5net"), Options())
    assert sum(region.ii > 1 for region in kernels[0].plan.loops.values()) == 3
