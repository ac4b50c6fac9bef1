"""Private arrays that do not become registers, in kernels with barriers."""

from pathlib import Path

import numpy as np
import pytest

from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "private_groups.cl").read_text()


@pytest.mark.parametrize("kernel, size", [("counts", 8), ("rounds", 4)])
def test_bytes(system, kernel, size):
    def launch(groups, each):
        data = np.random.default_rng(each).integers(0, 256, 512).astype(np.uint8)
        return Launch({"data": data, "histogram": np.zeros(96, np.uint32)}, {"each": each}, (groups * size,), (size,))

    system.check(kernel, [launch(1, 0), launch(3, 5), launch(2, 17)], (0, 1, 2))


def launch(space, group, each):
    data = np.random.default_rng(each).integers(0, 256, 512).astype(np.uint8)
    return Launch({"data": data, "histogram": np.zeros(96, np.uint32)}, {"each": each}, space, group)


def test_values_kept_across_barriers(system):
    system.check("kept", [launch((12, 4), (4, 2), each) for each in (0, 5)], (0, 1, 2, 3))


def test_values_kept_in_groups_of_any_size(system):
    system.check("of_any_size", [launch((60,), (size,), size) for size in (1, 4, 30)], (0, 1, 2))
