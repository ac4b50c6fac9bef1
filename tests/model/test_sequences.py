"""Jumps of an access, against the addresses of a nest of loops."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hls.model.sequences import jumps
from hls.model.workload import SCHEMA, AccessRuns, Histogram, LoopRuns, Place, Range, Stride, Workload

WORD = 64
INNER, OUTER = Place("", 2, 1), Place("", 1, 1)


def histogram(value, count):
    return Histogram((Range(value, value, count),) if count else ())


def runs_of(count, strides):
    figures = dict.fromkeys(("words", "rows", "same_word", "cold", "misses", "crossing", "steady"), 0)
    return AccessRuns(
        Place("", 3, 1), INNER, "load", "a", False, 4, count, reuse=Histogram(), strides=strides,
        conflicts=Histogram(), **figures,
    )  # fmt: skip


def workload_of(trips, rows):
    loops = (
        LoopRuns(OUTER, None, rows, histogram(rows, 1)),
        LoopRuns(INNER, OUTER, rows * trips, histogram(trips, rows)),
    )
    return Workload(SCHEMA, "k", "b", WORD, 1024, "", "", (1,), (1,), (), loops, (), (), ())


def nest(trips, rows, inner, outer):
    strides = (Stride(INNER, histogram(inner, rows * (trips - 1))), Stride(OUTER, histogram(outer, rows - 1)))
    return runs_of(trips * rows, strides), workload_of(trips, rows)


def test_rows_that_follow_each_other():
    assert jumps(*nest(16, 10, 4, 64)) == 1, "only the first one"
    assert jumps(*nest(16, 10, 4, 256)) == 10, "each row begins elsewhere"
    assert jumps(*nest(16, 10, 4, 0)) == 10, "back to the beginning of the row"
    assert jumps(*nest(16, 10, 512, 4)) == 160, "a column"


def test_executions_of_unknown_strides_are_jumps():
    runs = runs_of(100, (Stride(INNER, histogram(4, 60)),))
    assert jumps(runs, workload_of(100, 1)) == 40
    assert jumps(runs_of(0, ()), workload_of(1, 1)) == 0


@given(st.integers(1, 20), st.integers(1, 20), st.integers(-8, 8), st.integers(-64, 64))
def test_against_the_addresses(trips, rows, inner, outer):
    addresses = [4 * (inner * j + outer * i) for i in range(rows) for j in range(trips)]
    steps = [b - a for a, b in pairwise(addresses)]
    runs, workload = nest(trips, rows, 4 * inner, 4 * outer)
    assert jumps(runs, workload) == 1 + sum(not 0 <= step <= WORD for step in steps)
