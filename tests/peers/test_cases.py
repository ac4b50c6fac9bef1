"""The kernels of the comparison fit an ECP5 design; their bytes are checked whenever the table is made."""

from collections import Counter

import pytest

from tests.boards.surroundings import surround

from .cases import CASES, compiled


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_every_kernel_starts_an_iteration_a_cycle_and_writes_each_buffer_through_one_port(case):
    result = compiled(case)
    (kernel,) = result.kernels
    inner = [
        region
        for loop, region in kernel.plan.loops.items()
        if not any(op.opcode == "loop" for op in loop.regions[0].ops)
    ]
    assert all(region.ii == region.slots or region.ii == 1 for region in inner)
    writers = Counter(port.buffer for port in result.interface.ram if port.kind == "store")
    assert set(writers.values()) == {1}
    arrays, expected = case.inputs()
    assert list(arrays.values())[-1].shape == expected.shape
    text = surround(result, {name: array.nbytes for name, array in arrays.items()})
    assert all(f".{port.name}_addr(" in text for port in result.interface.ram)


def test_all_kernels_of_the_comparison_are_there():
    names = ("vecadd", "dot", "fir", "matmul", "stencil", "spmv")
    assert {case.label for case in CASES} == {f"{name} {type}" for name in names for type in ("int", "float")} | {
        "histogram int"
    }
