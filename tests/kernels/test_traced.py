"""Indices that only running the loops distinguishes, with and without random stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels
from tests.plans import planned

SOURCE = (Path(__file__).parent / "traced.cl").read_text()
#: The II of the loops that load and store, by kernel: that of their stores' ports, not that of the way through a sum or
#: product.
INTERVALS = {"butterflies": 1, "strides": 1, "interleaved": 1}


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    return Launch({"a": rng.uniform(0.5, 2.0, 512).astype(np.float32), "out": np.zeros(512, np.float32)}, {"n": n})


@pytest.mark.parametrize("kernel", INTERVALS)
def test_intervals(kernel):
    plan = planned(SOURCE)[kernel].plan
    assert (
        max(loop.ii for loop in plan.loops.values() if not any(op.opcode == "loop" for op in loop.region.ops))
        == INTERVALS[kernel]
    )


system = with_both_levels(SOURCE)


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in (0, 1, 2, 4)], (0, 1, 2, 3))
