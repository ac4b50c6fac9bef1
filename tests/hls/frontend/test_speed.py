"""The frontend keeps up with large files."""

import time

from hls.frontend import parse_source


def program(lines: int) -> str:
    """A kernel file of about so many lines, with comments, macros, helpers and loops as people write them."""
    helpers = [f"""// helper number {k}: a filter with some state
#define LIMIT_{k} ({k} + 3)
static int helper{k}(int x, const __global int *restrict table, float scale) {{
    int sum = 0;
    for (int i = 0; i < LIMIT_{k}; i++) {{
        if ((x >> i & 1) && table[i] > 3) sum += table[i + {k}] * x;
        else sum ^= (int)(scale * 0.5f) + i;
    }}
    return sum * {k} + (x << 2);
}}""" for k in range(lines // 10)]
    kernel = """__kernel void k(__global int *restrict a, const __global int *restrict t, int n) {
    for (int i = 0; i < n; i++) a[i] = helper1(a[i], t, 1.0f); }"""
    return "\n".join([*helpers, kernel])


def test_a_thousand_lines_take_less_than_a_second_and_a_half():
    """Time of the process: the machine may be shared."""
    source = program(1000)
    parse_source(program(50))
    before = time.process_time()
    parse_source(source)
    assert time.process_time() - before < 1.5
