"""The gain that the vendor's guides promise for a change is had here, or was there before the change."""

import pytest

from hls.driver import compile
from tests.guides.pairs import PAIRS, SOURCE, areas, measure
from tests.kernels.system import KernelSystem, kernel_names


@pytest.fixture(scope="module")
def compiled():
    return compile(SOURCE.read_text(), "de5net")


def test_every_kernel_belongs_to_a_pair():
    names = [f"{advice.name}_{when}" for advice in PAIRS for when in ("before", "after")]
    assert sorted(names) == sorted(kernel_names(SOURCE.read_text()))


@pytest.mark.parametrize("advice", [one for one in PAIRS if one.logic], ids=lambda one: one.name)
def test_area(compiled, advice):
    found = areas(compiled)
    before, after = found[f"{advice.name}_before"], found[f"{advice.name}_after"]
    assert before.logic >= advice.logic * after.logic


@pytest.mark.verilator
def test_cycles(compiled):
    """All pairs in one simulated system, also with random stalls, which may change no byte."""
    system = KernelSystem(SOURCE.read_text())
    try:
        for found in measure(system, areas(compiled), (0, 1)):
            assert found.holds, found
    finally:
        system.close()
