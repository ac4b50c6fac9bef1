"""Captures of autorun kernels, which have no launches: differences of two snapshots of what they have counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hls.profile.build import since
from hls.profile.layout import Layout
from hls.profile.waits import UnitWaits
from sim.probe import Probe

__all__ = ["Snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """What an autorun kernel has counted: its counters by name, the waits of each of its compute units, and of each of
    its channel ends, by key, the sum over the cycles of the values in the channel."""

    counters: Mapping[str, int]
    waits: Sequence[UnitWaits]
    levels: Mapping[str, int]

    @classmethod
    def of(cls, probe: Probe, layout: Layout) -> "Snapshot":
        """What it has counted since the reset of the design."""
        return cls(probe.counters(layout), probe.waits(layout), probe.level_sums(layout))

    def since(self, layout: Layout, before: "Snapshot | None") -> "Snapshot":
        """The difference to an earlier snapshot; None is the reset of the design."""
        if before is None:
            return Snapshot(since(layout, {}, self.counters), self.waits, self.levels)
        return Snapshot(
            since(layout, before.counters, self.counters),
            [later.since(earlier) for later, earlier in zip(self.waits, before.waits, strict=True)],
            {key: total - before.levels[key] for key, total in self.levels.items()},
        )
