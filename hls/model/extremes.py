"""What a workload and the plans do not tell of a launch, and the best and the worst case of each."""

from dataclasses import dataclass, fields, replace
from enum import Enum

__all__ = ["ASSUMED", "LIKELY", "Extreme", "Unknown"]


class Extreme(Enum):
    """The likely case of something, or the one in which a launch takes the least or the most time."""

    LEAST = "least"
    LIKELY = "likely"
    MOST = "most"


@dataclass(frozen=True)
class Unknown:
    """The case that is taken of each.

    ``memory``: every access is answered at once by its unit, or waits as long as under load; ``conflicts``: no load
    waits for a store that it meets, or stores are as near as the histogram of distances allows; ``order``: long
    invocations come first, or last; ``fill``: loops do not wait for the drain of those inside, or are idle for a cycle
    between two invocations.
    """

    memory: Extreme = Extreme.LIKELY
    conflicts: Extreme = Extreme.LIKELY
    order: Extreme = Extreme.LIKELY
    fill: Extreme = Extreme.LIKELY

    @classmethod
    def all(cls, extreme: Extreme) -> "Unknown":
        """The same case of everything."""
        return cls(**{one.name: extreme for one in fields(cls)})

    @classmethod
    def each(cls, extreme: Extreme) -> "dict[str, Unknown]":
        """That case of one thing alone, by what is assumed then."""
        return {ASSUMED[one.name, extreme]: replace(cls(), **{one.name: extreme}) for one in fields(cls)}


LIKELY = Unknown()
#: what is assumed, in words, by the field of :class:`Unknown`
ASSUMED = {
    ("memory", Extreme.LEAST): "every access finds its word in its unit",
    ("memory", Extreme.MOST): "memory answers as it does under load",
    ("conflicts", Extreme.LEAST): "no load waits for a store to its address",
    ("conflicts", Extreme.MOST): "loads meet stores as near as the ranges of their distances allow",
    ("order", Extreme.LEAST): "the longest invocations of interleaved loops come first",
    ("order", Extreme.MOST): "the longest invocations of interleaved loops come last",
    ("fill", Extreme.LEAST): "no loop waits for the drain of the one inside",
    ("fill", Extreme.MOST): "a loop is idle for a cycle between two invocations",
}
