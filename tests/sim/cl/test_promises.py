"""Launches on the board are held against ``#pragma ivdep`` before they begin."""

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


def violation(check, program, context, name, a, b, n):
    kernel = next(k for k in program.interface.kernels if k.name == name)
    values = [Value(a), Value(b), Value(np.int32(n))]
    return check.violation(kernel, values, IndexSpace.of((1,)), context.simulated.memory)


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


def test_kernels_that_promise_nothing_or_work_on_channels_are_left_out(check, program, context, buffer):
    for name in ("plain", "joined", "taker"):
        assert violation(check, program, context, name, buffer, buffer, 32) is None


def test_other_faults_are_left_to_the_board(check, program, context, buffer):
    assert violation(check, program, context, "copy", buffer[:128], buffer[128:], 1000) is None
    assert violation(check, program, context, "copy", None, buffer, 4) is None
