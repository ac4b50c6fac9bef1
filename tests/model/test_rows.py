"""Invocations of unequal lengths side by side, and the cases that an estimate's interval covers."""

import itertools
import math
import random
from collections import deque

import pytest

from hls.model.estimate import _wide
from hls.model.extremes import ASSUMED, Extreme, Unknown
from hls.model.pace import LoopPace
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


def header_cycles(trips, slots, decided):
    """Cycles in which a speculative header issues all tokens of these invocations, by its rules 1 to 3 and 9: a request
    that can start goes first, running slots go on in turn, and an invocation's end, known ``decided`` cycles after its
    last token, frees the slot at its next turn, which costs the cycle unless a request starts in it."""
    waiting, turns, left, ends = deque(trips), deque(), {}, {}
    free, now = list(range(slots)), 0
    while waiting or any(count > 0 for count in left.values()):
        freed = turns.popleft() if turns and ends.get(turns[0], math.inf) <= now else None
        slot = None
        if waiting and free:
            slot = free.pop()
            left[slot], ends[slot] = waiting.popleft(), math.inf
        elif freed is None and turns:
            slot = turns.popleft()
        if slot is not None:
            left[slot] -= 1
            ends[slot] = now + decided if left[slot] == 0 else ends[slot]
            turns.append(slot)
        if freed is not None:
            free.append(freed)
        now += 1
    return now


@pytest.mark.parametrize(
    ("lengths", "within"),
    [
        *[(one, 0.03) for one in ((1,), (2,), (8,), (1, 1, 2, 8), (3, 4, 5, 6, 7), (1, 1, 1, 20))],
        ((1, 2), 0.1),  # many of these end together
    ],
)
def test_an_ended_invocation_takes_a_turn_of_the_header(lengths, within):
    slots, count = 24, 2100
    trips = random.Random(2).choices(lengths, k=count)
    spread = tuple((float(length), trips.count(length) / count) for length in sorted(set(lengths)))
    mean, made = sum(trips) / count, header_cycles(trips, slots, decided=6)
    common = {"spread": spread if len(spread) > 1 else (), "marks": True}
    least, likely, most = (
        LoopPace(mean, 1.0, 1.0, "", 6.0, 0.0, (), slots, 6.0 + mean, order=case, **common).held(count, slots, False)
        for case in Extreme
    )
    assert likely == pytest.approx(made, rel=within)
    assert least <= made <= most + slots


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
