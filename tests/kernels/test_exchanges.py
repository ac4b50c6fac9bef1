"""Several stores of a work-item to local memory in one cycle, with and without random stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, with_both_levels
from tests.plans import planned

SOURCE = (Path(__file__).parent / "exchanges.cl").read_text()
GROUP, GROUPS = 64, 5
KERNELS = ("swaps", "pairs", "sums_before", "fringed", "bordered", "framed")
#: how many values a work-item takes
VALUES = {"pairs": 2, "sums_before": 2}
SIZES = {"framed": ((16, 24), (8, 8))}


def launch(kernel: str, seed: int) -> Launch:
    size, group = SIZES.get(kernel, ((GROUP * GROUPS,), (GROUP,)))
    count = int(np.prod(size)) * VALUES.get(kernel, 1)
    values = np.random.default_rng(seed).integers(0, 1 << 31, count, dtype=np.int64).astype(np.uint32)
    scalars = {"descending": seed & 1} if kernel == "pairs" else {}
    return Launch({"in": values, "out": np.zeros_like(values)}, scalars, size, group)


@pytest.mark.parametrize("kernel", KERNELS)
def test_intervals(kernel):
    assert {loop.ii for loop in planned(SOURCE)[kernel].plan.loops.values()} == {1}


system = with_both_levels(SOURCE)


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", KERNELS)
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, seed) for seed in (0, 1)], (0, 1, 2, 3))
