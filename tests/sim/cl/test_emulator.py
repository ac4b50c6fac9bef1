"""Host programs on the emulator: results, statistics, and every fault with its location."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest

from hls.ir.interpreter import run_kernel
from sim import cl

mf = cl.mem_flags
SOURCE = """
int at(__global const int *p, int i) { return p[i]; }
__kernel void read(__global const int *restrict a, __global int *restrict out, int i) {
    out[0] = at(a, i);
}
__kernel void store(__global short *restrict out, long i) { out[i] = 7; }
__kernel void inner(__global int *restrict out, int i) {
    int t[8];
    for (int k = 0; k < 8; k++) t[k] = k;
    out[0] = t[i];
}
__constant int table[3] = {5, 6, 7};
__kernel void look(__global int *restrict out, int i) { out[0] = table[i]; }
__kernel void endless(__global int *restrict out) {
    for (int k = 0; k < 3; k++)
        while (out[0] == 0)
            out[1]++;
}
__kernel void unset(__global int *restrict out, int n) {
    int t[8], u[8];
    for (int k = 0; k < n; k++) t[k] = k + 1;
    for (int k = 0; k < 8; k++) u[k] = t[k];
    out[0] = u[3];
}
__kernel void ids(__global ulong *restrict out) {
    size_t i = get_global_id(0) - get_global_offset(0);
    out[i] = get_global_id(0) * 1000 + get_local_id(0) * 100 + get_group_id(0) * 10 + get_work_dim();
}
__kernel void spin(__global int *restrict out, int n) {
    uint x = 1;
    for (int i = 0; i < n; i++) x = x * 1664525u + 1013904223u ^ x >> 3;
    out[0] = x;
}
"""


def line(text: str) -> int:
    return next(k for k, each in enumerate(SOURCE.splitlines(), 1) if text in each)


@pytest.fixture(scope="module")
def context():
    return cl.create_some_context(device="emulator")


@pytest.fixture(scope="module")
def queue(context):
    return cl.CommandQueue(context)


@pytest.fixture(scope="module")
def program(context):
    return cl.Program(context, SOURCE).build()


@pytest.fixture
def out(context):
    return cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.zeros(16, np.int32))


def host(queue, buffer, dtype=np.int32):
    array = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
    cl.enqueue_copy(queue, array, buffer)
    return array


def faults(*parts: str):
    return pytest.raises(cl.RuntimeError, match="OUT_OF_RESOURCES(?s:.*)" + "(?s:.*)".join(parts))


def test_work_items(program, queue, context):
    out = cl.Buffer(context, mf.READ_WRITE, 6 * 8)
    event = program.ids(queue, (6,), (3,), out, global_offset=(2,))
    assert host(queue, out, np.uint64).tolist() == [2001, 3101, 4201, 5011, 6111, 7211]
    stats = event.stats.to_dict()
    assert (stats["kernel"], stats["device"], stats["work_items"], stats["cycles"]) == ("ids", "emulator", 6, None)
    assert event.profile.end - event.profile.start == pytest.approx(stats["seconds"] * 1e9, abs=2)


def test_a_program_may_choose_the_emulator_by_itself(queue):
    context = cl.create_some_context()
    program = cl.Program(context, SOURCE).build(device="emulator")
    out = cl.Buffer(context, mf.READ_WRITE, 8)
    program.look(cl.CommandQueue(context), (1,), None, out, np.int32(2))
    assert host(cl.CommandQueue(context), out)[0] == 7


@pytest.mark.parametrize(("index", "first"), [(4, 16), (-1, -4), ((1 << 30) - 1, (1 << 32) - 4)])
def test_a_read_outside_a_buffer(program, queue, context, out, index, first):
    a = cl.Buffer(context, mf.READ_WRITE, 16)
    with faults(
        rf"<program source>:{line('int at(')}:\d+: error\[E1001\]: kernel read: a read of bytes {first} to {first + 3} of "
        r"argument "
        rf"`a` \(index {index}\) leaves its buffer of 16 bytes",
        r"\^",
        "check the index",
    ):
        program.read(queue, (1,), None, a, out, np.int32(index))
    program.read(queue, (1,), None, a, out, np.int32(3))  # the program still works


def test_a_write_outside_a_buffer(program, queue, out):
    with faults(
        rf":{line('__kernel void store')}:", r"kernel store: a write of bytes 64 to 65 of argument `out` \(index 32\)"
    ):
        program.store(queue, (1,), None, out, np.int64(32))
    for index in (1 << 62, 3 << 61, -1 << 63):  # 2**63 bytes, and offsets that would wrap to bytes inside of the buffer
        with faults(r"a write of bytes -9223372036854775808 to .*the byte offset of the index has more than 64 bits"):
            program.store(queue, (1,), None, out, np.int64(index))
    assert not host(queue, out).any()


def test_a_null_buffer_has_no_bytes(program, queue, out):
    with faults(r"argument `a` \(index 0\), which the host passed as None \(NULL in C\)", "pass a buffer"):
        program.read(queue, (1,), None, None, out, np.int32(0))


def test_an_index_outside_a_private_array_or_a_table(program, queue, out):
    with faults(rf":{line('= t[i]')}:", r"private array `t` \(index 8\) leaves its 32 bytes"):
        program.inner(queue, (1,), None, out, np.int32(8))
    with faults(rf":{line('= table[i]')}:", r"table `table` \(index -1\) leaves its 12 bytes"):
        program.look(queue, (1,), None, out, np.int32(-1))


def test_the_watchdog_names_the_loop(program, queue, out, monkeypatch):
    monkeypatch.setenv("SLUICE_MAX_ITERATIONS", "1000")
    with faults(rf":{line('while (out[0]')}:", "kernel endless: this loop has not ended after 1,000 iterations"):
        program.endless(queue, (1,), None, out)
    assert host(queue, out)[1] == 1000


def test_a_limit_that_is_no_number(program, queue, out, monkeypatch):
    monkeypatch.setenv("SLUICE_MAX_ITERATIONS", "many")
    with pytest.raises(cl.RuntimeError, match="SLUICE_MAX_ITERATIONS must be a number from 1 .*not 'many'"):
        program.look(queue, (1,), None, out, np.int32(0))
    monkeypatch.undo()
    program.look(queue, (1,), None, out, np.int32(0))


#: A program of its own: nothing that ran before it in this one may have changed who hears of signals.
INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
import sim.cl as cl
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
os.environ["SLUICE_MAX_ITERATIONS"] = str(1 << 60)  # however long the signal takes
context = cl.create_some_context(device="emulator")
queue = cl.CommandQueue(context)
program = cl.Program(context, sys.stdin.read()).build()
out = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(16, np.int32))
program.look(queue, (1,), None, out, np.int32(0))  # compiled by now
cl.enqueue_fill_buffer(queue, out, np.int32(0), 0, 64)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    program.endless(queue, (1,), None, out)
except KeyboardInterrupt as stop:
    print(stop)
"""


def test_an_interrupt_ends_a_run_and_says_where():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], input=SOURCE, capture_output=True, text=True, timeout=120, check=False
    )
    assert re.search(rf":{line('while (out[0]')}:.*kernel endless was running here", done.stdout), done.stderr


def test_what_is_read_before_it_is_written_is_said_once(context, queue, out, capfd):
    program = cl.Program(context, SOURCE).build()
    stats = program.unset(queue, (1,), None, out, np.int32(4)).stats.to_dict()
    assert stats["unset_reads"] == [] and capfd.readouterr().err == ""  # t is copied whole, but only u[3] counts
    for _ in range(2):
        stats = program.unset(queue, (1,), None, out, np.int32(3)).stats.to_dict()
        assert stats["unset_reads"] == [{"line": line("= u[3]"), "count": 1}]
    assert host(queue, out)[0] == 0
    assert capfd.readouterr().err.count("in unset, an element is read once before it is written") == 1


def test_errors_of_the_source_are_the_compilers(context):
    with pytest.raises(
        cl.RuntimeError,
        match=r"BUILD_PROGRAM_FAILURE(?s:.*)<program source>:1:\d+: error\[E0201\]: 'x' is not declared",
    ):
        cl.Program(context, "__kernel void k(__global int *a) { a[0] = x; }").build()


def test_what_the_emulator_has_not_is_an_error_of_the_source(context):
    kernels = (
        "__kernel void w(write_only pipe int q) { int v = 1; write_pipe(q, &v); }\n"
        "__kernel void r(read_only pipe short q, __global int *o) { short v; o[0] = read_pipe(q, &v); }"
    )
    with pytest.raises(
        cl.RuntimeError,
        match=r"BUILD_PROGRAM_FAILURE(?s:.*):2:\d+: error\[E0408\]: the pipe 'q' passes other values(?s:.*)pipe short q",
    ):
        cl.Program(context, kernels).build()


def test_pipes_are_joined_by_their_names(context, out):
    program = cl.Program(
        context,
        """
        __kernel void w(write_only pipe int __attribute__((blocking)) q, int n) { for (int i = 0; i < n; i++) { int v = i * 3; write_pipe(q, &v); } }
        __kernel void r(read_only pipe int __attribute__((blocking)) q, __global int *o, int n) {
            for (int i = 0; i < n; i++) { int v; read_pipe(q, &v); o[i] = v; } }""",
    ).build()
    pipe, queues = cl.Pipe(context, packet_size=4, max_packets=8), [cl.CommandQueue(context) for _ in range(2)]
    program.w(queues[0], (1,), None, pipe, np.int32(5))
    program.r(queues[1], (1,), None, None, out, np.int32(5)).wait()
    result = np.zeros(5, np.int32)
    cl.enqueue_copy(queues[1], result, out)
    assert result.tolist() == [0, 3, 6, 9, 12]
    with pytest.raises(cl.LogicError, match=r"a cl.Pipe is wanted, not int32"):
        program.w(queues[0], (1,), None, np.int32(1), np.int32(5))


def test_kernels_that_run_by_themselves(context, out):
    program = cl.Program(
        context,
        """
        channel int a, b;
        __attribute__((max_global_work_dim(0))) __attribute__((autorun)) __kernel void twice() { write_channel_intel(b, 2 * read_channel_intel(a)); }
        __kernel void w(int n) { for (int i = 0; i < n; i++) write_channel_intel(a, i); }
        __kernel void r(__global int *o, int n) { for (int i = 0; i < n; i++) o[i] = read_channel_intel(b); }""",
    ).build()
    assert program.kernel_names == "w;r" and [k.function_name for k in program.all_kernels()] == ["w", "r"]
    queue, other = cl.CommandQueue(context), cl.CommandQueue(context)
    result = np.zeros(5, np.int32)
    for _ in range(2):
        program.w(queue, (1,), None, np.int32(5))
        program.r(other, (1,), None, out, np.int32(5)).wait()
        cl.enqueue_copy(other, result, out)
        assert result.tolist() == [0, 2, 4, 6, 8]


def test_a_missing_compiler_is_named(context, queue, out, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(cl.RuntimeError, match="DEVICE_NOT_AVAILABLE.*install g\\+\\+"):
        cl.Program(context, SOURCE).build().look(queue, (1,), None, out, np.int32(0))


def test_speed(program, queue, out):
    """Native code: many times as fast as the interpreter, on the same loop in the same minute."""
    program.spin(queue, (1,), None, out, np.int32(1))  # compiles

    def rate(trips, run):
        started = time.perf_counter()
        run(trips)
        return trips / (time.perf_counter() - started)

    native = rate(20_000_000, lambda trips: program.spin(queue, (1,), None, out, np.int32(trips)))
    interpreted = rate(
        20_000,
        lambda trips: run_kernel(program._result.module, "spin", {"out": bytearray(out.size)}, {"n": trips}, (1,)),
    )
    assert native > 100 * interpreted, (native, interpreted)


JOINED = """
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int c __attribute__((depth(4)));
__kernel void produce(__global const int *restrict a, int n) { for (int i = 0; i < n; i++) write_channel_intel(c, a[i]); }
__kernel void consume(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = 2 * read_channel_intel(c); }
__kernel void fill(__global int *restrict o) { o[get_global_id(0)] = 7; }
__kernel void turn(__global int *restrict o, __local int *t) {
    int l = get_local_id(0), n = get_local_size(0);
    t[l] = o[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = t[n - 1 - l];
}
"""


@pytest.fixture
def joined(context):
    return cl.Program(context, JOINED).build()


def numbers(context, count):
    return cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.arange(count, dtype=np.int32))


def test_kernels_on_two_queues_meet_at_a_channel(joined, context):
    first, second = cl.CommandQueue(context), cl.CommandQueue(context)
    a, o = numbers(context, 50), cl.Buffer(context, mf.READ_WRITE, 200)
    made = joined.produce(first, (1,), None, a, np.int32(50))
    assert made.command_execution_status == cl.command_execution_status.RUNNING
    used = joined.consume(second, (1,), None, o, np.int32(50))
    after = joined.fill(second, (50,), (10,), o)
    assert made.command_execution_status == used.command_execution_status == cl.command_execution_status.COMPLETE
    after.wait()
    first.finish()
    assert set(host(second, o)) == {7} and made.stats.to_dict()["kernel"] == "produce"


def test_a_queue_keeps_its_order_behind_a_kernel_that_waits(joined, context):
    first, second = cl.CommandQueue(context), cl.CommandQueue(context)
    a, o = numbers(context, 50), cl.Buffer(context, mf.READ_WRITE, 200)
    joined.consume(first, (1,), None, o, np.int32(50))
    after = joined.fill(first, (1,), None, o)
    assert after.command_execution_status == cl.command_execution_status.QUEUED
    other = numbers(context, 3)
    assert host(second, other).tolist() == [0, 1, 2]  # another queue does not wait
    joined.produce(second, (1,), None, a, np.int32(50))
    assert host(first, o).tolist() == [7] + [2 * k for k in range(1, 50)]


def test_waiting_for_what_can_never_end_names_channel_and_line(joined, context):
    queue = cl.CommandQueue(context)
    event = joined.produce(queue, (1,), None, numbers(context, 9), np.int32(9))
    said = (
        r"<program source>:4:\d+: error\[E1005\]: no kernel can continue: kernel produce waits for channels(?s:.*)"
        "note: kernel produce waits to write to channel c, which is full"
    )
    for wait in (event.wait, queue.finish, lambda: event.stats):
        with pytest.raises(cl.RuntimeError, match=said):
            wait()
    o = cl.Buffer(context, mf.READ_WRITE, 16)
    joined.produce(queue, (1,), None, numbers(context, 4), np.int32(4))
    joined.consume(queue, (1,), None, o, np.int32(4))  # the channel was emptied: it is as after a reset
    assert host(queue, o).tolist() == [0, 2, 4, 6]


def test_local_memory_arguments(joined, context, queue):
    o = numbers(context, 8)
    joined.turn(queue, (8,), (4,), o, cl.LocalMemory(16))
    assert host(queue, o).tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    with faults(r"write of bytes 12 to 15 of local memory `t` \(index 3\) leaves its 12 bytes"):
        joined.turn(queue, (8,), (4,), o, cl.LocalMemory(12))
    with pytest.raises(cl.LogicError, match="cl.LocalMemory"):
        joined.turn(queue, (8,), (4,), o, np.int32(12))


def test_a_kernel_that_serves_others_is_no_failure_at_the_end(context, capsys):
    """A kernel that is written never to end only waits for more to do; one that should end is told."""
    program = cl.Program(
        context,
        """
        channel int c; channel int d;
        __kernel void serve() { while (1) write_channel_intel(d, 2 * read_channel_intel(c)); }
        __kernel void once(int n) { for (int i = 0; i < n; i++) write_channel_intel(d, 2 * read_channel_intel(c)); }""",
    ).build()
    for name, arguments, told in (("serve", (), False), ("once", (np.int32(3),), True)):
        cl.Kernel(program, name)(cl.CommandQueue(context), (1,), None, *arguments)
        context.simulated.schedule.finish_at_exit()
        assert (f"kernel {name} waits for channels" in capsys.readouterr().err) is told
        assert not context.simulated.schedule.pending
