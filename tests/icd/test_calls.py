"""What single calls answer: calls.c has the calls, each with what the standard demands."""

from tests.icd.conftest import HERE


def test_calls_answer_as_the_standard_says(driver):
    done = driver.run(driver.build(HERE / "calls.c"))
    assert done.stdout.endswith("calls, 0 wrong\n") and done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-4]) > 150


def test_a_host_creates_a_pipe_for_each_name_of_pipe_parameters(driver):
    done = driver.run(driver.build(HERE / "pipes.c"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "this pipe has been passed for `p`; give both parameters one name" in done.stderr


def test_a_refused_call_says_why_only_if_asked(driver):
    host = driver.build(HERE / "calls.c")
    assert "clSetKernelArg: error -51: argument 2 of kernel add, `int n`: 4 bytes are wanted, not 8" in (
        driver.run(host).stderr
    )
    assert driver.run(host, SLUICE_VERBOSE="0").stderr == ""


def test_programs_are_compiled_and_linked(driver, tmp_path):
    done = driver.python(
        """
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
header = cl.Program(context, "int twice(int x);\\n#define STEP 3\\n"
    "extern constant struct both { int a, b; } c; extern constant int d[];\\n")
one = cl.Program(context, '#include "parts/twice.h"\\n#define LOCAL 1\\n'
    '__kernel void f(__global int *a) { a[get_global_id(0)] = twice(a[get_global_id(0)]) + STEP + c.b + d[1]; }')
two = cl.Program(context, '#include "parts/twice.h"\\n#ifdef LOCAL\\n#error macros of others\\n#endif\\nint twice(int x) { return 2 * x; }\\n'
    'constant struct both { int a, b; } c = {1, 20}; constant int d[] = {1, 300};')
for program in (one, two):
    program.compile(headers=[("parts/twice.h", header)])
linked = cl.link_program(context, [one, two])
a = np.arange(8, dtype=np.int32)
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
cl.Kernel(linked, "f")(queue, (8,), None, buffer)
result = np.empty_like(a)
cl.enqueue_copy(queue, result, buffer)
assert list(result) == [2 * x + 323 for x in range(8)], result
"""
    )
    assert done.returncode == 0, done.stderr


def test_variables_of_a_program_are_no_arguments_of_the_host(driver):
    done = driver.python(
        """
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
one = cl.Program(context, '__global int total = 40; int more(int x) { static int calls; return total += x + calls++; }'
    '__kernel void f(__global int *a, int x) { a[0] = more(x); }')
program = one.build()
other = cl.Program(context, '__kernel void f(__global int *a) { }').build()
kernel, device = cl.Kernel(program, "f"), context.devices[0]
assert kernel.num_args == 2
size = cl.program_build_info.GLOBAL_VARIABLE_TOTAL_SIZE
assert [one.get_build_info(device, size) for one in (program, other)] == [8, 0]
buffer, found = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4), np.zeros(1, np.int32)
for wanted in (42, 45, 49):
    kernel(queue, (1,), None, buffer, np.int32(2))
    cl.enqueue_copy(queue, found, buffer)
    assert found[0] == wanted, found
"""
    )
    assert done.returncode == 0, done.stderr


def test_compiled_parts_are_saved_and_linked_in_another_process(driver, tmp_path):
    """A kernel calls one of another program, whose headers and folders are gone by then."""
    (tmp_path / "step.h").write_text("#define STEP 5\n")
    start = "context = cl.create_some_context(interactive=False)\n"
    done = driver.python(
        start
        + f"""
one = cl.Program(context, "extern __kernel void g(__global int *a); __kernel void f(__global int *a) {{ g(a); a[0] += N; }}")
two = cl.Program(context, '#include "step.h"\\n__kernel void g(__global int *a) {{ a[0] = STEP; }}')
one.compile(options=["-DN=2"])
two.compile(options=["-I", {str(tmp_path)!r}])
for name, program in (("one", one), ("two", two)):
    open({str(tmp_path)!r} + "/" + name, "wb").write(program.binaries[0])
"""
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "step.h").unlink()
    done = driver.python(
        start
        + f"""
parts = [cl.Program(context, context.devices, [open({str(tmp_path)!r} + "/" + name, "rb").read()]) for name in ("one", "two")]
kinds = [one.get_build_info(context.devices[0], cl.program_build_info.BINARY_TYPE) for one in parts]
assert kinds == [cl.program_binary_type.COMPILED_OBJECT] * 2, kinds
linked = cl.link_program(context, parts)
queue, result = cl.CommandQueue(context), np.empty(1, np.int32)
buffer = cl.Buffer(context, 0, 4)
cl.Kernel(linked, "f")(queue, (1,), None, buffer)
cl.enqueue_copy(queue, result, buffer)
assert result[0] == 7, result
"""
    )
    assert done.returncode == 0, done.stderr


def test_kernels_print_where_the_host_prints(driver, tmp_path):
    """Also after the host has put another file in the place of its standard output."""
    done = driver.python(
        f"""
import os, sys
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
kernel = cl.Kernel(cl.Program(context, '__kernel void f(int n) {{ printf("n %d;", n); }}').build(), "f")
def launch(n):
    kernel(queue, (1,), None, np.int32(n))
    queue.finish()
launch(1)
kept = os.dup(1)
for name in ("one", "two"):
    file = os.open({str(tmp_path)!r} + "/" + name, os.O_CREAT | os.O_WRONLY)
    os.write(file, b"host;")
    os.dup2(file, 1)
    launch(2)
    os.write(1, b"host again;")
    launch(3)
os.dup2(kept, 1)
launch(4)
os.close(1)
launch(5)
"""
    )
    assert (done.returncode, done.stdout[:8]) == (0, "n 1;n 4;"), done.stderr
    for name in ("one", "two"):
        assert (tmp_path / name).read_text() == "host;n 2;host again;n 3;"


def test_a_kernel_without_ids_runs_for_each_work_item(driver):
    done = driver.python(
        """
context = cl.create_some_context(interactive=False)
program = cl.Program(context, "__kernel void f(__global int *a) { a[0] += 1; }").build()
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))
result = np.empty(1, np.int32)
for bits in (0, cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE):
    queue = cl.CommandQueue(context, properties=bits)
    event = cl.enqueue_nd_range_kernel(queue, (k := cl.Kernel(program, "f"), k.set_args(buffer))[0], (8, 2), None)
    cl.enqueue_copy(queue, result, buffer, wait_for=[event])
assert result[0] == 32, result
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_binary_makes_the_program_again(driver):
    done = driver.python(
        """
context = cl.create_some_context(interactive=False)
binary = cl.Program(context, "__kernel void f(__global int *a) { a[0] = N; }").build("-DN=7").binaries[0]
again = cl.Program(context, context.devices, [binary]).build()
queue = cl.CommandQueue(context)
buffer = cl.Buffer(context, 0, 4)
cl.Kernel(again, "f")(queue, (1,), None, buffer)
result = np.empty(1, np.int32)
cl.enqueue_copy(queue, result, buffer)
assert result[0] == 7
for broken in (binary[:20], binary[:-5], b"\\x7fELF"):
    try:
        cl.Program(context, context.devices, [broken]).build()
    except cl.LogicError as error:
        assert error.code == cl.status_code.INVALID_BINARY, error
    else:
        raise AssertionError(broken)
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_context_of_several_boards_moves_its_buffers(driver):
    done = driver.python(
        """
context = cl.Context(cl.get_platforms()[0].get_devices()[:2])
program = cl.Program(context, "__kernel void f(__global int *a) { a[get_global_id(0)] += 1; }").build()
kernel = cl.Kernel(program, "f")
a = np.arange(64, dtype=np.int32)
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
queues = [cl.CommandQueue(context, device) for device in context.devices]
for queue in (*queues, *queues):
    kernel(queue, (64,), None, buffer).wait()
result = np.empty_like(a)
cl.enqueue_copy(queues[0], result, buffer)
assert (result == a + 4).all()
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_queue_without_order_keeps_to_events_and_barriers(driver):
    done = driver.python(
        """
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
kernel = cl.Kernel(cl.Program(context, "__kernel void f(__global int *a, int n) { a[0] = a[0] * 10 + n; }").build(), "f")
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))
gate = cl.UserEvent(context)
late = kernel(queue, (1,), None, buffer, np.int32(2), wait_for=[gate])
early = kernel(queue, (1,), None, buffer, np.int32(1))
early.wait()
assert late.command_execution_status == cl.command_execution_status.QUEUED
cl.enqueue_barrier(queue)
last = kernel(queue, (1,), None, buffer, np.int32(3))
called = []
last.set_callback(cl.command_execution_status.COMPLETE, called.append)
gate.set_status(cl.command_execution_status.COMPLETE)
queue.finish()
result = np.empty(1, np.int32)
cl.enqueue_copy(queue, result, buffer)
assert result[0] == 123, result
import time
for _ in range(500):
    if called: break
    time.sleep(0.01)
assert called == [0]
"""
    )
    assert done.returncode == 0, done.stderr


def test_kernels_that_channels_join_run_from_two_queues(driver):
    done = driver.python(
        """
source = '''
channel int c;
__kernel void give(__global const int *a, int n) { for (int i = 0; i < n; i++) write_channel_intel(c, a[i]); }
__kernel void take(__global int *b, int n) { for (int i = 0; i < n; i++) b[i] = read_channel_intel(c); }
'''
source = "#pragma OPENCL EXTENSION cl_intel_channels : enable" + source
context = cl.create_some_context(interactive=False)
program = cl.Program(context, source).build()
one, other = cl.CommandQueue(context), cl.CommandQueue(context)
a = np.arange(100, dtype=np.int32)
given = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
taken = cl.Buffer(context, 0, a.nbytes)
result = np.zeros_like(a)
cl.Kernel(program, "give")(one, (1,), None, given, np.int32(100))
cl.Kernel(program, "take")(other, (1,), None, taken, np.int32(100))
cl.enqueue_copy(other, result, taken, is_blocking=False)
one.finish()
other.finish()
assert (result == a).all()
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_kernel_that_leaves_its_buffer_fails_with_the_place(driver):
    done = driver.python(
        """
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
buffer = cl.Buffer(context, 0, 16)
kernel = cl.Kernel(cl.Program(context, "__kernel void f(__global int *a) {\\n  a[9] = 1;\\n}").build(), "f")
event = kernel(queue, (1,), None, buffer)
try:
    queue.finish()
except cl.Error as error:
    assert error.code == cl.status_code.OUT_OF_RESOURCES
else:
    raise AssertionError("no error")
assert event.command_execution_status < 0
queue.finish()
"""
    )
    assert done.returncode == 0 and ":2:" in done.stderr, done.stderr


def test_migrations_move_what_the_host_sees(driver):
    done = driver.run(driver.build(HERE / "migrating.c"))
    assert (done.returncode, done.stdout) == (0, "all right\n"), done.stdout + done.stderr


def test_a_kernel_takes_no_part_that_its_device_cannot_address(driver):
    """The standard demands alignment for any device of the context when a part is made, and for its own in a launch."""
    done = driver.python(
        """
found = {d.name.split()[0]: d for d in cl.get_platforms()[0].get_devices()}
devices = [found["de5net"], found["ecp5_onchip"]]
context = cl.Context(devices)
kernel = cl.Kernel(cl.Program(context, "__kernel void f(__global int *a) { a[0] = 3; }").build(), "f")
part = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64).get_sub_region(4, 8)
kernel.set_args(part)
codes = []
for device in devices:
    try:
        queue = cl.CommandQueue(context, device)
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
        queue.finish()
        codes.append(0)
    except cl.Error as error:
        codes.append(error.code)
assert codes == [cl.status_code.MISALIGNED_SUB_BUFFER_OFFSET, 0], codes
"""
    )
    assert done.returncode == 0, done.stderr
