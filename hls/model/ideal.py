"""What a what-if of the performance model takes for ideal."""

from enum import Flag, auto

__all__ = ["Ideal"]


class Ideal(Flag):
    """What a prediction takes for ideal: one of these, or several.

    - MEMORY: every access is answered by its unit at once, and words cost no time on a bus;
    - RESOURCES: loops, work-items and compute units are copied without end, so that no iteration takes a cycle of its
      own; what iterations need of each other still counts for each of them;
    - DEPENDENCES: no iteration waits for one before it, neither for a value nor for a place in memory; what shares a
      port still does.
    """

    NOTHING = 0
    MEMORY = auto()
    RESOURCES = auto()
    DEPENDENCES = auto()
