"""Helper functions with channel and pipe parameters: one function is compiled for each channel; its index may vary."""

import numpy as np
import pytest

from hls.diag import CompileError
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.launch import IndexSpace
from hls.options import Options
from hls.target.board import load_board
from sim.emulator import Emulator

SOURCE = """
typedef struct { int n; int v[2]; } Pair;
channel int in[2][3] __attribute__((depth(4)));
channel Pair pairs __attribute__((depth(4)));
channel int out __attribute__((depth(4)));
pipe int last __attribute__((depth(4)));
void put(channel int c, int v);
void put(channel int c, int v) { write_channel_intel(c, v); }
int take(channel int row[3], int k) { return read_channel_intel(row[k]) * 10 + k; }
int both(channel int grid[2][3], int k) { return take(grid[k & 1], k >> 1); }
void pass(int n, channel int from[2][3], channel Pair to) {
    for (int i = 0; i < n; i++) {
        Pair p = { i, { both(from, i & 3), take(from[0], 2) } };
        write_channel_intel(to, p);
    }
}
bool some(channel int c, int *v) { bool got; int x = read_channel_nb_intel(c, &got); if (got) *v = x; return got; }
void forward(read_only pipe int p, channel int c, int n) {
    for (int i = 0; i < n; i++) { int v; read_pipe_block(p, &v); put(c, v + 1); }
}
__kernel void feed(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        switch (i & 3) {
            case 0: put(in[0][0], a[i]); break;
            case 1: put(in[1][0], a[i]); break;
            case 2: put(in[0][1], a[i]); break;
            default: put(in[1][1], a[i]);
        }
        put(in[0][2], i);
    }
}
__kernel void middle(int n) { pass(n, in, pairs); }
__kernel void unpack(int n) {
    for (int i = 0; i < n; i++) { Pair p = read_channel_intel(pairs); int v = p.n + p.v[0] * p.v[1]; write_pipe_block(last, &v); }
}
__kernel void turn(int n) { forward(last, out, n); }
__kernel void keep(__global int *restrict o, int n) {
    int v = 0;
    for (int i = 0; i < n;) if (some(out, &v)) o[i++] = v;
}
"""


def test_bytes_and_places():
    n, a = 8, np.arange(3, 11, dtype="i4")
    wanted = [i + (a[i] * 10 + (i & 3) // 2) * (i * 10 + 2) + 1 for i in range(n)]
    module = parse_source(SOURCE, "k.cl").module
    o = np.zeros(n, "i4")
    emulator = Emulator(module, hasty=True)
    for name, buffers in (("feed", {"a": a}), ("middle", {}), ("unpack", {}), ("turn", {}), ("keep", {"o": o})):
        emulator.start(name, buffers, {"n": n}, IndexSpace.of((1,)))
    emulator.advance(last=True)
    assert o.tolist() == wanted


def test_each_loop_around_such_calls_issues_every_cycle():
    text = """
    channel int in[2]; channel int out;
    void add(channel int a, channel int b, channel int c) {
        while (1) write_channel_intel(c, read_channel_intel(a) + read_channel_intel(b));
    }
    __kernel void source(__global const int *restrict a, int n) {
        for (int i = 0; i < n; i++) { write_channel_intel(in[0], a[i]); write_channel_intel(in[1], a[i]); }
    }
    __attribute__((autorun, max_global_work_dim(0))) __kernel void sum() { add(in[0], in[1], out); }
    __kernel void sink(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = read_channel_intel(out); }
    """
    module = parse_source(text, "k.cl").module
    kernels, _ = plan_module(module, load_board("de5net"), Options())
    planned = next(k for k in kernels if k.function.name == "sum")
    assert [region.ii for region in planned.plan.loops.values()] == [1]
    reads = [op for op in walk(planned.function.body) if op.opcode == "channel_read"]
    assert len(reads) == 2


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "void f(channel int c) { } __kernel void k(__global int *a) { f(a[0]); }",
            "the argument for 'c' must be a channel",
        ),
        (
            "channel float d; void f(channel int c) { } __kernel void k() { f(d); }",
            "a channel of 'float', not of 'int'",
        ),
        ("channel int d[2]; void f(channel int c) { } __kernel void k() { f(d); }", "'d' has 1 dimensions, not 0"),
        ("channel int d[2]; void f(channel int c[3]) { } __kernel void k() { f(d); }", "has other lengths than 'd'"),
        (
            "channel int d[2]; void f(channel int c[2]) { } __kernel void k() { f(d[0]); }",
            "'d' has 1 dimensions, not 2",
        ),
        ("channel int d; void f(read_only pipe int c) { } __kernel void k() { f(d); }", "must be a pipe"),
        (
            "channel int d; void f(channel int c); __kernel void k() { f(d); } void f(channel int c) { }",
            "is called before it is defined",
        ),
        (
            (
                "channel int d; void f(channel int c) { f(c); } void g(channel int c) { f(d); } __kernel void k() { "
                "f(d); }"
            ),
            "recursion is not supported: f -> f",
        ),
        ("void f(channel int c) { c = 3; } __kernel void k() { }", "'c' is a channel, not a value"),
        ("__kernel void k(channel int c) { }", "a kernel cannot take a channel"),
        ("void f(channel int *c) { } __kernel void k() { }", "cannot pass 'int *'"),
    ],
)
def test_refused(text, message):
    with pytest.raises(CompileError) as caught:
        parse_source(text, "k.cl")
    assert message in caught.value.diagnostics[0].message
