"""docs/conformance.md, results.toml and reasons.toml say the same."""

from .suite import PROGRAMS, UNFINISHED, Result
from .table import PAGE, Outcome, outcomes, page, read, table, unexplained, unused


def test_the_page_has_what_is_recorded():
    assert PAGE.read_text() == page()


def test_every_failure_has_a_reason_and_every_reason_a_failure():
    assert sorted(read().keys() | UNFINISHED.keys()) == sorted(PROGRAMS) and not read().keys() & UNFINISHED.keys()
    assert not unexplained(read()) and not unused(read())


def test_outcomes_of_results():
    found = outcomes(
        Result("basic", name, outcome, 1.0, "")
        for name, outcome in (("a", "passed"), ("b", "late"), ("c", "failed"), ("d", "skipped"), ("e", "passed"))
    )
    assert found == {"basic": Outcome(2, 1, ("c",), ("b",))}
    assert unexplained(found) == [("basic", "c"), ("basic", "b")]
    assert "| basic | 2 | 1 | 1 | 1 |\n| all | 2 | 1 | 1 | 1 |" in table(found)
    assert "| basic/c | not looked into |" in table(found)
