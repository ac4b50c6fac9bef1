"""What a greater depth of a channel would save: from a replay of its values for several depths.

The replay keeps everything but the channel as it was in the run: the time that each end needs between two values, its
waits for memory and for other channels included. So it is exact for two kernels that share one channel, and an estimate
where more of them are joined.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ChannelReplay", "Replayed", "depth_advice"]

#: a share of the time that is not worth a greater depth
NEGLIGIBLE = 0.005


@dataclass(frozen=True)
class Replayed:
    """With ``depth``, the channel's last value is read ``cycles`` after its first is written; its ends wait for it in
    so many cycles."""

    depth: int
    cycles: int
    writer_waits: int
    reader_waits: int


@dataclass(frozen=True)
class ChannelReplay:
    """The replay of a channel through which so many ``values`` passed: with the depth of the run, and with others,
    ascending."""

    channel: str
    values: int
    actual: Replayed
    others: Sequence[Replayed]

    @property
    def best(self) -> Replayed:
        """The least depth with which the values take no longer than with the greatest one."""
        most = self.others[-1]
        limit = most.cycles + NEGLIGIBLE * self.actual.cycles
        return next(one for one in self.others if one.cycles <= limit)


def depth_advice(replay: ChannelReplay) -> tuple[int | None, int, str]:
    """The least depth that helps, if one does, the cycles that it saves, and both as a sentence."""
    best, actual = replay.best, replay.actual
    small = NEGLIGIBLE * actual.cycles
    saved = actual.cycles - best.cycles
    if saved > small and best.depth > actual.depth:
        text = f"depth {best.depth:,} instead of {actual.depth:,} saves {saved:,} of {actual.cycles:,} cycles"
        return best.depth, saved, text
    if max(actual.writer_waits, actual.reader_waits) <= small:
        return None, 0, f"no end waits; depth {best.depth:,} is enough"
    # Both ends have the same time for the same values: the one that waits less needs more of it for itself. With a
    # depth of all values no writer waits, and each reader waits for the first value: that says nothing of either.
    slower = "writer" if actual.reader_waits > actual.writer_waits else "reader"
    return None, 0, f"a greater depth does not help: the {slower} is slower"
