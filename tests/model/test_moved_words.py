"""Words that a strided access moves, against the addresses of its nest followed one by one; and the pace of conflicts."""

import itertools
import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hls.analysis.memory.strides import Step
from hls.model.conflicts import pace_of_conflicts
from hls.model.moved_words import Moved, moved_words
from hls.model.runs import LoopCount

WORD, ROW, ELEMENT = 64, 1024, 4


def moved(trips, strides) -> Moved:
    """What the model tells of a nest; both arguments from the innermost loop on."""
    entered = [math.prod(trips[k + 1 :]) for k in range(len(trips))]
    loops = {k: LoopCount(float(n * trip), float(n), float(n)) for k, (n, trip) in enumerate(zip(entered, trips))}
    pattern = SimpleNamespace(steps=[(k, Step(stride)) for k, stride in enumerate(strides)])
    return moved_words(pattern, SimpleNamespace(loop=loops.__getitem__), WORD, ROW)


def followed(trips, strides) -> list[int]:
    """The addresses of the nest, in the order of its iterations."""
    order = itertools.product(*(range(trip) for trip in reversed(trips)))
    return [sum(k * stride for k, stride in zip(reversed(at), strides)) for at in order]


@st.composite
def nests(draw):
    """Trips and strides of loops over a dense array in any order of its dimensions; some loops do not move at all."""
    trips = draw(st.lists(st.sampled_from([1, 2, 4, 8, 32]), min_size=1, max_size=3))
    strides, step = [0] * len(trips), ELEMENT
    for level in draw(st.permutations(range(len(trips)))):
        if draw(st.integers(0, 3)):
            strides[level], step = step, step * trips[level]
    return trips, strides


@given(nests())
def test_words_of_a_nest_followed_one_by_one(nest):
    found, addresses = moved(*nest), followed(*nest)
    words = [address // WORD for address in addresses]
    assert found.count == len(words)
    assert found.words == len(set(words))
    assert found.rows == len({address // ROW for address in addresses})
    assert found.same == sum(one == before for before, one in itertools.pairwise(words))
    assert found.count == found.words + found.same + sum(found.reuse.values())


def test_an_unknown_stride_counts_as_a_word():
    assert moved([8, 4], [None, 0]).words == 8


@given(st.integers(1, 40), st.integers(1, 200), st.integers(1, 4))
def test_conflicts_at_one_distance(distance, time, interval):
    """Each iteration waits for the store of so many before: as many iterations pass in its time."""
    pace = pace_of_conflicts([(distance, 10_000)], 1.0, 10_000, time, interval)
    assert pace == pytest.approx(max(interval, time / distance), rel=0.05)


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 500)), min_size=1, max_size=4),
    st.floats(0, 1),
    st.integers(1, 150),
)
def test_conflicts_never_take_more_than_the_time_of_each(apart, steady, time):
    less, more = (pace_of_conflicts(apart, steady, 2000, t, 1.0) for t in (time, time + 20))
    assert 1.0 - 1e-9 <= less <= more + 1e-9 <= time + 20 + 1e-6


def test_without_conflicts_nothing_waits():
    assert pace_of_conflicts([], 0.0, 100, 50, 2.0) == pytest.approx(2.0)
