"""Control flow of every form, with and without random stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "loops.cl").read_text()
SIZES = (0, 1, 2, 5, 17)
SEEDS = (0, 1, 2, 3)


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    a = rng.integers(0, 64, 64).astype(np.int32)
    return Launch({"a": a, "out": np.full(64, -77, np.int32)}, {"n": n}, misalign=n % 3)


@pytest.fixture(scope="module", params=[0, 1000], ids=["stall_free", "stall_enabled"])
def system(request):
    system = KernelSystem(SOURCE, elastic_depth=request.param)
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in SIZES], SEEDS)
