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
