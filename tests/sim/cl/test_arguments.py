"""Structs and vectors passed by value: anything of their size, byte for byte."""

import numpy as np
import pytest

from hls.rtl.interface import ArgumentInterface, KernelInterface
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
