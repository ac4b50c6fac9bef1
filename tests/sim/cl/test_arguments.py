"""Structs and vectors passed by value: anything of their size, byte for byte."""

import array
import ctypes

import numpy as np
import pytest

from hls.rtl.interface import ArgumentInterface, KernelInterface
from sim import cl
from sim.cl.arguments import check_argument, python_scalar
from sim.cl.errors import LogicError

POINT = np.dtype([("x", "f4"), ("y", "f4"), ("id", "i4")])


def passed(c_type: str, size: int, value) -> int:
    argument = ArgumentInterface("p", "scalar", c_type, size, 0x100, "in")
    kernel = KernelInterface("k", 0, 0, (argument,), False, {}, (), None)
    return check_argument(kernel, 0, value, None).register


def test_a_struct_is_passed_as_its_bytes():
    point = np.array((1.5, -2.0, 7), POINT)
    expected = int.from_bytes(point.tobytes(), "little")
    assert passed("struct Point", 12, point) == passed("Point", 12, point[()]) == expected


def test_a_vector_is_passed_as_its_elements():
    value = np.array([1, -2, 3, 4], "f4")
    assert passed("float4", 16, value) == int.from_bytes(value.tobytes(), "little")


@pytest.mark.parametrize(
    "c_type, size, value",
    [("float4", 16, np.zeros(3, "f4")), ("struct Point", 12, np.int32(3)), ("int", 4, np.zeros(1, POINT))],
)
def test_what_has_another_size_is_refused(c_type, size, value):
    with pytest.raises(LogicError, match=f"{size} bytes are wanted|a scalar is wanted"):
        passed(c_type, size, value)


def test_a_part_of_a_buffer_begins_where_the_widest_access_may():
    """Hardware looks at no address bits within an access; a vector of parts (vload) and a packed struct may begin
    anywhere."""
    source = """typedef struct { long a; char b; long c, d; } row;
    typedef struct __attribute__((packed)) { char a; int b; } tight;
    __kernel void k(__global row *restrict rows, __global float4 *restrict fours, __global int *restrict plain, __global tight *restrict tights, int n)
    {
        for (int i = 0; i < n; i++) {
            row one = rows[i];
            one.a++;
            rows[i] = one;
            fours[i] *= 2.0f;
            vstore4(vload4(0, plain + 3 * i) + 1, i, plain + 1);
            tights[i].b++;
        }
    }"""
    context = cl.create_some_context(board="de5net")
    kernel = cl.Program(context, source).build().k
    assert [argument.alignment for argument in kernel.interface.arguments] == [32, 16, 4, 1, 1]
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4096)
    for index, aligned in enumerate((32, 16, 4, 1)):
        kernel.set_arg(index, buffer.get_sub_region(aligned, 1024))
        if aligned > 1:
            with pytest.raises(
                LogicError,
                match=f"(?s)MISALIGNED_SUB_BUFFER_OFFSET.*{aligned} bytes at a time.* begins {aligned // 2} bytes",
            ):
                kernel.set_arg(index, buffer.get_sub_region(aligned // 2, 1024))


NUMPY = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
]
SCALARS = {
    "char": 1,
    "uchar": 1,
    "bool": 1,
    "short": 2,
    "ushort": 2,
    "half": 2,
    "int": 4,
    "unsigned int": 4,
    "float": 4,
    "long": 8,
    "size_t": 8,
    "double": 8,
}
SHAPES = {
    "scalar": lambda v: v,
    "array of none": lambda v: np.array(v),
    "array of one": lambda v: np.array([v]),
    "big endian": lambda v: np.array(v, v.dtype.newbyteorder(">")),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("c_type", SCALARS)
def test_scalars_take_what_has_their_size_and_meaning(c_type, name, shape):
    value, size = np.dtype(name).type(1), SCALARS[c_type]
    fits = (
        value.itemsize == size
        and (value.dtype.kind == "f") == (c_type in ("half", "float", "double"))
        and value.dtype.kind != "c"
    )
    if fits:
        assert passed(c_type, size, SHAPES[shape](value)) == int.from_bytes(value.tobytes(), "little")
    else:
        with pytest.raises(LogicError, match="bytes are wanted|would mean something else"):
            passed(c_type, size, SHAPES[shape](value))


@pytest.mark.parametrize(
    "value", [1, 1.5, True, None, "text", [1], object(), np.array(["a"]), np.array([object()]), np.array(1, "M8[s]")]
)
@pytest.mark.parametrize("c_type", ["int", "float4", "struct Point"])
def test_what_is_no_number_is_refused_with_a_code(c_type, value):
    with pytest.raises(LogicError, match="argument 1 of kernel k"):
        passed(c_type, {"int": 4, "float4": 16, "struct Point": 12}[c_type], value)


def test_vectors_take_elements_of_their_kind():
    assert passed("float3", 16, np.ones(3, "f4")) == int.from_bytes(np.ones(3, "f4").tobytes(), "little")
    record = np.array((1, 2, 3, 4), [(f"s{k}", "f4") for k in range(4)])
    assert passed("float4", 16, record) == passed("float4", 16, np.array([1, 2, 3, 4], "f4"))
    with pytest.raises(LogicError, match="would mean something else"):
        passed("float4", 16, np.ones(4, "i4"))


TYPES = """#include <stdint.h>
typedef float real; typedef real deeper; typedef float scale_t; typedef uint8_t byte_t; typedef float4 quad; typedef struct { int a, b; } pair_t;
typedef enum { ONE = 1, TWO } choice; typedef unsigned long long_t;
#define ALSO float
__kernel void k0(__global float *o, real x) { o[0] = x; }
__kernel void k1(__global float *o, deeper x) { o[0] = x; }
__kernel void k2(__global float *o, scale_t x) { o[0] = x; }
__kernel void k3(__global float *o, ALSO x) { o[0] = x; }
__kernel void k4(__global float *o, byte_t x) { o[0] = x; }
__kernel void k5(__global float *o, quad x) { o[0] = x.w; }
__kernel void k6(__global float *o, pair_t x) { o[0] = x.b; }
__kernel void k7(__global float *o, choice x) { o[0] = x; }
__kernel void k8(__global float *o, long_t x) { o[0] = x; }
__kernel void k9(__global float *o, double x) { o[0] = x; }
"""


@pytest.mark.parametrize(
    "kernel, good, bad",
    [
        ("k0", np.float32(7), np.int32(7)),
        ("k1", np.float32(7), np.uint32(7)),
        ("k2", np.float32(7), np.int32(7)),
        ("k3", np.float32(7), np.int32(7)),
        ("k4", np.uint8(7), np.float16(7)),
        ("k5", np.array([1, 2, 3, 7], "f4"), np.array([1, 2, 3, 7], "i4")),
        ("k6", np.array([3, 7], "i4"), np.int32(7)),
        ("k6", np.array([(3, 7)], "i4,i4")[0], np.int16(7)),
        ("k7", np.int32(7), np.float32(7)),
        ("k8", np.uint64(7), np.float64(7)),
        ("k9", np.float64(7), np.int64(7)),
    ],
)
def test_the_type_behind_a_name_decides(kernel, good, bad):
    context = cl.create_some_context(device="emulator")
    queue, program = cl.CommandQueue(context), cl.Program(context, TYPES).build()
    out, found = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4), np.zeros(1, np.float32)
    getattr(program, kernel)(queue, (1,), None, out, good).wait()
    cl.enqueue_copy(queue, found, out).wait()
    assert found[0] == 7
    with pytest.raises(cl.LogicError):
        getattr(program, kernel)(queue, (1,), None, out, bad)


@pytest.mark.parametrize(
    "value",
    [
        np.float32(1.5).tobytes(),
        bytearray(np.float32(1.5).tobytes()),
        memoryview(np.float32(1.5).tobytes()).cast("f"),
        ctypes.c_float(1.5),
        array.array("f", [1.5]),
    ],
)
def test_what_shows_its_bytes_is_taken(value):
    assert passed("float", 4, value) == int.from_bytes(np.float32(1.5).tobytes(), "little")


def test_structures_of_ctypes_are_taken():
    class Point(ctypes.Structure):
        _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float), ("id", ctypes.c_int))

    assert passed("Point", 12, Point(1.5, -2.0, 7)) == passed("Point", 12, np.array((1.5, -2.0, 7), POINT))
    with pytest.raises(LogicError, match="12 bytes are wanted"):
        passed("Point", 12, b"short")
    with pytest.raises(LogicError, match="would mean something else"):
        passed("float", 4, ctypes.c_int(7))


@pytest.mark.parametrize(
    "c_type, size, value",
    [
        ("int4", 16, cl.cltypes.make_float4(1, 2, 3, 4)),
        ("float4", 16, cl.cltypes.make_int4(1, 2, 3, 4)),
        ("int4", 16, np.array([1, 2], "i8")),
        ("float4", 16, np.array([1, 2], "f8")),
        ("int", 4, np.array([1, 2], "i2")),
        ("float", 4, np.array([(1,)], [("x", "i4")])[0]),
        ("double", 8, np.array([1, 2], "f4")),
        ("float4", 16, np.array([((1, 2), 3, 4)], [("a", "f4", 2), ("b", "f4"), ("c", "i4")])[0]),
    ],
)
def test_elements_of_another_kind_or_size_are_refused(c_type, size, value):
    """Also in a record: its size alone says nothing."""
    with pytest.raises(LogicError, match="INVALID_ARG_VALUE.*would mean something else"):
        passed(c_type, size, value)


@pytest.mark.parametrize(
    "c_type, size, value",
    [
        ("int4", 16, cl.cltypes.make_int4(1, 2, 3, 4)),
        ("uint4", 16, cl.cltypes.make_int4(1, 2, 3, 4)),
        ("float", 4, np.array([(1.5,)], [("x", "f4")])[0]),
        ("float4", 16, np.array([((1, 2), 3, 4)], [("a", "f4", 2), ("b", "f4"), ("c", "f4")])[0]),
        ("float4", 16, np.arange(16, dtype="u1")),
        ("Point", 12, np.array((1.5, -2.0, 7), POINT)),
        ("float4", 16, np.void(bytes(range(16)))),
    ],
)
def test_elements_of_the_kind_are_taken_as_they_lie(c_type, size, value):
    assert passed(c_type, size, value) == int.from_bytes(value.tobytes(), "little")


SAID = [np.int8, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", SAID)
@pytest.mark.parametrize("value", [1, 1.0, True, *(t(1) for t in SAID), np.bool_(True)])
def test_numbers_of_any_type_become_the_one_that_was_said(dtype, value):
    found = python_scalar(value, np.dtype(dtype))
    assert found == 1 and found.dtype == dtype


@pytest.mark.parametrize(
    "dtype, value",
    [
        (np.int8, 128),
        (np.int8, np.int32(-129)),
        (np.uint8, -1),
        (np.uint32, np.int64(1 << 32)),
        (np.int32, 1.5),
        (np.int32, np.float64(0.5)),
        (np.int32, float("nan")),
        (np.int32, float("inf")),
        (np.float32, 1j),
        (np.float32, np.complex64(1j)),
        (np.dtype("U4"), 7),
        (np.dtype("M8[s]"), 1),
    ],
)
def test_a_number_that_the_said_type_does_not_have_is_an_error_of_cl(dtype, value):
    with pytest.raises(LogicError, match="clSetKernelArg failed: INVALID_ARG_VALUE.* is no "):
        python_scalar(value, np.dtype(dtype))


def test_what_was_said_wrongly_is_an_error_of_cl():
    context = cl.create_some_context(device="emulator")
    kernel = cl.Program(context, "__kernel void k(__global float *o, float x) { o[0] = x; }").build().k
    for wrong in ([None, "nonsense"], [None, object()], [None]):
        with pytest.raises(LogicError):
            kernel.set_scalar_arg_dtypes(wrong)
    for index in ("x", None, 2, -1, 0.5):
        with pytest.raises(LogicError, match="INVALID_ARG_INDEX"):
            kernel.set_arg(index, np.float32(1))
    kernel.set_scalar_arg_dtypes([None, np.float32])
    out, found = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4), np.zeros(1, np.float32)
    queue = cl.CommandQueue(context)
    kernel(queue, (1,), None, out, np.float64(2.5)).wait()
    cl.enqueue_copy(queue, found, out).wait()
    assert found[0] == 2.5
