"""Channels whose depth makes both of their kernels wait: full at times, and empty at other times."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["BOTH_WAIT", "DepthAdvice", "advised_depth", "depth_advice"]

#: share of the cycles for which each end must wait: below it, depth gains less than that
BOTH_WAIT = 0.05
#: the least depth to try: one RAM block or LUT RAM column holds as many values at the same cost
LEAST_DEPTH = 64
#: the factor by which the depth grows in one step
GROWTH = 8


@dataclass(frozen=True)
class DepthAdvice:
    """Channel ``name`` of ``depth`` values was full and empty in turn; ``share`` is the lesser of the shares of the
    cycles in which its reader and its writer waited, which a channel deep enough saves; ``advised`` is the depth to try
    next."""

    name: str
    depth: int
    share: float
    advised: int

    @property
    def sentence(self) -> str:
        """What to do, for a kernel author."""
        return (
            f"channel {self.name} was full and empty in turn: both of its ends waited for {100 * self.share:.1f} % of "
            f"the cycles or more; give it depth({self.advised}), as one kernel is ahead of the other only at times"
        )


def advised_depth(depth: int) -> int:
    """The depth to try next for a channel of ``depth``."""
    return max(LEAST_DEPTH, GROWTH * depth)


def depth_advice(channels: Iterable[tuple[str, int, int, float | None, float | None]]) -> tuple[DepthAdvice, ...]:
    """Advice for the channels, each (name, depth, greatest level, share of the cycles in which its reader waited, share
    in which its writer did), that were full at least once and made both ends wait; the greatest share first. Where only
    one end waits, the other is slower, and no depth helps."""
    found: dict[str, DepthAdvice] = {}
    for name, depth, most, read_stall, write_stall in channels:
        share = min(read_stall or 0.0, write_stall or 0.0)
        known = found.get(name)
        if share >= BOTH_WAIT and most >= depth and (known is None or share > known.share):
            found[name] = DepthAdvice(name, depth, share, advised_depth(depth))
    return tuple(sorted(found.values(), key=lambda one: -one.share))
