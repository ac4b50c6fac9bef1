"""Predicted cycles beside measured ones: errors, and which account they are blamed on."""

import pytest

from hls.model.compared import TOLERANCE, compare, compared_text
from hls.model.prediction import SCHEMA, Interval, PredictedAccount, PredictedLoop, Prediction

LOOPS = (
    PredictedLoop("", 4, "i", 100, 1, 7, 7.5, 7.0, "replayed", 1),
    PredictedLoop("", 9, "j", 50, 5, 1, 1.0, 1.0, "replayed", 1),
)


def predicted(cycles: int, issued: int) -> Prediction:
    accounts = (PredictedAccount("issued", None, issued), PredictedAccount("not issued", None, cycles - issued))
    return Prediction(SCHEMA, "k", "b", Interval(cycles, cycles, cycles), 1e-6, LOOPS, (), "", (), accounts)


def measured(issued: int, load: int, store: int = 0) -> dict:
    accounts = [
        {"cause": "store to o not accepted", "line": 5, "cycles": store},
        {"cause": "issued", "line": None, "cycles": issued},
        {"cause": "waiting for load of a", "line": 4, "cycles": load},
    ]
    loops = [
        {"line": 9, "name": "j@9", "label": "j", "iterations": 50, "measured_ii": None},
        {"line": 4, "name": "i", "label": "i", "iterations": 90, "measured_ii": 8.0},
        {"line": 12, "name": "restart", "label": "", "iterations": 1, "measured_ii": None},
    ]
    return {"cycles": issued + load + store, "accounts": accounts, "loops": loops}


@pytest.mark.parametrize("cycles", [1000, 901, 1099])
def test_within_the_tolerance_nothing_is_blamed(cycles):
    found = compare(predicted(cycles, 100), measured(100, 900))
    assert abs(found.error) <= TOLERANCE and found.cause == "" and "to blame" not in compared_text(found)


@pytest.mark.parametrize("cycles", [880, 1120])
def test_waits_are_blamed_on_the_account_with_most_of_them(cycles):
    found = compare(predicted(cycles, 100), measured(100, 600, 300))
    assert (found.cause, found.line, found.blamed) == ("waiting for load of a", 4, 600)
    assert f"predicted {cycles - 100:,}, measured 900" in found.why
    assert "  to blame: waiting for load of a (line 4), 600 cycles; cycles without an issue: " in compared_text(found)


def test_other_accounts_are_blamed_where_they_have_more():
    found = compare(predicted(700, 100), measured(100, 300, 600))
    assert (found.cause, found.line) == ("store to o not accepted", 5)


def test_issues_are_blamed_where_they_differ_more():
    found = compare(predicted(1000, 900), measured(600, 100))
    assert (found.cause, found.line, found.blamed) == ("issued", None, 600)
    assert "predicted to issue in 900 cycles, measured 600" in found.why


def test_a_launch_without_accounts_has_nothing_but_issues_to_blame():
    found = compare(predicted(2000, 0), {"cycles": 1000, "accounts": [], "loops": []})
    assert found.cause == "issued" and found.error == pytest.approx(1.0) and found.loops == ()


def test_loops_stand_beside_those_of_their_line_and_label():
    text = compared_text(compare(predicted(1000, 100), measured(100, 900))).splitlines()
    assert text == [
        "k: predicted 1,000 cycles, measured 1,000 (+0.0 %)",
        "  loop i (line 4): 90 iterations, predicted 100; predicted 7.5 cycles apart, measured 8",
        "  loop j@9 (line 9): 50 iterations; predicted 1 cycles apart",
    ]


def test_outer_loops_have_no_intervals():
    found = compare(predicted(1000, 100), measured(100, 900), frozenset({(4, "i")}))
    outer, inner = found.loops
    assert (outer.interval, outer.predicted_interval) == (None, None) and inner.predicted_interval == 1.0
    assert compared_text(found).splitlines()[1] == "  loop i (line 4): 90 iterations, predicted 100"
