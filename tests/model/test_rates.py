"""Full rate wherever the rules guarantee it, in textbook nests."""

from math import ceil

import pytest

from .meaning import Counted
from .simulate import simulate
from .spec import LevelSpec, LoopSpec, OperationSpec, RecurrenceSpec, UnitSpec

INDEX = RecurrenceSpec("index", (0, 0), (0, 0))
OUTER_TRIPS = 60


def innermost(depth=4, recurrences=(), slots=1, entries=8, continues=(0, 0)):
    return LoopSpec("inner", (LevelSpec(depth),), (INDEX, *recurrences), continues, slots, entries)


def around(inner, name="outer", bypass=16, requests=2):
    """A parent of II 1 that only starts the inner loop."""
    operation = OperationSpec(f"{name}.body", 0, requests, inner)
    return LoopSpec(name, (LevelSpec(2, (operation,), bypass), LevelSpec(1)), (INDEX,), (0, 0))


def run(spec, inner_trips):
    """``inner_trips(indices)``: iterations of the loop named inner; every other loop runs OUTER_TRIPS."""

    def trips(loop, indices):
        return inner_trips(indices) if loop == "inner" else OUTER_TRIPS

    return simulate(spec, Counted(trips), [()])


@pytest.mark.parametrize("trips", [1, 2, 3, 16])
def test_invocations_back_to_back(trips):
    """Rule 1: an inner loop of II 1 costs its parent as many cycles as it has trips, without a bubble."""
    figures = run(around(innermost()), lambda indices: trips).loops["inner"]
    assert figures.issued == figures.span == trips * OUTER_TRIPS
    assert figures.invocations == OUTER_TRIPS


def test_zero_trips_cost_one_cycle():
    outer = run(around(innermost()), lambda indices: 0).loops["outer"]
    assert outer.span == outer.issued == OUTER_TRIPS


def test_triangular():
    """max(N, 1) cycles an invocation, for N from 0 on."""
    result = run(around(innermost()), lambda indices: indices[-1])
    least = sum(max(n, 1) for n in range(OUTER_TRIPS))
    assert least <= result.cycles <= least + 20


@pytest.mark.parametrize("ii", [2, 3, 5])
def test_one_slot_runs_at_its_static_ii(ii):
    accumulate = RecurrenceSpec("sum", (0, 0), (0, ii - 1))
    figures = run(around(innermost(5, [accumulate])), lambda indices: 10).loops["inner"]
    # only the first token of the next invocation need not wait
    assert figures.span == ((10 - 1) * ii + 1) * OUTER_TRIPS


@pytest.mark.parametrize("ii", [2, 3, 5])
def test_as_many_slots_as_the_static_ii(ii):
    """Rule 3: a token a cycle, apart from the end of the nest, where the slots run empty."""
    accumulate = RecurrenceSpec("sum", (0, 0), (0, ii - 1))
    inner = innermost(5, [accumulate], slots=ii, entries=2 * ii + 6)
    figures = run(around(inner), lambda indices: 10).loops["inner"]
    assert figures.measured_ii <= 1 + 10 * ii / figures.issued


def test_divergent_trips_interleaved():
    """Rule 4: with entries enough, different trip counts keep the slots full."""
    accumulate = RecurrenceSpec("sum", (0, 0), (0, 3))
    figures = run(
        around(innermost(5, [accumulate], slots=4, entries=24), bypass=32), lambda indices: 1 + indices[-1] * 7 % 23
    ).loops["inner"]
    assert figures.measured_ii <= 1.1


def test_few_entries_cost_rate():
    """Rule 4: as many entries as slots is not enough where trips differ."""
    accumulate = RecurrenceSpec("sum", (0, 0), (0, 3))
    trips = lambda indices: 1 + indices[-1] * 7 % 23
    few, many = (run(around(innermost(5, [accumulate], slots=4, entries=n), bypass=32), trips) for n in (4, 24))
    assert few.cycles > 1.2 * many.cycles


def across_levels(slots, latency, bypass):
    """A sum over loaded values whose next value is known one level down, and used at the top."""
    load = OperationSpec("load", 0, 8, UnitSpec((latency, latency), 32))
    levels = (LevelSpec(2, (load,), bypass), LevelSpec(3))
    chain = RecurrenceSpec("chain", (0, 1), (1, 2))
    return LoopSpec("inner", levels, (INDEX, chain), (0, 0), slots, 4 * slots)


def test_recurrence_across_levels():
    """Rule 3: one slot pays the loop's latency for each iteration; that many slots run one a cycle."""
    one = run(around(across_levels(1, 10, 40), bypass=40), lambda indices: 20).loops["inner"]
    slots = ceil(one.measured_ii)
    assert 10 < slots < 20
    many = run(around(across_levels(slots, 10, 40), bypass=80), lambda indices: 20).loops["inner"]
    rounds = ceil(OUTER_TRIPS / slots)  # the last one leaves some slots empty
    assert many.span <= rounds * slots * 20 + slots


def test_depths():
    """Rule 5: a bypass as deep as asked runs at full rate, half of it does not."""

    def loop(bypass):
        load = OperationSpec("load", 0, 4, UnitSpec((20, 20), 32))
        return LoopSpec("inner", (LevelSpec(2, (load,), bypass), LevelSpec(3)), (INDEX,), (0, 0), entries=4)

    full, half = (run(around(loop(depth)), lambda indices: 50).loops["inner"] for depth in (26, 13))
    assert full.measured_ii < 1.01
    assert half.measured_ii > 1.5


def test_three_deep():
    """The middle loop hands over without a bubble too."""
    nest = around(around(innermost(), "middle"), "outer")
    figures = run(nest, lambda indices: 3).loops["inner"]
    assert figures.issued == figures.span == 3 * OUTER_TRIPS**2
