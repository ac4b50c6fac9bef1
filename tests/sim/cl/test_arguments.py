"""Structs and vectors passed by value: anything of their size, byte for byte."""

import numpy as np
import pytest

from hls.rtl.interface import ArgumentInterface, KernelInterface
from sim import cl
from sim.cl.arguments import check_argument
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


@pytest.mark.parametrize("c_type, size, value", [
    ("float4", 16, np.zeros(3, "f4")), ("struct Point", 12, np.int32(3)), ("int", 4, np.zeros(1, POINT)),
])
def test_what_has_another_size_is_refused(c_type, size, value):
    with pytest.raises(LogicError, match=f"{size} bytes are wanted|a scalar is wanted"):
        passed(c_type, size, value)


def test_a_part_of_a_buffer_begins_where_the_widest_access_may():
    """Hardware looks at no address bits within an access; a vector of parts (vload) and a packed struct may begin anywhere."""
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
            with pytest.raises(LogicError, match=f"(?s)MISALIGNED_SUB_BUFFER_OFFSET.*{aligned} bytes at a time.* begins {aligned // 2} bytes"):
                kernel.set_arg(index, buffer.get_sub_region(aligned // 2, 1024))
