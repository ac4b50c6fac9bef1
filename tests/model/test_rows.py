"""Invocations of unequal lengths side by side, and the cases that an estimate's interval covers."""

import itertools

import pytest

from hls.model.estimate import _wide
from hls.model.extremes import ASSUMED, Extreme, Unknown
from hls.model.prediction import Interval
from hls.model.rows import time_of_rows


def last_end(lengths, slots):
    """When the last one of these invocations ends, of which each goes into the slot that is free first."""
    busy = [0.0] * slots
    for length in lengths:
        busy.sort()
        busy[0] += length
    return max(busy)


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("lengths", [(1, 1, 2, 8), (3, 3, 3, 5), (1, 2, 3, 4, 5)])
def test_the_interval_holds_every_order(lengths, slots):
    spread = [(float(length), lengths.count(length) / len(lengths)) for length in sorted(set(lengths))]
    least, likely, most = (time_of_rows(spread, len(lengths), slots, case) for case in Extreme)
    ends = [last_end(order, slots) for order in itertools.permutations(lengths)]
    assert least <= min(ends) and max(ends) <= most
    assert min(ends) <= likely <= max(ends)


def test_many_invocations_share_the_slots_evenly():
    spread = [(1.0, 0.5), (9.0, 0.5)]
    assert time_of_rows(spread, 100_000, 4) == pytest.approx(5 * 100_000 / 4, rel=0.01)


def test_every_unknown_has_words_for_its_extremes():
    for extreme in (Extreme.LEAST, Extreme.MOST):
        assert len(Unknown.each(extreme)) == len(ASSUMED) / 2


@pytest.mark.parametrize(("extreme", "step"), [(Extreme.LEAST, -1), (Extreme.MOST, 1)])
@pytest.mark.parametrize("name", ["memory", "conflicts", "order", "fill"])
def test_the_assumption_that_moves_the_end_most_is_named(name, extreme, step):
    cycles = Interval.of_cycles(1000.0, 1000.0 + 300 * min(step, 0), 1000.0 + 300 * max(step, 0))
    said = _wide(cycles, lambda case: 1000.0 + step * (300 if getattr(case, name) is extreme else 50))
    assert said == f"{extreme.value}: {ASSUMED[name, extreme]}"


def test_no_assumption_is_named_where_the_interval_is_narrow():
    assert _wide(Interval.of_cycles(1000.0, 999.5, 1000.5), lambda case: pytest.fail("the interval is not wide")) == ""
