"""Control flow of every form, with and without random stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "loops.cl").read_text()
SIZES = (0, 1, 2, 5, 17)
SEEDS = (0, 1, 2, 3)


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    a = rng.integers(0, 64, 64).astype(np.int32)
    return Launch({"a": a, "out": np.full(64, -77, np.int32)}, {"n": n}, misalign=n % 3)


system = with_both_levels(SOURCE)


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in SIZES], SEEDS)
