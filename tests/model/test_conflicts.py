"""Closed forms of stores under way, against small machines that follow each store."""

import random
from collections import deque

import pytest

from hls.model.conflicts import pace_of_conflicts, pace_of_table, pace_of_table_and_bus

PATIENCE = 4


def table(time, entries, together, stores=20_000):
    """Cycles from one store to the next in a table whose entries are taken and left in order. A burst is sent when the
    next one begins, or when no store comes for some cycles, and leaves a ``time`` later."""
    sizes, entered, leaves, first = [], 0, {}, 0
    now = last = 0
    while entered < stores:
        left = sum(size for size, when in sizes[-64:] if when <= now) + leaves.get("old", 0)
        if len(sizes) > 64:
            leaves["old"] = leaves.get("old", 0) + sizes.pop(0)[0]
        here = entered - first
        if entered - left < entries:
            if here == together:
                sizes.append((here, now + time))
                first = entered
            entered, last = entered + 1, now
        elif here and now - last == PATIENCE:
            sizes.append((here, now + time))
            first = entered
        now += 1
    return now / stores


@pytest.mark.parametrize("together", [1, 2, 8, 16, 24])
@pytest.mark.parametrize("time", [60, 100, 200])
def test_table_of_stores(time, together):
    entries = 32
    expected = max(1.0, pace_of_table(time, entries, together))
    assert table(time, entries, together) == pytest.approx(expected, rel=0.2)


def test_larger_bursts_are_never_faster():
    paces = [pace_of_table(100, 32, together) for together in range(1, 64)]
    assert paces == sorted(paces)
    assert pace_of_table(100, 32, 1) == 100 / 31


def test_conflicts_at_one_distance():
    """Every iteration waits for the store of d before: time / d."""
    assert pace_of_conflicts([(4, 1000)], 1.0, 1000, 40, 1) == pytest.approx(10, rel=0.02)
    assert pace_of_conflicts([(64, 1000)], 1.0, 1000, 40, 1) == 1


def test_distances_that_stay_for_long_have_a_pace_each():
    """Rows of a loop whose stores are met a row later: 10 cycles / 2 in short rows, 1 in long ones."""
    found = pace_of_conflicts([(2.0, 500), (20.0, 500)], 0.999, 1000, 10.0, 1.0)
    assert found == pytest.approx((5 + 1) / 2)


def pace_of_closed_network(entries, delay, bus, count=20_000):
    """Cycles from one store to the next as each holds one of so many entries: it is on its way for a ``delay``, then
    waits for the bus, which takes the stores one after the other, for ``bus`` cycles each on average."""
    drawn, left, free = random.Random(3), deque([0.0] * entries), 0.0
    for _ in range(count):  # the one that takes the entry freed first is the next at the bus
        free = max(free, left.popleft() + delay) + drawn.expovariate(1 / bus)
        left.append(free)
    return free / count


@pytest.mark.parametrize(
    ("entries", "delay", "bus"), [(128, 140, 1.28), (128, 140, 0.6), (16, 60, 8), (32, 100, 3), (8, 100, 2)]
)
def test_stores_that_wait_for_the_bus_stay_in_the_table(entries, delay, bus):
    found = pace_of_table_and_bus(delay / entries, entries, bus)
    assert found == pytest.approx(pace_of_closed_network(entries, delay, bus), rel=0.05)
    assert found >= max(delay / entries, bus)


@pytest.mark.parametrize(("table", "bus"), [(0.0, 1.5), (1.5, 0.0)])
def test_a_table_or_a_bus_alone(table, bus):
    assert pace_of_table_and_bus(table, 16, bus) == 1.5
