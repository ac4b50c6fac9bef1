"""What does not depend on the serial section of a loop runs ahead of it: the pace that is planned is the pace of a run."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "beside_serial.cl").read_text()
SIZES = (0, 1, 2, 7, 60)


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    arrays = {
        "in": rng.integers(1, 4000, 400).astype(np.int32),
        "q": rng.integers(1, 60, 400).astype(np.int32),
        "at": rng.integers(0, 1 << 20, 400).astype(np.int32),
        "out": np.zeros(900, np.float32 if kernel == "behind" else np.int32),
    }
    return Launch(arrays, {"n": n}, misalign=n % 5)


@pytest.fixture(scope="module", params=["ecp5_onchip", "de5net"])
def system(request):
    system = KernelSystem(SOURCE, request.param, counters="all", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in SIZES], (0, 1, 2))


@pytest.mark.parametrize("kernel", ["quotients", "behind"])
def test_the_pace_is_that_of_the_section(system, kernel):
    """Of iterations that do not enter the inner loop, and those that do: some cycles more than the planned II, which
    counts one of its iterations."""
    few, many = system.check(kernel, [launch(kernel, n) for n in (60, 360)])
    pace = (many["cycles"] - few["cycles"]) / 300
    (loop,) = [one for one in many["loops"] if one["label"] == "i"]
    assert loop["static_ii"] <= 7 and pace <= 1.5 * loop["static_ii"] + 1
