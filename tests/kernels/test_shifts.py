"""Shift registers of various depths: against the interpreter, with any stalls, one shift a cycle."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "shifts.cl").read_text()
RATES = {"delay": 1, "now_and_then": 1, "tap_of_the_run": 1, "now_and_then_any_tap": 1, "feedback": 1, "two_in_one": 2}


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    if kernel == "feedback":
        return Launch({"x": rng.normal(size=320).astype(np.float32), "y": np.zeros(320, np.float32)}, {"n": n})
    return Launch({"a": rng.integers(0, 64, 320).astype(np.int32), "out": np.full(320, 7, np.int32)}, {"n": n})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in (0, 3, 60, 300)], (0, 1, 2))


@pytest.mark.parametrize("kernel", RATES)
def test_rates(system, kernel):
    (stats,) = system.check(kernel, [launch(kernel, 300)])
    loop = next(loop for loop in stats["loops"] if loop["label"] == "i")
    assert loop["static_ii"] == RATES[kernel]
    assert loop["measured_ii"] <= 1.2 * RATES[kernel]
