"""Nested loops that share an on-chip array: against the interpreter, and without waiting for an inner loop to end."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "invocations.cl").read_text()
#: cycles that an invocation of 8 iterations may take on the average, beside those of its iterations
OVERHEAD = {"column_sums": 1, "float_column_sums": 12, "knapsack": 4, "histogram_of_rows": 1}


def launch(n: int, m: int) -> Launch:
    a = np.random.default_rng(n).integers(0, 64, 256).astype(np.int32)
    return Launch({"a": a, "out": np.zeros(128, np.int32)}, {"n": n, "m": m})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(
        kernel, [launch(n, m) for n, m in ((0, 3), (3, 0), (4, 1), (5, 2), (6, 3), (4, 8), (3, 33))], (0, 1, 2, 3)
    )


@pytest.mark.parametrize("kernel", OVERHEAD)
def test_an_invocation_begins_when_the_one_before_has_passed(system, kernel):
    few, many = system.check(kernel, [launch(10, 8), launch(110, 8)])
    inner = max(many["loops"], key=lambda loop: loop["iterations"])
    each = (many["cycles"] - few["cycles"]) / 100
    assert each <= 8 * max(1, inner["static_ii"]) + OVERHEAD[kernel]
