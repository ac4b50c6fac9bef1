"""Loads of the first iteration that were made before their loops, against the interpreter under random stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names
from tests.plans import planned

SOURCE = (Path(__file__).parent / "first_loads.cl").read_text()


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    a, b = (rng.integers(0, 4, 64).astype(np.uint8) for _ in range(2))
    return Launch({"a": a, "b": b, "o": rng.integers(0, 9, 65).astype(np.int32)}, {"n": n})


@pytest.fixture(scope="module")
def system(request):
    system = KernelSystem(SOURCE, "de5net", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in (0, 1, 2, 9, 24)], (1, 2, 0))


def test_a_table_row_has_one_cycle_an_iteration():
    loops = planned(SOURCE)["longest"].plan.loops.values()
    assert {loop.ii for loop in loops} == {1}
