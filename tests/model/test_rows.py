"""Invocations of unequal lengths side by side."""

import random
from heapq import heapreplace

import pytest

from hls.model.extremes import Extreme
from hls.model.rows import time_of_rows


def by_hand(lengths, slots):
    busy = [0.0] * slots
    for one in lengths:
        heapreplace(busy, busy[0] + one)
    return max(busy)


@pytest.mark.parametrize("slots", [1, 2, 7, 40])
def test_any_order_lies_between_the_best_and_the_worst(slots):
    lengths = [1.0] * 10 + [5.0] * 20 + [60.0] * 2
    spread = ((1.0, 10 / 32), (5.0, 20 / 32), (60.0, 2 / 32))
    least, likely, most = (time_of_rows(spread, 32, slots, one) for one in Extreme)
    found, drawn = [], random.Random(1)
    for _ in range(50):
        drawn.shuffle(lengths)
        found.append(by_hand(lengths, slots))
    assert least <= min(found) and max(found) <= most + 1e-9
    assert likely == pytest.approx(sum(found) / len(found), rel=0.1)


def test_equal_lengths_fill_whole_rows():
    assert time_of_rows(((4.0, 1.0),), 10, 3) == 4 * 4


def test_more_invocations_than_are_followed():
    spread = ((1.0, 0.5), (3.0, 0.5))
    assert time_of_rows(spread, 100_000, 4) == pytest.approx(2 * 100_000 / 4, rel=0.01)
