"""The closed form of the model against cycles that were measured: those recorded of tests/benchmarks, on the board with
memory on the chip. No hardware is made."""

import pytest

from tests.benchmarks.suite import CASES
from tests.model.estimates import estimates

#: one kernel or more of each kind of loop: interleaved, serial, windows between invocations, late exits, conditions
KERNELS = {
    "gemm_ijk",
    "gemm_ikj",
    "atax",
    "mvt",
    "gaussian",
    "trisolv",
    "kmp",
    "bfs_queue",
    "matching",
    "viterbi",
    "fir",
    "iir",
    "fft",
    "merge_sort",
    "spmv_coordinates",
}

#: those whose loads are compared with stores at run time, so that distances between the two matter
COMPARED = {"bfs_queue", "matching", "spmv_coordinates"}


@pytest.fixture(scope="module")
def found():
    return {one.kernel: one for one in estimates("ecp5_onchip", [c for c in CASES if c.kernel in KERNELS])}


def test_all_are_estimated(found):
    assert set(found) == KERNELS


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_error_of_each(found, kernel):
    assert abs(found[kernel].error) <= (0.2 if kernel in COMPARED else 0.06), found[kernel].prediction


def test_mean_error(found):
    errors = [abs(one.error) for kernel, one in found.items() if kernel not in COMPARED]
    assert sum(errors) / len(errors) <= 0.01


def test_loads_that_wait_for_stores_of_earlier_iterations():
    """In memory outside the chip a load waits only for what is left of the time of the store that it meets."""
    (one,) = estimates("de5net", [c for c in CASES if c.kernel == "syrk"])
    assert abs(one.error) <= 0.2, one.prediction
