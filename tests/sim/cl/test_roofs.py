"""The roof of a launch's accesses: what bounds the memory for their order and their shares of the bytes."""

from dataclasses import replace

import pytest

from hls.profile import model
from hls.target.board import load_board
from sim.cl.roofs import memory_roof
from sim.traffic.bounds import bounds
from sim.traffic.measure import Stream
from tests.hls.profile.records import ACCESS

BOARD = load_board("de5net")
LOAD = replace(ACCESS, memory=BOARD.memory.name, average_burst=16.0, bytes_moved=160_000)


def test_loads_in_order_have_the_bus_less_its_refresh():
    roof = memory_roof(BOARD, [LOAD])
    assert roof == (bounds(BOARD, [Stream(False, 0)])["bank"], "bank")


def test_scattered_words_are_held_by_activations_as_far_as_they_are_most_of_the_bytes():
    scattered = replace(LOAD, id="other", average_burst=1.0)
    rate, by = memory_roof(BOARD, [scattered])
    assert by == "activation" and rate == pytest.approx(bounds(BOARD, [Stream(False, 0, random=True)])["activation"])
    few = replace(scattered, bytes_moved=10_000)
    assert memory_roof(BOARD, [LOAD, few])[1] == "bank"


def test_a_store_of_a_few_bytes_costs_no_turnaround():
    store = replace(LOAD, id="s", kind="store", bytes_moved=64)
    assert memory_roof(BOARD, [LOAD, store]) == memory_roof(BOARD, [LOAD])
    assert memory_roof(BOARD, [LOAD, replace(store, bytes_moved=160_000)])[1] == "turnaround"


def test_nothing_moved_and_memory_without_rows_have_no_roof():
    assert memory_roof(BOARD, []) is None and memory_roof(BOARD, [replace(LOAD, bytes_moved=0)]) is None
    assert memory_roof(BOARD, [replace(LOAD, memory="QDR")]) is None


def test_unrelated_addresses_open_as_many_rows_as_were_opened():
    """A roof must not be lower than what a launch moves: many of its words were in open rows."""
    scattered = replace(LOAD, average_burst=1.0)
    words = scattered.bytes_moved // BOARD.memory.word_bytes
    rate, _ = memory_roof(BOARD, [scattered])
    bank = model.Bank(0, LOAD.memory, 0.5, scattered.bytes_moved, 0, words, 0, words, words, 0, 0)
    assert memory_roof(BOARD, [scattered], [bank]) == (rate, "activation")
    higher, by = memory_roof(BOARD, [scattered], [replace(bank, activates=3 * words // 4)])
    assert by == "activation" and higher == pytest.approx(4 / 3 * rate, rel=0.01)
    assert memory_roof(BOARD, [scattered], [replace(bank, activates=0)])[1] == "bank"
