import itertools
import math

import pytest

from tests.repetitions import STRETCH, pairwise, sampled


def is_long(case) -> bool:
    return any(mark.name == "long" for mark in getattr(case, "marks", ()))


@pytest.mark.parametrize("cases", [list(range(9)), [(None, seed) for seed in range(8)]], ids=["seeds", "tuples"])
def test_most_cases_are_left_out_and_none_is_lost(cases):
    found = sampled(cases)
    values = [case.values if is_long(case) else case for case in found]
    assert values == [(case,) if is_long(one) and isinstance(case, int) else case for case, one in zip(cases, found)]
    assert [is_long(case) for case in found] == [place % STRETCH >= 2 for place in range(len(cases))]


def test_both_parities_are_kept():
    assert {case % 2 for case in sampled(range(8)) if not is_long(case)} == {0, 1}


@pytest.mark.parametrize("seed", sampled(range(4)))
def test_the_mark_is_one_that_make_check_deselects(request, seed):
    assert (request.node.get_closest_marker("long") is not None) == (seed >= 2)


@pytest.mark.parametrize("sizes", [(3,), (5, 2), (3, 2, 3, 2), (11, 4, 2), (6, 3, 2), (2,) * 6])
def test_every_two_values_meet_in_few_cases(sizes):
    cases = list(itertools.product(*map(range, sizes)))
    kept = [case for case, keep in zip(cases, pairwise(cases)) if keep]

    def pairs(some):
        return {pair for case in some for pair in itertools.combinations(enumerate(case), min(2, len(case)))}

    assert pairs(kept) == pairs(cases)
    longest = sorted(sizes)[-2:]
    assert math.prod(longest) <= len(kept) <= 2 * math.prod(longest)


def test_only_pairs_that_meet_are_wanted():
    assert pairwise([(0, 0, 0), (1, 1, 1), (0, 0, 0)]) == [True, True, False]


@pytest.mark.pairwise
@pytest.mark.parametrize("one", [0, 1])
@pytest.mark.parametrize(("other", "unhashable"), [(0, []), (1, [])])
@pytest.mark.parametrize("third", [0, 1])
def test_other_combinations_are_marked(request, one, other, unhashable, third):
    """Of two times two times two, the four with an even sum have every pair."""
    assert (request.node.get_closest_marker("long") is not None) == ((one + other + third) % 2 == 1)
