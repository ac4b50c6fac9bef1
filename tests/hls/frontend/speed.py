"""Measures the time that the frontend takes for files of 100 to 10,000 lines:

python -m tests.hls.frontend.speed
"""

import cProfile
import time

from hls.frontend import parse_source

__all__ = ["calls", "program", "seconds"]


def program(lines: int) -> str:
    """A kernel file of about so many lines, with comments, macros, helpers and loops as people write them."""
    helpers = [
        f"""// helper number {k}: a filter with some state
#define LIMIT_{k} ({k} + 3)
static int helper{k}(int x, const __global int *restrict table, float scale) {{
    int sum = 0;
    for (int i = 0; i < LIMIT_{k}; i++) {{
        if ((x >> i & 1) && table[i] > 3) sum += table[i + {k}] * x;
        else sum ^= (int)(scale * 0.5f) + i;
    }}
    return sum * {k} + (x << 2);
}}"""
        for k in range(lines // 16)
    ]
    kernels = [
        f"""__kernel void k{k}(__global int *restrict a, const __global int *restrict t, int n) {{
    for (int i = 0; i < n; i++) {{
        int4 v = vload4(i, a);
        v.xy += v.zw * {k};
        a[i] = helper{k}(a[i], t, 1.0f) + v.x - v.y;
    }}
}}"""
        for k in range(len(helpers))
    ]
    return "\n".join(part for pair in zip(helpers, kernels) for part in pair)


def seconds(lines: int) -> float:
    """Processor time of the frontend for a file of so many lines: the machine may be shared."""
    source = program(lines)
    before = time.process_time()
    parse_source(source)
    return time.process_time() - before


def calls(lines: int) -> int:
    """Calls of Python functions in the frontend for a file of so many lines: the same number on every machine."""
    source, profile = program(lines), cProfile.Profile(builtins=False)
    profile.runcall(parse_source, source)
    return sum(entry.callcount for entry in profile.getstats())


def main():
    """Prints a row for each size, with the time of each line: where that stays the same, time grows as the file
    does."""
    seconds(50)  # the library, and the parser's tables
    print("  lines  seconds  ms a line")
    for lines in (100, 300, 1_000, 3_000, 10_000):
        taken = seconds(lines)
        print(f"{lines:7,} {taken:8.2f} {1000 * taken / lines:10.2f}")


if __name__ == "__main__":
    main()
