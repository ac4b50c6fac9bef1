import pytest

from tests.repetitions import half_long


def is_long(case) -> bool:
    return any(mark.name == "long" for mark in getattr(case, "marks", ()))


@pytest.mark.parametrize("cases", [list(range(9)), [(None, seed) for seed in range(8)]], ids=["seeds", "tuples"])
def test_half_of_the_cases_are_left_out_and_none_is_lost(cases):
    found = half_long(cases)
    values = [case.values if is_long(case) else case for case in found]
    assert values == [(case,) if is_long(one) and isinstance(case, int) else case for case, one in zip(cases, found)]
    assert [is_long(case) for case in found] == [place % 4 >= 2 for place in range(len(cases))]


def test_both_parities_are_kept():
    assert {case % 2 for case in half_long(range(8)) if not is_long(case)} == {0, 1}


@pytest.mark.parametrize("seed", half_long(range(4)))
def test_the_mark_is_one_that_make_check_deselects(request, seed):
    assert (request.node.get_closest_marker("long") is not None) == (seed >= 2)
