"""Published bandwidths, and the bounds that the memory model reaches and never exceeds."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from hls.target.board import load_board
from sim.traffic import __main__ as command
from sim.traffic.bounds import bounds, holder
from sim.traffic.measure import Stream, measure, partitioned
from sim.traffic.published import CASES, mix

WORDS = 20_000
A10 = load_board("a10pac")


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.board.name} {c.name} {c.placement}")
def test_published_rates(case):
    rate = measure(case.board, case.streams, WORDS).rate
    assert case.holds(rate), rate
    limits = bounds(case.board, case.streams)
    assert 0.8 * limits[holder(limits)] < rate <= limits[holder(limits)]


@pytest.mark.parametrize("mhz", [100, 200, 300])
@pytest.mark.parametrize("board", [A10, partitioned(A10)], ids=["interleaved", "by bank"])
def test_no_rate_exceeds_its_bound_at_other_clocks(board, mhz):
    streams = mix(2, 1)
    limits = bounds(board, streams, mhz)
    rate = measure(board, streams, WORDS, mhz).rate
    assert 0.8 * limits[holder(limits)] < rate <= limits[holder(limits)]


def test_bounds_by_hand():
    """R3W1 by bank: a and c in the first bank, b and the output in the second."""
    found = bounds(partitioned(A10), mix(3, 1), 100)
    refreshed = 17.0667 * (1 - 278 / 8320)
    assert found["clock"] == pytest.approx(4 * 6.4)
    assert found["path"] == pytest.approx(2 * 6.4)  # a and c come through one port
    assert found["bank"] == pytest.approx(2 * refreshed, rel=1e-4)
    # 64 bursts of reads and 64 of writes take 512 clocks; turning takes 15 + 2 - 11 and 11 + 3
    assert found["turnaround"] == pytest.approx(2 * refreshed * 512 / 532, rel=1e-4)
    assert "activation" not in found


@pytest.mark.parametrize(
    "streams, mhz, name",
    [
        ([Stream(False, 0)], 100, "clock"),
        (mix(3, 1), 100, "path"),
        ([Stream(False, 0)], 300, "bank"),
        (mix(2, 2), 300, "turnaround"),
        ([Stream(False, 0, random=True)], 300, "activation"),
    ],
)
def test_what_holds(streams, mhz, name):
    assert holder(bounds(partitioned(A10), streams, mhz)) == name


def test_random_words_open_a_row_each():
    board = partitioned(load_board("de5net"))
    random, ordered = (measure(board, [Stream(False, 0, random=each)], WORDS).banks[0] for each in (True, False))
    assert random.activates > 0.9 * random.reads
    assert ordered.activates < 0.05 * ordered.reads


def test_row_hits_are_capped():
    """Two streams meet in every bank of the first channel: a lower cap makes them change rows more often."""

    def rate(cap: int) -> float:
        capped = replace(A10, memory=replace(A10.memory, timing=replace(A10.memory.timing, row_hit_cap=cap)))
        return measure(partitioned(capped), mix(3, 0), WORDS).rate

    assert rate(2) < 0.8 * rate(64)


def test_the_command_fails_where_a_rate_is_missed(monkeypatch):
    case = next(c for c in CASES if c.name == "R1W0")
    for published, code in ((case.published, 0), (2 * case.published, 1)):
        monkeypatch.setattr(command, "CASES", (replace(case, published=published),))
        result = CliRunner().invoke(command.main, ["--words", "2000"])
        assert result.exit_code == code, result.output
        assert ("not as published" in result.output) == bool(code)
