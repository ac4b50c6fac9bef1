"""How many invocations of nested loops are interleaved."""

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.target.board import load_board

SEARCH = """__kernel void k(__global const uchar *restrict a, __global int *restrict out, int n) {
    __local uchar s[1024];
    for (int i = 0; i < 1024; i++) s[i] = a[i];
    for (int t = 0; t < n; t++) {
        int best = 255 * 8;
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 16; x++) {
                int sum = 0;
                #pragma unroll 1
                for (int i = 0; i < 8; i++) {
                    sum += abs_diff(s[t + i & 1023], s[32 * y + x + i & 1023]);
                    if (sum >= best) break;
                }
                best = sum < best ? sum : best;
            }
        out[t] = best;
    }
}"""
WORDS = """__kernel void k(__global const char *restrict text, __global const char *restrict p, __global const int *restrict f, __global int *restrict out, int n, int m) {
    __local int next[64]; __local char word[64];
    for (int i = 0; i < m; i++) { next[i] = f[i]; word[i] = p[i]; }
    for (int t = 0; t < n; t++) {
        int q = 0;
        for (int i = 0; i < n; i++) {
            while (q > 0 && word[q] != text[t * n + i]) q = next[q];
            if (word[q] == text[t * n + i]) q++;
            EACH
        }
        END
    }
}"""


def loops(text: str) -> dict:
    (kernel,), _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board("de5net"), Options())
    return {loop.attrs.get("label"): plan for loop, plan in kernel.plan.loops.items()}


def test_a_loop_that_waits_for_one_inside_has_a_slot_for_each_of_its_turns():
    """A row of the search gives one invocation at a time to the loop inside; so turns there need as many searches at
    once."""
    found = loops(SEARCH)
    assert found["x"].slots > 1 and found["y"].slots == found["x"].slots


def test_where_order_keeps_the_loop_around_alone_nobody_could_take_turns():
    """Then the loop inside, which that waits for, has one invocation at a time. Both issue ahead of their condition."""
    ahead = loops(WORDS.replace("EACH", "out[i] += q;").replace("END", ""))
    turns = loops(WORDS.replace("EACH", "").replace("END", "out[t] = q;"))
    assert ahead["i"].slots == ahead["while"].slots == 1 and ahead["while"].speculative
    assert turns["i"].slots > 1 and turns["while"].slots > 1 and turns["while"].speculative
