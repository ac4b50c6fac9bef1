"""Queries of programs, kernels, arguments and buffers, and programs from binaries, as with pyopencl."""

import numpy as np
import pytest

from hls.diag import Code, CompileError
from sim import cl
from sim.cl.restrict import RestrictCheck

SOURCE = """#ifndef FACTOR
#error "FACTOR is not said"
#endif
typedef float real; typedef struct { int a, b; } pair_t;
float halved(float x) { float t[8]; for (int i = 0; i < 8; i++) t[i] = x; return t[(int)x & 7] / 2; }
__kernel void f(__global real *restrict o, const __global volatile uint *v, __constant int *t, __local float *extra, real x, pair_t p) {
    __local int tile[32];
    tile[0] = p.a; o[0] = x * FACTOR + tile[0] + halved(x) + t[0] + v[0] + extra[0];
}
__kernel void scale(__global real *o, real x) { o[0] = x * FACTOR; }
__kernel void piped(read_only pipe int from, write_only pipe int to) { int x; if (!read_pipe(from, &x)) write_pipe(to, &x); }
"""
N = np.float32


@pytest.fixture
def context():
    return cl.create_some_context(device="emulator")


@pytest.fixture
def program(context):
    return cl.Program(context, SOURCE).build(["-DFACTOR=3"])


def run(program, kernel: str, x: float) -> float:
    queue = cl.CommandQueue(program.context)
    out, found = cl.Buffer(program.context, cl.mem_flags.READ_WRITE, 4), np.zeros(1, N)
    getattr(program, kernel)(queue, (1,), None, out, N(x)).wait()
    cl.enqueue_copy(queue, found, out).wait()
    return float(found[0])


def test_a_program_is_made_again_from_its_binary(program):
    (binary,) = program.binaries
    assert program.get_info(cl.program_info.BINARIES) == [binary] and program.get_info(
        cl.program_info.BINARY_SIZES
    ) == [len(binary)]
    context = cl.create_some_context(device="emulator")
    again = cl.Program(context, context.devices, [binary]).build()
    assert run(again, "scale", 5) == 15 and again.binaries == [binary]
    assert again.get_build_info(context.device, cl.program_build_info.OPTIONS) == "-DFACTOR=3"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x7fELF",
        b"sluice program 1\n",
        b"sluice program 1\n{}",
        b'sluice program 1\n{"source": 1, "options": []}',
        b'sluice program 1\n{"source": "", "options": [2]}',
        b"sluice program 1\n\xff",
        "text",
        None,
        7,
    ],
)
def test_what_is_no_binary_is_said(context, data):
    with pytest.raises(cl.LogicError, match="INVALID_BINARY"):
        cl.Program(context, context.devices, [data])


def test_devices_and_binaries_belong_together(context, program):
    for devices, binaries in (
        ([], program.binaries),
        (context.devices, []),
        (context.devices, program.binaries * 2),
        (None, program.binaries),
    ):
        with pytest.raises(cl.LogicError, match="INVALID_VALUE"):
            cl.Program(context, devices, binaries)
    with pytest.raises(cl.LogicError, match="INVALID_VALUE"):
        cl.Program(context, context.devices)
    with pytest.raises(cl.LogicError, match="call build"):
        _ = cl.Program(context, SOURCE).binaries


def test_facts_of_kernels(context, program):
    kernel, info = program.f, cl.kernel_work_group_info
    assert kernel.get_info(cl.kernel_info.CONTEXT) is context and kernel.get_info(cl.kernel_info.PROGRAM) is program
    assert kernel.get_work_group_info(info.LOCAL_MEM_SIZE, context.device) == 128
    kernel.set_arg(3, cl.LocalMemory(64))
    assert kernel.get_work_group_info(info.LOCAL_MEM_SIZE, context.device) == 192
    assert kernel.get_work_group_info(info.PRIVATE_MEM_SIZE, context.device) >= 32
    with pytest.raises(cl.LogicError, match="INVALID_VALUE"):
        kernel.get_work_group_info(0x1234, context.device)


def test_facts_of_arguments(program):
    info, place, kinds = cl.kernel_arg_info, cl.kernel_arg_address_qualifier, cl.kernel_arg_type_qualifier

    def facts(kernel, parameter):
        return [kernel.get_arg_info(k, parameter) for k in range(kernel.num_args)]

    f = program.f
    assert facts(f, info.NAME) == ["o", "v", "t", "extra", "x", "p"]
    assert facts(f, info.TYPE_NAME) == ["real*", "uint*", "int*", "float*", "real", "pair_t"]
    assert facts(f, info.ADDRESS_QUALIFIER) == [
        place.GLOBAL,
        place.GLOBAL,
        place.CONSTANT,
        place.LOCAL,
        place.PRIVATE,
        place.PRIVATE,
    ]
    assert facts(f, info.TYPE_QUALIFIER) == [
        kinds.RESTRICT,
        kinds.CONST | kinds.VOLATILE,
        kinds.CONST,
        kinds.NONE,
        kinds.NONE,
        kinds.NONE,
    ]
    assert set(facts(f, info.ACCESS_QUALIFIER)) == {cl.kernel_arg_access_qualifier.NONE}
    pipes = program.piped
    assert facts(pipes, info.TYPE_QUALIFIER) == [kinds.PIPE] * 2 and facts(pipes, info.TYPE_NAME) == ["int"] * 2
    assert facts(pipes, info.ACCESS_QUALIFIER) == [
        cl.kernel_arg_access_qualifier.READ_ONLY,
        cl.kernel_arg_access_qualifier.WRITE_ONLY,
    ]
    for index, parameter, code in (
        (6, info.NAME, "INVALID_ARG_INDEX"),
        (-1, info.NAME, "INVALID_ARG_INDEX"),
        ("x", info.NAME, "INVALID_ARG_INDEX"),
        (0, 1, "INVALID_VALUE"),
    ):
        with pytest.raises(cl.LogicError, match=code):
            f.get_arg_info(index, parameter)


def test_facts_of_buffers(context):
    info = cl.mem_info
    buffer = cl.Buffer(context, cl.mem_flags.READ_ONLY, 256)
    part = buffer.get_sub_region(64, 128)
    assert (
        buffer.get_info(info.SIZE) == 256
        and buffer.get_info(info.FLAGS) == cl.mem_flags.READ_ONLY
        and buffer.get_info(info.CONTEXT) is context
    )
    assert (
        buffer.get_info(info.TYPE) == cl.mem_object_type.BUFFER
        and buffer.get_info(info.OFFSET) == 0
        and buffer.get_info(info.ASSOCIATED_MEMOBJECT) is None
    )
    assert (part.get_info(info.OFFSET), part.get_info(info.SIZE), part.get_info(info.ASSOCIATED_MEMOBJECT)) == (
        64,
        128,
        buffer,
    )
    with pytest.raises(cl.LogicError, match="INVALID_VALUE"):
        buffer.get_info(1)


def test_numbers_and_versions():
    assert (
        cl.get_cl_header_version() == (1, 2)
        and cl.mem_migration_flags.HOST == 1
        and cl.mem_migration_flags.CONTENT_UNDEFINED == 2
    )


def answers(thing, numbers: type) -> dict[str, object]:
    """What the object says to each of OpenCL's numbers."""
    return {name: thing.get_info(number) for name, number in vars(numbers).items() if name.isupper()}


def test_everything_answers_all_that_its_numbers_ask(context, program):
    """Each number has the attribute of the same name, as pyopencl's objects do."""
    queue, buffer = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
    asked = (
        (context.device, cl.device_info),
        (context.device.platform, cl.platform_info),
        (context, cl.context_info),
        (queue, cl.command_queue_info),
        (program, cl.program_info),
        (program.f, cl.kernel_info),
        (buffer, cl.mem_info),
        (cl.Pipe(context, 0, 4, 8), cl.mem_info),
        (cl.enqueue_marker(queue), cl.event_info),
    )
    for thing, numbers in asked:
        for name, answer in answers(thing, numbers).items():
            assert getattr(thing, name.lower()) == answer, name
        for wrong in (1, -5, "name", None, 1.5):
            with pytest.raises(cl.LogicError, match="INVALID_VALUE"):
                thing.get_info(wrong)
    assert answers(queue, cl.command_queue_info)["DEVICE"] is context.device and queue.context is context
    assert queue.get_info(cl.command_queue_info.PROPERTIES) == cl.command_queue_properties.PROFILING_ENABLE
    assert context.get_info(cl.context_info.PROPERTIES) == [(cl.context_properties.PLATFORM, context.device.platform)]
    assert context.device.max_constant_buffer_size >= 65536 and context.device.max_parameter_size >= 1024
    assert isinstance(buffer, cl.MemoryObject) and buffer.get_info(cl.mem_info.HOST_PTR) is None


def test_the_attributes_of_a_kernel(context):
    source = (
        "__attribute__((reqd_work_group_size(8, 2, 1))) __kernel void k(__global int *o) { o[get_global_id(0)] = 1; }"
    )
    kernel = cl.Program(context, source).build().k
    assert kernel.attributes == kernel.get_info(cl.kernel_info.ATTRIBUTES) == "reqd_work_group_size(8,2,1)"


def test_what_a_kernel_writes(monkeypatch):
    """Of programs that are too large to be looked at as a whole, by the types of the arguments."""
    source = "__kernel void k(__global const int *a, __global int *b, __global int *c, int n) { b[n] = a[n] + c[n]; }"
    kernel = cl.Program(cl.create_some_context(device="emulator"), source).build().k
    assert [kernel.writes(k) for k in range(4)] == [False, True, False, False]

    def too_large(*_):
        raise CompileError.at(None, "too large", code=Code.BUDGET)

    monkeypatch.setattr(RestrictCheck, "written", too_large)
    assert [kernel.writes(k) for k in range(4)] == [False, True, True, False]


def test_a_kernel_named_capture_leaves_the_vendors_call():
    context = cl.create_some_context(device="emulator")
    program = cl.Program(context, "__kernel void capture(__global int *a) { a[0] = 1; }").build()
    assert isinstance(program.capture, cl.Kernel)
    assert cl.get_profile_data_device_intel(context.devices[0], program) == []
