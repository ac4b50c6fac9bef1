"""The potentials of the model: what-ifs of kernels whose limit is known, and none outside of [0, 1)."""

import pytest

import tests.model.estimates as models
from hls.model.accounts import accounts
from hls.model.estimate import estimate
from hls.model.potentials import potentials
from hls.target.board import load_board
from tests.benchmarks.suite import CASES

KERNELS = {"gemm_ikj", "fir", "iir", "spmv_coordinates"}


BOARD = load_board("ecp5_onchip")


@pytest.fixture(scope="module")
def launched():
    """Plans and workloads, on the board with memory on the chip."""
    return list(models.launches("ecp5_onchip", [c for c in CASES if c.kernel in KERNELS]))


@pytest.fixture(scope="module")
def found(launched):
    """The potentials by kernel."""
    return {workload.kernel: potentials(planned, workload, BOARD, planned) for planned, workload in launched}


@pytest.fixture(scope="module")
def causes(launched):
    """The accounts by kernel."""
    return {workload.kernel: accounts(planned, workload, BOARD) for planned, workload in launched}


def test_accounts_sum_to_the_likely_cycles(launched, causes):
    for planned, workload in launched:
        likely = round(estimate(planned, workload, BOARD).cycles.likely)
        assert sum(one.cycles for one in causes[workload.kernel]) == likely
        assert all(one.cycles > 0 for one in causes[workload.kernel])


def test_the_largest_account_names_what_limits_a_kernel(causes):
    first = {kernel: found[0].cause for kernel, found in causes.items()}
    assert first["gemm_ikj"] == first["fir"] == "issued"
    assert first["iir"].startswith("recurrence of loop ")
    meets = [one for one in causes["spmv_coordinates"] if one.cause.startswith("waiting for earlier stores to ")]
    assert meets and all(one.line for one in meets)


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
