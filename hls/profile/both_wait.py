"""Channels at which both kernels wait: full at times, and empty at other times."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["BOTH_WAIT", "BothWait", "channels_where_both_wait"]

#: share of the cycles for which each end must wait: below it, depth gains less than that
BOTH_WAIT = 0.05


@dataclass(frozen=True)
class BothWait:
    """Channel ``name`` of ``depth`` values was full and empty in turn; ``share`` is the lesser of the shares of the
    cycles in which its reader and its writer waited."""

    name: str
    depth: int
    share: float

    @property
    def sentence(self) -> str:
        """What to do, for a kernel author."""
        return (
            f"channel {self.name} of depth {self.depth:,} was full and empty in turn: both of its ends waited for "
            f"{100 * self.share:.1f} % of the cycles or more; `sluice profile` finds the depth that it needs"
        )


def channels_where_both_wait(
    channels: Iterable[tuple[str, int, int, float | None, float | None]],
) -> tuple[BothWait, ...]:
    """Those of the channels, each (name, depth, greatest level, share of the cycles in which its reader waited, share
    in which its writer did), that were full at least once and made both ends wait; the greatest share first. Where only
    one end waits, the other is slower, and no depth helps."""
    found: dict[str, BothWait] = {}
    for name, depth, most, read_stall, write_stall in channels:
        share = min(read_stall or 0.0, write_stall or 0.0)
        known = found.get(name)
        if share >= BOTH_WAIT and most >= depth and (known is None or share > known.share):
            found[name] = BothWait(name, depth, share)
    return tuple(sorted(found.values(), key=lambda one: -one.share))
