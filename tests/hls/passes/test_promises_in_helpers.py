"""What ``ivdep array(x)`` promises in a helper function holds where the function is put into its callers, twice in one of them."""

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
