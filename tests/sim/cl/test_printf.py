"""printf on the simulated board: the text of the emulator, under stalls."""

import numpy as np
import pytest

from sim import cl
from tests.sim.cl.printf_campaign import differing

#: every kernel prints
SOURCE = r"""
int told(int x, double d) { printf("%d is %.3f\n", x, d); return x + 1; }
__kernel void scalars(__global const long *restrict a, __global int *restrict o, int n, char c, half h) {
    printf("begin %s %d %c|%-6hhd|%5.1f%%\n", "now", n, 'x', c, h);
    for (int i = 0; i < n; i++) {
        long v = a[i];
        if (v & 1)
            printf("[%d] %ld %lx %#o %hd\n", i, v, v, (int)v, (short)v);
        for (int k = 0; k < (v & 3); k++)
            o[i] = told(k, v * 0.5);
    }
    printf("end\n");
}
__kernel void vectors(float4 f, int2 i, uchar4 u) { printf("%.2v4hlf %v2hld %v4hhx %e\n", f, i, u, f.x); }
__kernel void one_item(__global int *o) {
    int i = get_global_id(0);
    o[i] = i;
    if (i % 3 == 2) printf("item %d of %d\n", i, (int)get_global_size(0));
}
__attribute__((reqd_work_group_size(4, 1, 1)))
__kernel void groups(__global int *o) {
    __local int t[4];
    int i = get_local_id(0);
    t[i] = get_global_id(0) * 3;
    printf("%d before %d\n", (int)get_group_id(0), i);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t[3 - i] % 2) printf("odd %d\n", t[3 - i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < i; k++) printf("after %d.%d\n", i, k);
    o[get_global_id(0)] = t[3 - i];
}
__attribute__((reqd_work_group_size(4, 2, 1), num_simd_work_items(2), num_compute_units(2)))
__kernel void side_by_side(__global int *restrict o) {
    __local int t[8];
    int l = get_local_id(1) * 4 + get_local_id(0), g = get_group_id(0) * 3;
    t[l] = l * g;
    for (int k = 0; k < (l & 3) + g; k++) printf("%d.%d before %d\n", g, l, k);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t[7 - l] & 2) printf("%d.%d after %d\n", g, l, t[7 - l]);
    o[get_global_id(1) * get_global_size(0) + get_global_id(0)] = t[7 - l];
}
int summed(__local int *t, int n, int i) {
    for (int step = n / 2; step > 0; step >>= 1) {
        if (i < step) { t[i] += t[i + step]; printf("  sum %d of %d: %d\n", i, step, t[i]); }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == 0) printf(" step %d\n", step);
    }
    return t[0];
}
__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void among_barriers(__global int *restrict o, int rounds) {
    __local int t[8];
    int i = get_local_id(0), sum = 0;
    printf("item %d\n", i);
    for (int round = 0; round < rounds; round++) {
        t[i] = i * round + get_group_id(0);
        for (int k = 0; k < (i & 3); k++) printf("%d.%d.%d ", round, i, k);
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += summed(t, 8, i);
        if (rounds > 2) { barrier(CLK_LOCAL_MEM_FENCE); if (i & 1) printf("odd %d: %d\n", i, sum); }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    printf("%d ends with %d\n", i, sum);
    o[get_global_id(0)] = sum;
}
__kernel void silent(__global int *o) { o[0] = 3; }
"""


def printed(device: str, capsys: pytest.CaptureFixture) -> str:
    """What all kernels print, two launches of the first one."""
    context = cl.create_some_context(board="de5net", device=device)
    queue, program = cl.CommandQueue(context), cl.Program(context, SOURCE).build()
    assert "prints nothing" not in program.get_build_info(None, cl.program_build_info.LOG)
    values = np.random.default_rng(3).integers(-(1 << 60), 1 << 60, 24)
    read_write = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    a, o = (cl.Buffer(context, read_write, hostbuf=one) for one in (values, np.zeros(24, np.int32)))
    capsys.readouterr()
    for n in (24, 0):
        program.scalars(queue, (1,), None, a, o, np.int32(n), np.int8(-7), np.float16(1.25)).wait()
    program.silent(queue, (1,), None, o).wait()
    vector = [np.array([0.1, -2, np.inf, 3e9], np.float32), np.array([-1, 7], np.int32), np.arange(4, dtype=np.uint8)]
    program.vectors(queue, (1,), None, *vector).wait()
    program.one_item(queue, (16,), (4,), o).wait()
    program.groups(queue, (12,), (4,), o).wait()
    program.one_item(queue, (4, 6), (2, 2), o).wait()
    for rounds in (2, 3, 0):
        program.among_barriers(queue, (16,), None, o, np.int32(rounds)).wait()
    events = [program.side_by_side(queue, (12, 2), (4, 2), o), program.side_by_side(queue, (4, 4), (4, 2), o)]
    events[-1].wait()
    return capsys.readouterr().out


def test_the_board_prints_what_the_emulator_prints(capsys, monkeypatch):
    monkeypatch.setenv("SLUICE_STALL_SEED", "11")
    monkeypatch.delenv("SLUICE_PRINTF", raising=False)
    expected = printed("emulator", capsys)
    assert expected.count("\n") > 40
    assert printed("board", capsys) == expected


def test_without_hardware_for_it_a_warning_says_so(monkeypatch):
    monkeypatch.setenv("SLUICE_PRINTF", "0")
    context = cl.create_some_context(board="de5net", device="board")
    log = cl.Program(context, SOURCE).build().get_build_info(None, cl.program_build_info.LOG)
    assert log.count("printf prints nothing on the board, here and in 16 more calls") == 1


#: arguments of printf, and what C's printf writes
AS_IN_C = (
    (r'"%hx %hhx %ho %hho", -32767, -128, -32767, -128', "8001 80 100001 200"),
    (r'"%hd %hhd %hu %hhu", 70000, 300, 70000, -1', "4464 44 4464 255"),
    (r'"%s|%.1s|%4s|", "foo\0bar", "foo", "foo"', "foo|f| foo|"),
    (r'"to here\0not this"', "to here"),
    (r'"%d %s%s|%s", n, n > 3 ? "many" : n ? "few" : "no", n == 1 ? "" : "s", n & 1 ? "odd" : "even"', "7 manys|odd"),
    (r'n < 3 ? "less %d" : "more %d", n', "more 7"),
    (r'"%.15e %f", 789456123.0, 1.0 / 3', "7.894561230000000e+08 0.333333"),
    (r'"%d", n, n + 1', "7"),
    (r'"", "unused"', ""),
    (r'"%v2hx", (short2)(-1, 2)', "ffff,2"),
    ('"%p %d", (__global int *)0, 5', "(nil) 5"),
)


def test_the_emulator_prints_as_c_does(capsys):
    calls = "".join(f'printf({call}); printf("\\n");' for call, _ in AS_IN_C)
    source = f'__kernel void k(__global ulong *a, int n) {{ {calls} printf("%p\\n", a); a[0] = (ulong)a; }}'
    context = cl.create_some_context(board="de5net", device="emulator")
    queue, program = cl.CommandQueue(context), cl.Program(context, source).build()
    assert program.get_build_info(None, cl.program_build_info.LOG).count("W0226") == 2
    address = np.zeros(1, np.uint64)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 8)
    program.k(queue, (1,), None, buffer, np.int32(7))
    cl.enqueue_copy(queue, address, buffer)
    assert capsys.readouterr().out.splitlines() == [*(text for _, text in AS_IN_C), hex(address[0])]


def test_random_formats_print_what_the_c_library_prints():
    assert differing(7, 60) == []
