"""Words of interleaved invocations and waits in order, against executions that are followed one by one."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hls.model.estimate import timed
from hls.model.interleaved import interleaved_words, wait_in_order
from hls.model.workload import Histogram, Range, Stride

from .launched import Given, Program
from .test_sequences import INNER, OUTER, runs_of

WORD = 64


def words_of(inner, outer, together, count, trips=10):
    return interleaved_words(
        runs_of(count, ()),
        Stride(INNER, Histogram((Range(inner, inner, count),))),
        Stride(OUTER, Histogram((Range(outer, outer, count),))),
        together,
        trips,
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


@pytest.mark.parametrize("step", [4, 16, 128])
def test_words_where_data_decide_the_steps(step):
    """Invocations begin in one place and go on by 0 or ``step`` bytes, each as its own data say."""
    drawn, trips, together, rounds, changes = random.Random(2), 60, 6, 40, 0
    for _ in range(rounds):
        places = [drawn.randrange(0, WORD, 4)] * together
        at = []
        for _ in range(trips):
            at += places
            places = [one + step * drawn.randrange(2) for one in places]
        changes += sum(one // WORD != other // WORD for one, other in pairwise(at))
    count = rounds * trips * together
    halves = Stride(INNER, Histogram((Range(0, 0, count // 2), Range(step, step, count // 2))))
    found = interleaved_words(
        runs_of(count, ()), halves, Stride(OUTER, Histogram((Range(0, 0, rounds),))), together, trips, WORD
    )
    assert found == pytest.approx(changes, rel=0.15)


@pytest.mark.parametrize("together", [1, 4])
def test_waits_of_few_tokens_behind_each_other(together):
    """So many tokens ask one after the other, and the next ones when all of them are answered."""
    drawn, waits, rounds = random.Random(3), 0, 20_000
    for _ in range(rounds):
        free = 0
        for k in range(together):
            free = max(free, k + (50 if drawn.random() < 0.3 else 0))
            waits += free - k
    last = wait_in_order(50, 0.3, 1, together)  # what the last one of them waits in the mean
    assert waits / (rounds * together) <= last * 1.03
    assert last == pytest.approx(sum((50 - k) * 0.3 * 0.7**k for k in range(together)))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 1.0])
@pytest.mark.parametrize("interval", [1, 3, 100])
def test_waits_behind_others(share, interval):
    drawn, free, waits, tokens = random.Random(1), 0, 0, 60_000
    for k in range(tokens):
        free = max(free, interval * k + (50 if drawn.random() < share else 0))
        waits += free - interval * k
    assert wait_in_order(50, share, interval) == pytest.approx(waits / tokens, rel=0.03, abs=0.02)


COLUMNS = """\
__kernel void columns(__global const {0} *restrict a, __global const {0} *restrict b, __global {0} *restrict out,
                      int rows, int width)
{{
    for (int j = 0; j < width; j++) {{
        {0} sum = 0;
        for (int i = 0; i < rows; i++)
            sum += a[i * width + j] + b[i * width + j];
        out[j] = sum;
    }}
}}
"""


def columns_of(kind, rows=4096, width=64):
    """The traffic of the loads of columns of ``kind``, more words than a cache holds, and the launch's cycles."""
    program, data = Program(COLUMNS.format(kind)), np.ones(rows * width, kind + "32" if kind == "float" else "int32")
    given = Given("columns", {"a": data, "b": data, "out": data[:width]}, {"rows": rows, "width": width})
    found = timed(program.kernels["columns"], program.workloads(given)["columns"], program.board)
    loads = [op for op in found.memory.memory.outside if op.opcode == "load"]
    return [found.memory.traffic(op) for op in loads], found.cycles


def test_a_cache_finds_what_interleaved_invocations_share():
    """Sums of floats take turns: each load but the first of a row is of a word that the invocation before has."""
    traffic, _ = columns_of("float")
    assert [one.words for one in traffic] == pytest.approx([51_493] * 2, rel=0.01)


def test_strides_within_a_row_open_few():
    """Sums of integers do not: each load moves a word, 32 of which lie in a row."""
    traffic, _ = columns_of("int")
    assert all(one.words == one.count and one.scattered == pytest.approx(one.words / 32, rel=0.01) for one in traffic)
