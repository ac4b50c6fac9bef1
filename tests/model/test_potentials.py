"""The potentials of the model: what-ifs of kernels whose limit is known, and none outside of [0, 1)."""

import pytest

import tests.model.estimates as models
from hls.model.potentials import potentials
from hls.target.board import load_board
from tests.benchmarks.suite import CASES

KERNELS = {"gemm_ikj", "fir", "iir", "spmv_coordinates"}


@pytest.fixture(scope="module")
def found():
    """The potentials by kernel, on the board with memory on the chip."""
    shares = {}
    for planned, workload in models.launches("ecp5_onchip", [c for c in CASES if c.kernel in KERNELS]):
        shares[workload.kernel] = potentials(planned, workload, load_board("ecp5_onchip"), planned)
    return shares


def test_all_are_shares(found):
    assert set(found) == KERNELS
    assert all(0 <= share < 1 for one in found.values() for share in one.values())


def test_dependences_hold_a_recursive_filter_and_not_fir(found):
    assert found["iir"]["B_dep"] > 0.9 and found["iir"]["B_comp"] == 0
    assert found["fir"]["B_dep"] == 0 and found["fir"]["B_comp"] > 0.9


def test_one_loop_has_no_balance_to_gain(found):
    assert found["iir"]["B_balance"] == found["fir"]["B_balance"] == 0


def test_the_inner_loop_of_gemm_is_the_busiest(found):
    assert found["gemm_ikj"]["B_balance"] > 0.5


def test_conflicts_on_the_chip_count_for_memory_and_dependences(found):
    assert found["spmv_coordinates"]["B_mem"] == pytest.approx(found["spmv_coordinates"]["B_dep"], abs=0.05)


def test_plans_that_are_the_same_gain_nothing(found):
    assert all(one["B_fp"] == 0 for one in found.values())
