"""What is said of other depths of a channel, given their replay."""

from dataclasses import replace

import pytest

from hls.profile import model
from hls.profile.depths import ChannelReplay, Replayed, depth_advice
from hls.profile.profile_text import render_profile
from tests.hls.profile.records import launch, profile


def replay(actual: int, *cycles: tuple[int, int, int]) -> ChannelReplay:
    """Of depths 1, 2, 4 ...: cycles, waits of the writer and of the reader; ``actual`` is the place of the run's."""
    options = [Replayed(1 << k, *one) for k, one in enumerate(cycles)]
    return ChannelReplay("c", 100, options[actual], options)


@pytest.mark.parametrize(
    ("found", "least", "saved", "sentence"),
    [
        (
            replay(0, (2000, 900, 0), (1500, 400, 0), (1004, 4, 0), (1000, 0, 0)),
            4,
            996,
            "depth 4 instead of 1 saves 996 of 2,000 cycles",
        ),
        (
            replay(1, (2000, 0, 900), (1000, 0, 500), (1000, 0, 500)),
            None,
            0,
            "a greater depth does not help: the writer is slower",
        ),
        (
            replay(1, (2000, 900, 0), (1000, 500, 0), (1000, 400, 0)),
            None,
            0,
            "a greater depth does not help: the reader is slower",
        ),
        (
            replay(1, (1010, 520, 49), (1000, 500, 40), (1000, 0, 40)),
            None,
            0,
            "a greater depth does not help: the reader is slower",
        ),
        (replay(2, (2000, 900, 0), (1000, 0, 0), (1000, 0, 0)), None, 0, "no end waits; depth 2 is enough"),
    ],
    ids=["helps", "writer", "reader", "reader with room for all", "enough"],
)
def test_advice(found, least, saved, sentence):
    assert depth_advice(found) == (least, saved, sentence)


def test_the_text_shows_the_channels_and_banks_that_matter():
    """Of many channels those whose depth saves most, of many banks the busiest."""
    depth = model.Depth(2, 100, 50, 0)
    channels = tuple(
        model.ChannelDepth(0, f"c{k}", 9, depth, (depth,), 4, k, f"depth 4 instead of 2 saves {k} of 100 cycles")
        for k in range(40)
    )
    banks = tuple(model.Bank(k, "DDR", k / 40, 64, 0, 1, 0, 1, 0, 0, 0) for k in range(40))
    one = replace(launch(issue=100), banks=banks)
    text = render_profile(replace(profile(one), depths=channels))
    assert "saves 39 of 100" in text and "saves 32 of" in text and "saves 31 of" not in text and "8 of 40" in text
    assert "DDR 39" in text and "DDR 25 " not in text and "that are busiest" in text
    assert len(text.splitlines()) < 120
