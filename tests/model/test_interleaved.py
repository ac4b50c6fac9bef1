"""Words of interleaved invocations and waits in order, against executions that are followed one by one."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hls.model.interleaved import interleaved_words, wait_in_order
from hls.model.workload import Histogram, Range, Stride

from .test_sequences import INNER, OUTER, runs_of

WORD = 64


def words_of(inner, outer, together, count):
    return interleaved_words(
        runs_of(count, ()),
        Stride(INNER, Histogram((Range(inner, inner, count),))),
        Stride(OUTER, Histogram((Range(outer, outer, count),))),
        together,
        WORD,
    )


@given(st.integers(2, 12), st.integers(-20, 20), st.integers(-40, 40))
def test_words_against_the_addresses(together, inner, outer):
    """In the mean of all alignments, the changes of the word are those of rows that take turns."""
    trips, changes = 40, 0
    for start in range(0, WORD, 4):
        at = [start + 4 * (inner * j + outer * i) for j in range(trips) for i in range(together)]
        changes += sum(one // WORD != other // WORD for one, other in pairwise(at))
    expected = words_of(4 * inner, 4 * outer, together, trips * together)
    assert changes / (WORD // 4) == pytest.approx(expected, abs=1)


def test_rows_of_their_own_move_a_word_each():
    assert words_of(4, 160, 11, 1100) == 1100, "each row has another word"
    assert words_of(160, 0, 10, 1000) == 100, "all go to the same word"
    assert words_of(160, 4, 8, 800) == pytest.approx(800 * (7 * 4 / 64 + 1) / 8), "a column of words"


@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 1.0])
@pytest.mark.parametrize("interval", [1, 3, 100])
def test_waits_behind_others(share, interval):
    drawn, free, waits, tokens = random.Random(1), 0, 0, 60_000
    for k in range(tokens):
        free = max(free, interval * k + (50 if drawn.random() < share else 0))
        waits += free - interval * k
    assert wait_in_order(50, share, interval) == pytest.approx(waits / tokens, rel=0.03, abs=0.02)
