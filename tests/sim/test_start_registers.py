"""The registers that are written to start a kernel, and how many the device model takes them for."""

import pytest

from hls.driver import compile
from hls.ir import Attr
from hls.options import Options
from hls.target.board import load_board
from rtl_lib.axi import register_map as at
from sim.start_registers import number_of_start_writes, start_writes

SOURCE = """
typedef struct { int word[5]; } five;
__kernel void none(void) { }
__kernel void mixed(__global int *restrict a, char c, int n, long l, five f) { a[c] = n + (int) l + f.word[4]; }
__kernel void items(__global int *restrict a) { a[get_global_id(0)] = get_global_size(1); }
"""


@pytest.fixture(scope="module")
def compiled():
    return compile(SOURCE, load_board("de5net"), Options(), file="k.cl")


@pytest.mark.parametrize("name, writes", [("none", 2), ("mixed", 2 + 2 + 2 + 2 + 2 + 5), ("items", None)])
def test_the_number_of_writes(compiled, name, writes):
    interface = next(one for one in compiled.interface.kernels if one.name == name)
    function = next(one.function for one in compiled.kernels if one.function.name == name)
    made = start_writes(
        interface, {one.name: 0 for one in interface.arguments}, dict.fromkeys(interface.launch, 0), True
    )
    arguments = [one.bytes for one in function.params if one.kind != "pipe"]
    assert len(made) == number_of_start_writes(arguments, len(function.attrs.get(Attr.LAUNCH_ARGS, ())))
    assert len({address for address, _ in made}) == len(made)
    assert writes is None or len(made) == writes
    assert made[-1] == (interface.base + at.CONTROL, at.START | at.FORGET)


def test_a_value_fills_its_slot_from_the_lowest_word(compiled):
    mixed = next(one for one in compiled.interface.kernels if one.name == "mixed")
    values = dict.fromkeys((one.name for one in mixed.arguments), 0) | {"a": 0x1_0000_0002, "c": 3, "f": 5 << 128}
    made = dict(start_writes(mixed, values, {}, False))
    offsets = {one.name: mixed.base + one.offset for one in mixed.arguments}
    assert [made[offsets["a"] + k] for k in (0, 4)] == [2, 1]
    assert [made[offsets["c"] + k] for k in (0, 4)] == [3, 0]
    assert [made[offsets["f"] + 4 * k] for k in range(5)] == [0, 0, 0, 0, 5]
    assert made[mixed.base + at.CONTROL] == at.START
