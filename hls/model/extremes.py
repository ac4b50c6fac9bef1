"""What a workload and the plans do not tell of a launch, and the best and the worst case of each."""

from dataclasses import dataclass, fields, replace
from enum import Enum

__all__ = ["LIKELY", "Extreme", "Unknown"]


class Extreme(Enum):
    """The likely case of something, or the one in which a launch takes the least or the most time."""

    LEAST = "least"
    LIKELY = "likely"
    MOST = "most"


@dataclass(frozen=True)
class Unknown:
    """The case that is taken of each.

    ``memory``: every access is answered at once by its unit, or waits as long as under load; ``conflicts``: no load
    waits for a store that it meets, or each for all of it; ``order``: long invocations come first, or last;
    ``fill``: loops inside others overlap their fill and drain, or run one after the other.
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
        """That case of one thing alone, by its name."""
        return {one.name: replace(cls(), **{one.name: extreme}) for one in fields(cls)}


LIKELY = Unknown()
