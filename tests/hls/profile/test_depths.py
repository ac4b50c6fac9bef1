"""What is said of other depths of a channel, given their replay."""

import pytest

from hls.profile.depths import ChannelReplay, Replayed, depth_advice


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
        (replay(2, (2000, 900, 0), (1000, 0, 0), (1000, 0, 0)), None, 0, "no end waits; depth 2 is enough"),
    ],
    ids=["helps", "writer", "reader", "enough"],
)
def test_advice(found, least, saved, sentence):
    assert depth_advice(found) == (least, saved, sentence)
