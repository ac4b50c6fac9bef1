"""Values carried in registers instead of memory: against the interpreter, and at the rate of the arithmetic alone."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "carried.cl").read_text()
#: most cycles of static II; a way through memory takes over 100
RATES = {
    "scan": 1,
    "filter": 3,
    "total": 1,
    "row_sums": 8,
    "maybe_shared": 4,
    "two_steps_back": 4,
    "in_one_iteration": 1,
    "four_copies": 4,
    "line_of_floats": 14,
    "until_large": 2,
    "parts": 1,
}


def launch(kernel: str, n: int, overlap: bool = False) -> Launch:
    rng = np.random.default_rng(n)
    buffers = {name: rng.integers(0, 64, 160).astype(np.int32) for name in "ab"}
    if kernel in ("filter", "row_sums", "line_of_floats"):
        buffers = {name: rng.normal(size=160).astype(np.float32) for name in "xy"}
    return Launch(buffers, {"n": n}, overlap=overlap)


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(
        kernel, [launch(kernel, n, n == 17 and kernel == "maybe_shared") for n in (0, 1, 5, 17, 64)], (0, 1, 2)
    )


@pytest.mark.parametrize("kernel", RATES)
def test_rates(system, kernel):
    (stats,) = system.check(kernel, [launch(kernel, 64)])
    slowest = max(stats["loops"], key=lambda loop: loop["static_ii"])
    assert slowest["static_ii"] <= RATES[kernel]
    if kernel != "row_sums":  # whose runs are short
        assert slowest["measured_ii"] <= RATES[kernel] + 1
