"""Which nests become one loop by the test of their inner loop when they are planned."""

import numpy as np
import pytest

from hls.ir import Attr, Copying, Module
from hls.ir.interpreter import run_kernel
from hls.model.estimate import Planned
from hls.model.runs import RunCounts
from hls.planning import tested_nests as nests_as_one
from tests.model.launched import Given, Program
from tests.plans import linked, planned_alone

LINKS = """__kernel void links(__global const uchar *restrict p, __global const uchar *restrict t, __global int *restrict o,
                    int m, int n)
{
    int next[16];
    for (int i = 0; i < 16; i++)
        next[i] = m * i & 15;
    int found = 0, q = 0;
    for (int i = 0; i < n; i++) {
        while (q > 0 && p[q] != t[i])
            q = next[q - 1];
        if (p[q] == t[i])
            q++;
        if (q >= m) {
            found++;
            q = next[q - 1];
        }
    }
    o[0] = found;
}
"""
LINE_OUTER = 8
#: the inner loop is a row that is long more often than not, and fast by itself
ROWS = """__kernel void rows(__global const int *restrict c, __global int *restrict o, int n)
{
    int s = 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 64 + (s & 7); j++)
            s += c[(i + j) & 1023];
        s = s / 3 * (s + i);
        o[i] = s;
    }
}
"""
#: each inner iteration loads what the one before may have stored
SHIFTS = """__kernel void shifts(__global int *restrict a, int n)
{
    for (int i = 1; i < n; i++) {
        int v = a[i], j = i - 1;
        while (j >= 0 && a[j] > v) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = v;
    }
}
"""
#: the nest loads what it stores: a link back through the table that the outer loop fills
PREFIXES = """__kernel void prefixes(__global const uchar *restrict s, __global int *restrict p, int n)
{
    p[0] = 0;
    for (int i = 1; i < n; i++) {
        int j = p[i - 1];
        while (j > 0 && s[i] != s[j])
            j = p[j - 1];
        if (s[i] == s[j])
            j++;
        p[i] = j;
    }
}
"""
#: the inner loop runs once for most numbers, and has no test before that
NUMBERS = """__kernel void numbers(__global const uchar *restrict in, __global uint *restrict out, int n)
{
    int i = 0, o = 0;
    while (i < n) {
        uint x = 0;
        uchar c;
        do {
            c = in[i++];
            x = x << 7 | c & 127;
        } while (c & 128);
        out[o++] = x;
    }
}
"""
#: rows that a counter ends are taken for long, and no data decides how long
COLUMNS = """__kernel void columns(__global const float *restrict l, __global float *restrict x, int n)
{
    for (int j = 0; j < n; j++) {
        float v = x[j] / l[j * n + j];
        x[j] = v;
        for (int i = j + 1; i < n; i++)
            x[i] -= l[i * n + j] * v;
    }
}
"""


def joined(source: str, board: str) -> list[int]:
    """The II of each loop of the only kernel that has another one in it now."""
    name = source.split("(")[0].split()[-1]
    (kernel,) = planned_alone(source, name, board)
    into = {one.into for one in kernel.merged if one.how == "coalesced"}
    return [region.ii for loop, region in kernel.plan.loops.items() if loop.span in into]


def test_links_on_the_chip():
    assert joined(LINKS, "ecp5_onchip") == [2]


def test_an_element_that_moves_up_in_a_heap_mostly_moves_once_or_twice():
    """The inner loop alone has II 1, and at most as many iterations as an index has bits. The exit is delayed, without
    which one loop would not gain."""
    source = (
        "kernel void insert(global int *restrict h, global int *restrict o, int n) { for (int k = 0; k < n; k++) {"
        "int v = o[k], i = k; while (i > 0 && h[(i - 1) / 2] > v) { h[i] = h[(i - 1) / 2]; i = (i - 1) / 2; } h[i] = v; } }"
    )
    assert joined(source, "ecp5_onchip") == [3]


def test_links_in_external_memory():
    """One loop on copies; two loops in launches in which the buffers are too large, as the II of one would be the
    latency of the test's load."""
    assert joined(LINKS, "de5net")[0] == 3
    (kernel,) = planned_alone(LINKS, "links", "de5net")
    large = [plan.ii for loop, plan in kernel.plan.loops.items() if loop.attrs.get(Attr.COPYING) == Copying.WITHOUT]
    assert large[0] == 2 and large[1] > 100


@pytest.mark.parametrize("size", [100, 6000])
def test_both_forms_of_links_compute_the_same(size):
    """The sizes of the buffers decide which one is executed."""
    (kernel,) = planned_alone(LINKS, "links", "de5net")
    assert 100 < kernel.copies.most_bytes < 6000
    given, results = given_links(size), []
    for program in (linked(LINKS), Module({"links": kernel.function})):
        buffers = {name: bytearray(array.tobytes()) for name, array in given.buffers.items()}
        run_kernel(program, "links", buffers, given.scalars)
        results.append(buffers)
    assert results[0] == results[1]


@pytest.mark.parametrize("size", [100, 6000])
def test_the_model_counts_the_form_that_is_executed(size):
    """On copies an iteration of the loop is one of either; without copies each loop has its own."""
    program = Program(LINKS, "de5net")
    workload = program.workloads(given_links(size))["links"]
    planned: Planned = program.kernels["links"]
    counts = RunCounts(planned.function, planned.plan, planned.unrolled, planned.merged, workload, planned.main)
    found = [counts.loop(loop).iterations for loop in planned.plan.loops if loop.attrs.get(Attr.COPYING) != "moves"]
    outer, inner = (
        sum(one.iterations for one in workload.loops if one.place.line == line) for line in (LINE_OUTER, LINE_OUTER + 1)
    )
    assert inner > 0 and found == ([outer + inner, 0, 0] if size == 100 else [0, inner, outer])


def given_links(size: int) -> Given:
    rng = np.random.default_rng(size)
    buffers = {
        "p": rng.integers(0, 2, 16, np.uint8),
        "t": rng.integers(0, 2, size, np.uint8),
        "o": np.zeros(1, np.int32),
    }
    return Given("links", buffers, {"m": 13, "n": size}, (1,))


def test_a_nest_that_loads_what_it_stores():
    """The schedule knows the way from the store to the load on the chip, not in external memory."""
    assert joined(PREFIXES, "ecp5_onchip") == [4]
    (kernel,) = planned_alone(PREFIXES, "prefixes", "de5net", 0)
    assert nests_as_one.tested_nests(kernel.function, kernel.plan, onchip=False) == []
    assert len(nests_as_one.tested_nests(kernel.function, kernel.plan, onchip=True)) == 1


def test_an_inner_loop_without_a_test():
    assert joined(NUMBERS, "ecp5_onchip") == [1]
    (kernel,) = planned_alone(NUMBERS, "numbers", "ecp5_onchip")
    assert not any(one.by_test for one in kernel.merged)


@pytest.mark.parametrize("source", [ROWS, SHIFTS, COLUMNS])
def test_nests_that_stay(source):
    assert joined(source, "ecp5_onchip") == []
