"""Work-groups, atomic operations, channels and printf: against PoCL if it supports them."""

import re

import numpy as np
import pytest
from pocl import compare, pocl_context, run_here, run_pocl

from hls.diag import CompileError
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.concurrent import Channel
from hls.ir.interpreter import ExecutionError, Launch, run_kernel, run_launches
from hls.ir.launch import IndexSpace
from hls.ir.parser import parse_module
from hls.ir.printer import print_module
from hls.ir.verifier import verify_module
from sim.emulator import Emulator
from tests.plans import planned_text

GROUPS = """
int twice(__local int *p, int k) { __local int mine[8]; mine[k] = p[k]; return mine[k] * 2; }
__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void k(__global const int *a, __global int *o, __global float4 *v, __global int *count, __global uint *u, __global long *w) {
    __local int tile[8], sums[8];
    __local float4 quads[8];
    int l = get_local_id(0), g = get_global_id(0);
    event_t e = async_work_group_copy(tile, a + get_group_id(0) * 8, 8, 0);
    wait_group_events(1, &e);
    sums[l] = tile[7 - l] + twice(tile, l);
    quads[l] = v[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 4; step > 0; step >>= 1) {
        if (l < step) sums[l] += sums[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[g] = sums[0] + tile[(l + 3) % 8];
    v[g] = quads[7 - l].wzyx + quads[l].x;
    atomic_add(&count[0], tile[l]); atomic_sub(count + 1, l); atomic_inc(&count[2]); atomic_dec(&count[3]);
    atomic_min(&count[4], tile[l]); atomic_max(&count[5], tile[l]); atomic_and(&u[0], ~(1u << l)); atomic_or(&u[1], 1u << g);
    atomic_xor(&u[2], 3u << l); atomic_min(&u[3], (uint)tile[l]); atomic_max(&u[4], (uint)tile[l]);
    atom_add(&w[0], (long)tile[l] << 20);
    atomic_cmpxchg(&count[6], g % 5 == 3 ? 0 : -1, 5);  // the same in whatever order groups run
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (g == 0) atomic_xchg(&count[7], 99);
}
"""


def test_groups():
    context, cl = pocl_context(), pytest.importorskip("pyopencl")
    rng = np.random.default_rng(4)
    args = {
        "a": rng.integers(-1000, 1000, 24, "i4"),
        "o": np.zeros(24, "i4"),
        "v": rng.standard_normal(96).astype("f4"),
        "count": np.array([0, 0, 0, 0, 500, -500, 0, 0], "i4"),
        "u": np.array([~0, 0, 0, ~0, 0], "i8").astype("u4"),
        "w": np.zeros(1, "i8"),
    }
    source = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n" + GROUPS
    # PoCL has no local variables in helpers; here each work-item uses one element of it
    program = cl.Program(context, source.replace("__local int mine", "int mine")).build(options=["-w"])
    expected = run_pocl(context, program, "k", args, (24,), (8,))
    module = parse_source(source).module
    verify_module(module)
    compare(expected, run_here(module, "k", args, (24,)), "groups")
    again = parse_module(print_module(module))
    assert print_module(again) == print_module(module)


def test_local_arguments_have_the_size_the_host_says():
    source = """__kernel void k(__global int *o, __local int *t) { int l = get_local_id(0); t[l] = l * l;
        barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[get_local_size(0) - 1 - l]; }"""
    module, o = parse_source(source).module, np.zeros(6, "i4")
    run_kernel(module, "k", {"o": o, "t": 12}, {}, (6,), (3,))
    assert o.tolist() == [4, 1, 0] * 2
    with pytest.raises(ExecutionError, match="of t, which has 8 bytes"):
        run_kernel(module, "k", {"o": o, "t": 8}, {}, (6,), (3,))
    with pytest.raises(ValueError, match="size of the local memory t is missing"):
        run_kernel(module, "k", {"o": o}, {}, (6,), (3,))


@pytest.mark.parametrize(
    ("body", "barrier", "condition", "other"),
    [
        ("if (l == 1)\n return;\n barrier(1);", 3, 1, 1),
        ("for (int k = 0; k < n; k++) { if (o[l] == k)\n return; }\n barrier(1);", 3, 2, 2),
        ("for (int k = l;\n k < n;\n k += 3)\n barrier(1);", 4, 2, 1),
        ("if (l)\n barrier(1);\n else\n barrier(1);", 2, 1, 1),  # as often, but not at the same one
        ("while (n-- > 0) { if (n == o[l])\n barrier(1); }", 2, 1, 1),
        ("helper(n < 5);\n helper(l + n < 5);", 1, 1, 1),
    ],
)
def test_a_barrier_that_not_all_reach(body, barrier, condition, other):
    """Found at the first decision that differs, and told with both places."""
    source = (
        "void helper(int x) { if (x) barrier(1); } "
        f"__kernel void k(__global int *o, int n) {{ int l = get_local_id(0); {body} }}"
    )
    with pytest.raises(ExecutionError) as caught:
        run_kernel(parse_source(source, "k.cl").module, "k", {"o": np.arange(1, -2, -1, "i4")}, {"n": 4}, (6,), (3,))
    found = re.sub(r"(k\.cl:\d+):\d+", r"\1", str(caught.value))
    assert found == (
        f"k.cl:{barrier}: not all work-items of group (0, 0, 0) reach this barrier: at k.cl:{condition} ({other}, "
        "0, 0) takes "
        "another branch than (0, 0, 0)"
    )


CHANNELS = """
struct Pair { int a; float b; };
channel int values __attribute__((depth(2)));
channel struct Pair pairs[2][3];
__kernel void source(__global const int *a, int n) {
    for (int i = 0; i < n; i++) {
        write_channel_intel(values, a[i]);
        struct Pair p = { i, i * 0.5f };
        write_channel_altera(pairs[1][2], p);
    }
}
__kernel void middle(int n) {
    for (int i = 0; i < n; i++) {
        bool there;
        struct Pair p;
        do { p = read_channel_nb_altera(pairs[1][2], &there); } while (!there);
        p.b += read_channel_intel(values);
        while (!write_channel_nb_intel(pairs[0][1], p)) ;
    }
}
__kernel void sink(__global float *o, int n) {
    for (int i = 0; i < n; i++) { struct Pair p = read_channel_intel(pairs[0][1]); o[i] = p.a + p.b; }
}
"""


def test_channels_between_kernels():
    module = parse_source(CHANNELS).module
    verify_module(module)
    assert print_module(parse_module(print_module(module))) == print_module(module)
    a, o = np.arange(20, dtype="i4") * 3, np.zeros(20, "f4")
    launches = [
        Launch("sink", {"o": o}, {"n": 20}),
        Launch("middle", {}, {"n": 20}),
        Launch("source", {"a": a}, {"n": 20}),
    ]
    run_launches(module, launches, max_iterations=10_000)
    np.testing.assert_array_equal(o, np.arange(20) * 1.5 + a)


def test_kernels_that_wait_for_each_other_are_named_with_their_lines():
    module, o = parse_source(CHANNELS).module, np.zeros(20, "f4")
    with pytest.raises(
        ExecutionError, match=r"wait for each other: kernel sink waits at kernel\.cl:22:\d+: reading from channel pairs"
    ):
        run_launches(module, [Launch("sink", {"o": o}, {"n": 1})])
    with pytest.raises(ExecutionError, match=r"kernel source waits at kernel\.cl:7:\d+: writing to channel values"):
        run_launches(module, [Launch("source", {"a": np.zeros(9, "i4")}, {"n": 9})])


def test_what_a_channel_holds_stays_there():
    module, o, channels = parse_source(CHANNELS).module, np.zeros(2, "f4"), {}
    run_launches(module, [Launch("source", {"a": np.array([7, 8], "i4")}, {"n": 2})], channels=channels)
    assert [len(c.values) for c in channels["values"]] == [2]
    run_launches(module, [Launch("middle", {}, {"n": 2}), Launch("sink", {"o": o}, {"n": 2})], channels=channels)
    assert o.tolist() == [7, 9.5]


def test_pipes():
    source = """__kernel void k(read_only pipe int in, write_only __attribute__((blocking)) pipe float2 out, __global int *o) {
        int v = 5, status = read_pipe(in, &v); float2 w = (float2)(v, status); o[0] = write_pipe(out, &w); o[1] = read_pipe(in, &v); }"""
    module = parse_source(source).module
    verify_module(module)
    given, taken, o = Channel("in"), Channel("out"), np.zeros(2, "i4")
    given.put(41)
    run_kernel(module, "k", {"in": given, "out": taken, "o": o})
    assert list(taken.values) == [(41.0, 0.0)] and o.tolist() == [0, -1]


def test_pipes_of_a_file():
    """Declared once for all kernels, as the tools for other chips want them, they are channels that are called by
    address."""
    source = """pipe int values __attribute__((xcl_reqd_pipe_depth(16)));
        kernel void source(global int *a, int n) { for (int i = 0; i < n; i++) write_pipe_block(values, &a[i]); }
        kernel void sink(global int *o, int n) { for (int i = 0; i < n; i++) { int v; read_pipe_block(values, &v); o[i] = v * 3; }
            int v = 9; o[n] = read_pipe(values, &v) * 100 + v; }"""
    parsed, o = parse_source(source), np.zeros(4, "i4")
    verify_module(parsed.module)
    run_launches(
        parsed.module,
        [Launch("source", {"a": np.array([5, -6, 7], "i4")}, {"n": 3}), Launch("sink", {"o": o}, {"n": 3})],
    )
    assert parsed.warnings == () and o.tolist() == [15, -18, 21, -91]


def test_the_declared_capacity_of_pipes():
    source = """pipe long p0 __attribute__((xcl_reqd_pipe_depth(16)));
        pipe int ps[3] __attribute__((depth(5)));
        uint most(pipe int p) { return get_pipe_max_packets(p); }
        kernel void k(global uint *o) { o[0] = get_pipe_max_packets(p0); o[1] = get_pipe_max_packets(ps[1]); o[2] = most(ps[2]); }"""
    parsed, o = parse_source(source), np.zeros(3, "u4")
    verify_module(parsed.module)
    run_kernel(parsed.module, "k", {"o": o})
    assert o.tolist() == [16, 5, 5]


def test_printf():
    source = r"""__kernel void k(int n, float4 v) {
        printf("%d%% of %5.2f, %u %x|%-4d|%c %s", n, v.x, -1, 255, n, 'A', 3); }"""
    with pytest.raises(CompileError):
        parse_source(source)
    source = source.replace(" %s", "").replace(", 3)", ")").replace("printf(", r'printf("%v4hlf\n", v); printf(')
    written = []
    run_kernel(
        parse_source(source).module, "k", {}, {"n": -7, "v": np.array([1.5, -2, 3, 0.25], "f4")}, write=written.append
    )
    assert "".join(written) == "1.500000,-2.000000,3.000000,0.250000\n-7% of  1.50, 4294967295 ff|-7  |A"


def test_printf_is_left_out_of_hardware_and_said():
    """The rest of the kernel is what it is without; the module that the emulator runs keeps it."""
    result, other = (
        planned_text(
            f"__kernel void k(__global int *o, int n) {{ for (int i = 0; i < n; i++) {{ o[i] += i; {show} }} }}"
        )
        for show in (r'printf("%d %d\n", i, n * 7);', "")
    )
    assert [(d.message, d.span.line) for d in result.warnings] == [("printf prints nothing on the board", 1)]
    assert any(op.opcode == "printf" for op in walk(result.module.functions["k"].body))
    assert not any(op.opcode == "printf" for op in walk(result.kernels[0].function.body))
    assert len(list(walk(result.kernels[0].function.body))) == len(list(walk(other.kernels[0].function.body)))


PRINTED = r"""
__kernel void k(__global int *o) {
  printf("[%d|%i|%u|%o|%x|%X|%c|%%|%s]\n", -5, 7, 4000000000u, 8, 255, 255, 'A', "text");
  printf("[%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%#x|%#o|%-8x|]\n", 42, 42, 42, 42, 42, 7, 7, 255, 8, 255);
  printf("[%hhd|%hd|%ld|%hhu|%hu|%lu|%lx]\n", (char)-3, (short)-300, -5000000000L, (uchar)200, (ushort)60000, 18446744073709551615UL, 0x123456789L);
  printf("[%f|%.2f|%10.3f|%-10.1f|%+f|%e|%.3e|%E|%g|%G|%#g]\n", 1.5f, 2.345f, 3.14159f, 2.5f, 1.0f, 12345.678f, 12345.678f, 0.00012f, 1e-4f, 1e10f, 1.0f);
  printf("[%a|%A|%.2a|%f|%f|%F|%e]\n", 1.5f, 255.75f, 3.14159f, INFINITY, -INFINITY, INFINITY, 0.0f);
  int4 v = (int4)(1, -2, 3, -4); float2 f = (float2)(1.5f, -2.25f); uchar4 u = (uchar4)(1, 2, 250, 255); short2 s = (short2)(-1, 5);
  printf("[%v4hld|%v2hlf|%v4hhu|%v2hd|%v2ld|%v4hlx|%5.1v2hlf|%-4v4hld|%03v4hld]\n", v, f, u, s, (long2)(-1L, 1L << 40), v, f, v, v);
  printf("[%s|%10s|%-10s|%.2s|%5c|%-5c]\n", "a", "abc", "abc", "abc", 'x', 'y');
  printf("tab\tquote\"back\\ \x41 \101 %d %d\n", (char)-1, (uchar)255);
  o[0] = 1;
}
"""


def test_every_conversion_of_printf(capfd):
    """What PoCL writes to the standard output, the interpreter and the emulator write, too."""
    import pyopencl as cl

    context = pocl_context()
    queue, buffer = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
    cl.Kernel(cl.Program(context, PRINTED).build(options=["-w"]), "k")(queue, (1,), None, buffer)
    queue.finish()
    expected, _ = capfd.readouterr()
    module, here, there = parse_source(PRINTED).module, [], []
    run_launches(module, [Launch("k", {"o": np.zeros(4, "i4")})], write=here.append)
    Emulator(module, hasty=True, write=there.append).run("k", {"o": np.zeros(4, "i4")}, {}, IndexSpace.of((1,)))
    assert expected.count("\n") == 8
    assert "".join(here) == expected
    assert "".join(there) == expected
