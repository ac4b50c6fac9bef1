"""The table of clocks: errors of estimates, and what it says of the goals; no tool runs."""

from hls.report.facts.synthesis import Place, Placed, Step
from tests.boards.clocks import KERNELS, SYSTEMS, Row, Summary, estimated_mhz

WHERE = "n20 (state), line 3, loop i, kernel k"
STEPS = (Step(Place(), 1.0, 1.0, 1, "elsewhere"), Step(Place(), 2.0, 6.0, 3, WHERE))


def placed(mhz: float) -> Placed:
    return Placed(seed=1, asked_mhz=100.0, reached_mhz=mhz, path_ns=10.0, routing=0.7, path=STEPS, advice=())


def test_a_row_has_estimates_with_their_errors_and_the_longest_stretch():
    row = Row("k", "ulx3s", 100.0, 120.0, placed(100.0), 1000, 900)
    assert (round(row.clock_error), round(row.logic_error)) == (20, -10)
    assert (
        str(row) == f"| k | ulx3s | 100 | 100.0 | 120.0 | +20 % | 1,000 | 900 | -10 % | {WHERE} (10.0 ns, 70% wires) |"
    )
    whole = Row("k", "ulx3s", 60.0, None, placed(64.6), 8245, None)
    assert str(whole) == f"| k | ulx3s | 60 | 64.6 | 8,245 | {WHERE} (10.0 ns, 70% wires) |"


def test_the_summary_counts_what_is_within_the_goal():
    rows = [Row("a", "b", 100.0, 120.0, placed(100.0), 100, 90), Row("a", "b", 100.0, 100.0, placed(99.0), 100, 100)]
    assert list(Summary(rows).lines()) == [
        "1 of 2 reach the clock that they were scheduled for",
        "clock: 1 of 2 estimates within 15 %, +10.5 % in the mean",
        "logic: 2 of 2 estimates within 15 %, -5.0 % in the mean",
    ]
    assert len(list(Summary([Row("a", "b", 60.0, None, placed(70.0), 1, None)]).lines())) == 1


def test_the_estimate_is_that_of_the_slowest_kernel():
    kernels = [{"fmax_mhz": 140.0}, {"fmax_mhz": None}, {"fmax_mhz": 110.0}]
    assert estimated_mhz({"kernels": kernels, "clock_mhz": 100.0}) == 110.0
    assert estimated_mhz({"kernels": kernels[1:2], "clock_mhz": 100.0}) == 100.0


def test_what_is_measured_is_there():
    assert len(KERNELS) == 20 and all(path.is_file() for path in KERNELS.values()) and set(SYSTEMS) <= KERNELS.keys()
