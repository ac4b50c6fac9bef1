"""The closed form of the model against cycles that were measured: those recorded of tests/benchmarks, on the board with
memory on the chip. No hardware is made."""

import pytest

from hls.model.pace import Gap, LoopPace
from hls.target.board import load_board
from tests.benchmarks.suite import CASES
from tests.model.estimates import estimates

#: one kernel or more of each kind of loop: interleaved, serial, windows between invocations, late exits, conditions
KERNELS = {
    "gemm_ijk",
    "gemm_ikj",
    "syrk",
    "page_rank",
    "collatz",
    "tanh_table",
    "md_grid",
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
COMPARED = {"bfs_queue", "matching", "spmv_coordinates", "tanh_table", "md_grid"}


@pytest.fixture(scope="module")
def found():
    return {one.kernel: one for one in estimates("ecp5_onchip", [c for c in CASES if c.kernel in KERNELS])}


def test_all_are_estimated(found):
    assert set(found) == KERNELS


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_error_of_each(found, kernel):
    assert abs(found[kernel].error) <= (0.12 if kernel in COMPARED else 0.02), found[kernel].prediction


def test_interval_holds_in_95_percent(found):
    ends = [(one.prediction.cycles, one.measured) for one in found.values()]
    assert sum(cycles.least <= measured <= cycles.most for cycles, measured in ends) >= 0.95 * len(ends)


def test_an_interval_names_its_assumption(found):
    wide = {kernel: found[kernel].prediction.wide for kernel in ("collatz", "spmv_coordinates", "gemm_ijk", "iir")}
    assert wide == {
        "collatz": "most: the longest invocations of interleaved loops come last",
        "spmv_coordinates": "least: no load waits for a store to its address",
        "gemm_ijk": "most: a loop is idle for a cycle between two invocations",
        "iir": "",
    }


def test_mean_error(found):
    errors = [abs(one.error) for kernel, one in found.items() if kernel not in COMPARED]
    assert sum(errors) / len(errors) <= 0.01


#: error allowed on the board with DDR memory: loads that take values of stores under way, rows of a loop behind a hazard
#: unit, loads that only the first iteration makes, a buffer in one bank, elements that are met again a whole row of their
#: loop later (md_grid, syrk), caches that keep what all invocations begin with (sha256), loads inside levels (if_convert),
#: bursts that fill a hazard unit's table (floyd_warshall, gaussian: behind loads that answer in order), streams that
#: begin anew, caches that are empty at first, and stores of rows that take turns, gathered (smooth_rows)
OUTSIDE = {
    "smooth_rows": 0.05,
    "gaussian": 0.06,
    "if_convert": 0.1,
    "sha256": 0.06,
    "floyd_warshall": 0.04,
    "syrk": 0.01,
    "atax": 0.05,
    "nw": 0.05,
    "histogram": 0.05,
    "md_grid": 0.08,
    "trisolv": 0.05,
    "page_rank": 0.1,
    "spmv_columns": 0.06,
}


def test_memory_outside_the_chip():
    found = {one.kernel: one for one in estimates("de5net", [c for c in CASES if c.kernel in OUTSIDE])}
    assert set(found) == set(OUTSIDE)
    for kernel, most in OUTSIDE.items():
        assert abs(found[kernel].error) <= most, found[kernel].prediction


def pace(**changed) -> LoopPace:
    given = {"trips": 10.0, "taken": 1.0, "alone": 1.0, "cause": "", "latency": 30.0, "shared": 1.0, "apart": ()}
    return LoopPace(**(given | {"slots": 1, "invocation": 40.0} | changed))


def test_a_wait_of_the_first_token_counts_once_for_each_invocation():
    assert pace(exposed=20.0).held(5, 1, alone=False) == 5 * (10 + 20)
    assert pace(exposed=20.0, slots=4).held(5, 4, alone=False) == 5 * (10 + 20), "tokens stay in their order"
    assert pace(alone=3.0, exposed=20.0).held(5, 1, alone=False) == 5 * (30 + 20)
    assert pace().held(5, 1, alone=False) == 50


def test_the_last_row_of_slots_is_not_full():
    """Rows of 4 issue in turn; the 2 left wait for their own recurrence."""
    rows = pace(alone=3.0, slots=4)
    assert rows.held(10, 4, alone=True) == 2 * 10 * 4 + 10 * 3
    assert rows.held(12, 4, alone=True) == 3 * 10 * 4


def test_windows_between_invocations_count_for_each_length():
    """An invocation of one iteration is followed after the window, one of 19 after its own iterations."""
    uneven = pace(trips=10.0, spread=((1.0, 0.5), (19.0, 0.5)), apart=(Gap(8.0, ahead=0),))
    assert uneven.held(10, 1, alone=False) == 5 * 8 + 5 * 19
    assert pace(apart=(Gap(8.0),)).held(1, 1, alone=False) == 9 + 8


def test_a_bus_that_turns_loses_time():
    """A read is followed by a write after CL + burst + 2 - CWL periods, and this by a read after CWL + burst + tWTR."""
    timing = load_board("de5net").memory.timing
    between = (11 + 4 + 2 - 8) + (8 + 4 + 6)
    assert timing.turn_ns == pytest.approx((between - 2 * 4) * timing.tck_ns)
