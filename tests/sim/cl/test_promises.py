"""Launches on the board are checked against ``#pragma ivdep``, the sizes of their arrays, and the convergence of
barriers, before they begin."""

from dataclasses import replace

import numpy as np
import pytest

from hls.ir.launch import IndexSpace
from hls.options import Options
from hls.target.board import load_board
from sim import cl
from sim.cl.arguments import Value
from sim.cl.emulated import emulate_source
from sim.cl.promises import PromiseCheck

SOURCE = """
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int c;
__kernel void copy(__global int *restrict a, __global int *restrict b, int n) {
    #pragma ivdep
    for (int i = 0; i < n; i++) b[i] = a[i] + 1;
}
__kernel __attribute__((feed_forward(independent))) void shifted(__global int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            if (b[i * 8 + j]) a[i * 8 + j] += a[(i * 8 + j + n) & 63];
}
__kernel void plain(__global int *a, __global int *b, int n) {
    for (int i = 1; i < n; i++) { b[i] = a[i]; a[i] = a[i - 1]; }
}
__kernel void joined(__global int *a, __global int *b, int n) {
    #pragma ivdep
    for (int i = 0; i < n; i++) { a[0] = i; write_channel_intel(c, i); }
}
__kernel void taker(__global int *a, __global int *b, int n) {
    for (int i = 0; i < n; i++) b[i] = read_channel_intel(c);
}
int counted(int x, int *seen) {
    return seen[x & 7]++;
}
__kernel void kept(__global int *a, __global int *b, int n) {
    int seen[5] = {0};
    for (int i = 0; i < n; i++) b[i] = counted(a[i], seen);
}
__kernel void grouped(__global int *a, __global int *b, __local int *shared) {
    shared[get_local_id(0)] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = shared[get_local_id(0) + 1 - b[0]];
}
__kernel void endless(__global int *a, __global int *b, int n) {
    int seen[4] = {0};
    for (int i = 0; n == 9 || i < n; i++) seen[i & 3] += a[0];
    b[0] = seen[n & 3];
}
__kernel void watches(volatile __global int *a, __global int *b, int n) {
    int seen[4] = {0};
    while (a[0] == 0) seen[n]++;
    b[0] = seen[0];
}
__kernel void met(__global int *a, __global int *b, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    while (n == 77) a[0]++;
    barrier(CLK_GLOBAL_MEM_FENCE);
    b[i] = a[i ^ 1];
}
__kernel __attribute__((feed_forward(silent_stores))) void paths(__global int *restrict a, __global int *restrict b, int k) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) a[i * 8 + j] = min(a[i * 8 + j], a[i * 8 + k] + a[k * 8 + j]);
}
__kernel __attribute__((feed_forward(independent))) void strict(__global int *restrict a, __global int *restrict b, int k) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) a[i * 8 + j] = min(a[i * 8 + j], a[i * 8 + k] + a[k * 8 + j]);
}
__kernel __attribute__((feed_forward(silent_stores))) void late(__global int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < 8; i++) a[0] = i == n ? 9 : b[0];
}
"""


@pytest.fixture(scope="module")
def program():
    return emulate_source(SOURCE, load_board("de5net"), Options(), "k.cl")


@pytest.fixture(scope="module")
def context():
    return cl.Context()


@pytest.fixture(scope="module")
def check(program):
    return PromiseCheck(program.module)


def violation(check, program, context, name, a, b, n, space=((1,),), **facts):
    kernel = replace(next(k for k in program.interface.kernels if k.name == name), **facts)
    values = [Value(a), Value(b), Value(np.int32(n))]
    return check.violation(kernel, values, IndexSpace.of(*space), context.simulated.memory)


@pytest.fixture
def buffer(context):
    return cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.arange(64, dtype=np.int32))


def test_buffers_that_overlap_break_what_others_keep(check, program, context, buffer):
    before = buffer.bytes.copy()
    assert violation(check, program, context, "copy", buffer[:128], buffer[128:], 32) is None
    text = violation(check, program, context, "copy", buffer[:128], buffer[64:], 32)
    assert "k.cl:6:" in text
    assert "iteration 16 reads bytes 64 to 67 of argument `a` (index 16), which iteration 0 wrote" in text
    assert "iteration 0 writes it here" in text
    assert (buffer.bytes == before).all(), "only a copy was worked on"


def test_a_kernel_that_promises_independent_iterations(check, program, context):
    """Its loops are told apart: the outer one holds while no row uses another one."""
    data = np.arange(64, dtype=np.int32)
    zeros = np.zeros(64, np.int32)
    ones = zeros.copy()
    ones[::2] = 1
    a, b, c = (cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=one) for one in (data, ones, zeros))
    assert violation(check, program, context, "shifted", a, b, 5) is None
    assert violation(check, program, context, "shifted", a, c, 2) is None
    text = violation(check, program, context, "shifted", a, b, 62)
    assert (
        "k.cl:11:47: error[E1002]: kernel shifted: feed_forward(independent) does not hold: iteration 2 reads" in text
    )
    assert "(index 0), which iteration 0 wrote" in text
    assert "k.cl:10:9: note: the loop whose iterations these are" in text and "remove `independent`" in text
    text = violation(check, program, context, "shifted", a, b, 56)
    assert "iteration 1 reads" in text and "k.cl:9:5: note: the loop whose iterations these are" in text


def test_stores_that_leave_an_element_as_it_was(check, program, context):
    """They may meet the loads of other iterations; a store that changes what another iteration left may not."""
    rng = np.random.default_rng(4)
    data = rng.integers(1, 99, (8, 8)).astype(np.int32)
    np.fill_diagonal(data, 0)
    a, b = (cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=one) for one in (data, np.full(64, 3, np.int32)))
    assert violation(check, program, context, "paths", a, b, 5) is None
    assert "feed_forward(independent) does not hold" in violation(check, program, context, "strict", a, b, 5)
    data[5, 5] = -1
    a = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=data)
    text = violation(check, program, context, "paths", a, b, 5)
    assert "kernel paths: feed_forward(silent_stores) does not hold: iteration" in text
    assert "remove `silent_stores`" in text
    assert violation(check, program, context, "late", b, b, 8) is None
    text = violation(check, program, context, "late", b, b, 5)
    assert "iteration 5 writes bytes 0 to 3 of argument `a` (index 0), which iteration 4 wrote" in text


def test_kernels_that_promise_nothing_or_work_on_channels_are_left_out(check, program, context, buffer):
    for name in ("plain", "joined", "taker"):
        assert violation(check, program, context, name, buffer, buffer, 32) is None


def test_other_faults_are_left_to_the_board(check, program, context, buffer):
    assert violation(check, program, context, "copy", buffer[:128], buffer[128:], 1000) is None
    assert violation(check, program, context, "copy", None, buffer, 4) is None


def test_an_index_outside_an_array_is_told_with_its_line(check, program, context, buffer):
    assert violation(check, program, context, "kept", buffer[:128], buffer[128:], 5) is None
    text = violation(check, program, context, "kept", buffer[:128], buffer[128:], 6)
    assert (
        "k.cl:24:12:" in text and "read of bytes 20 to 23 of private array `seen` (index 5) leaves its 20 bytes" in text
    )
    assert "check the index" in text


def test_local_memory_of_which_the_host_gives_the_size(check, program, context, buffer):
    kernel = next(k for k in program.interface.kernels if k.name == "grouped")
    values = [Value(buffer[:128]), Value(buffer[128:]), Value(cl.LocalMemory(32))]
    text = check.violation(kernel, values, IndexSpace.of((16,), (8,)), context.simulated.memory)
    assert "k.cl:33:27:" in text and "local memory `shared` (index -31) leaves its 32 bytes" in text


def test_what_may_never_end_is_left_to_the_board(check, program, context, buffer):
    """After a bounded number of iterations, and where another kernel may be waited for at once."""
    assert violation(check, program, context, "endless", buffer[:128], buffer[128:], 9) is None
    assert violation(check, program, context, "watches", buffer[:128], buffer[128:], 7) is None


SPACE = ((32,), (8,))


def test_a_group_that_parts_before_a_barrier(check, program, context, buffer):
    """Where the compiler says that the kernel rests on that; the launch before, which keeps the promise, changes
    nothing."""
    before = buffer.bytes.copy()
    for n in (0, 8, 32, 100):
        assert violation(check, program, context, "met", buffer[:128], buffer[128:], n, SPACE, promised=True) is None
    text = violation(check, program, context, "met", buffer[:128], buffer[128:], 18, SPACE, promised=True)
    assert "k.cl:50:5: error[E1004]: kernel met: not all work-items of group (2, 0, 0) reach this barrier" in text
    assert (
        "k.cl:47:11: note: here the work-item with local id (2, 0, 0) of the group takes another branch than (0, 0, 0)"
        in text
    )
    assert (buffer.bytes == before).all()


def test_a_kernel_whose_barriers_are_known_is_not_emulated(check, program, context, buffer, monkeypatch):
    ran = []
    monkeypatch.setattr(check._emulator, "run", lambda *given, **limits: ran.append(given[0]))
    assert violation(check, program, context, "met", buffer[:128], buffer[128:], 18, SPACE) is None and ran == []
    assert violation(
        check, program, context, "met", buffer[:128], buffer[128:], 18, SPACE, promised=True
    ) is None and ran == ["met"]


def test_a_promise_that_cannot_be_held_against_a_launch_in_time_is_not_taken(
    check, program, context, buffer, monkeypatch
):
    monkeypatch.setenv("SLUICE_MAX_ITERATIONS", "1000")
    text = violation(check, program, context, "met", buffer[:128], buffer[128:], 77, SPACE, promised=True)
    assert (
        "k.cl:49:5: error[E1008]: kernel met: this loop has not ended after 1,000 iterations" in text
        and "SLUICE_MAX_ITERATIONS" in text
    )
