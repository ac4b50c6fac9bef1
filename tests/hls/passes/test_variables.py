"""Variables of a loop's body, and private memories that are read in other sizes than they were written."""

import numpy as np

from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize


def optimized(source: str):
    """The only kernel after all passes, and the warnings."""
    told = []
    module = optimize(parse_source(source, "k.cl").module, PipelineOptions(check=True, warn=told.append))
    return module.functions["k"], told


def carried(function) -> list[int]:
    """How many values each loop carries, in program order."""
    return [len(op.results) for op in walk(function.body) if op.opcode == "loop"]


def run(source: str, n: int, out: np.ndarray):
    """What the kernel leaves in ``out``, as written and after the passes; both must be the same."""
    results = []
    for module in (parse_source(source, "k.cl").module, optimized(source)[0]):
        results.append(out.copy())
        run_kernel(module, "k", {"o": results[-1]}, {"n": n}, max_iterations=10_000)
    np.testing.assert_array_equal(*results)
    return results[0]


UNSET = """__kernel void k(__global int *restrict o, int n) {
    for (int i = 0; i < n; i++) { int x; float acc[2]; if (i & 1) x = i; acc[i & 0] += i; o[i] = x + (int)acc[0]; } }"""


def test_a_variable_of_the_body_starts_at_zero_in_every_iteration():
    assert run(UNSET, 6, np.full(6, 9, "i4")).tolist() == [0, 2, 2, 6, 4, 10]


def test_a_variable_of_the_body_is_not_carried_around_the_loop():
    function, _ = optimized(UNSET)
    assert carried(function) == [1]


def test_a_read_that_nothing_was_written_before_is_warned_of():
    source = "__kernel void k(__global int *o, int n) { for (int i = 0; i < n; i++) { int x; o[i] = x; x = i; } }"
    _, told = optimized(source)
    assert [(d.span.line, d.message) for d in told] == [(1, "x is read before it is set")]
    assert run(source, 3, np.full(3, 9, "i4")).tolist() == [0, 0, 0]


def test_an_array_is_warned_of_once_by_the_name_in_the_source():
    """Its elements are variables of their own, in each copy of an inlined function."""
    source = """int window(int a) {
        int x[4];
        #pragma unroll
        for (int i = 0; i < 3; i++) x[i] = x[i + 1] + a;
        return x[0];
    }
    __kernel void k(__global int *o) { o[0] = window(1) + window(2); }"""
    _, told = optimized(source)
    assert [(d.span.line, d.message) for d in told] == [(4, "x is read before it is set")]


def test_zeros_of_an_initializer_are_not_warned_of():
    source = (
        "__kernel void k(__global int *o, int n) { int a[4] = {n}; o[0] = a[0] + a[3]; struct {int x, y;} s = "
        "{1}; o[1] = s.y; }"
    )
    assert optimized(source)[1] == []


def test_a_variable_of_a_helper_is_new_in_every_call():
    source = """int f(int k) { int a[3]; a[k % 3] += k; return a[0] + a[1] + a[2]; }
    __kernel void k(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = f(i); }"""
    assert run(source, 6, np.zeros(6, "i4")).tolist() == [0, 1, 2, 3, 4, 5]


def test_pieces_of_every_size_become_values():
    """Reads and writes of 1, 2, 4 and 8 bytes that overlap: no memory is left, and the bytes are right."""
    source = """union U { ulong w; uint d[2]; ushort h[4]; uchar b[8]; float f; };
    __kernel void k(__global int *o, int n) {
        union U u; u.w = 0x1122334455667788UL; u.b[2] = (uchar)n; u.h[2] += 5;
        uint x = u.d[1]; u.f = 1.5f; o[0] = x; o[1] = (int)(u.w >> 32); o[2] = u.h[1]; o[3] = u.d[0];
        int a = n; uchar *p = (uchar *)&a; p[1] = 7; o[4] = a; *(ushort *)(p + 2) = 0x1234; o[5] = a; }"""
    function, _ = optimized(source)
    assert not [m for m in function.memories.values() if m.space == "private"]
    found = run(source, 3, np.zeros(6, "i4")).astype("u4").tolist()
    assert found == [0x11223349, 0x11223349, 0x3FC0, 0x3FC00000, 0x703, 0x12340703]
