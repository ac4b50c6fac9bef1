"""What a what-if of the performance model takes for ideal."""

from enum import Enum

__all__ = ["Ideal"]


class Ideal(Enum):
    """One thing that a prediction takes for ideal.

    - MEMORY: every access is answered by its unit at once, and words cost no time on a bus;
    - RESOURCES: loops, work-items and compute units are copied without end, so that no iteration takes a cycle of its
      own; what iterations need of each other still counts for each of them;
    - DEPENDENCES: no iteration waits for one before it, neither for a value nor for a place in memory; what shares a
      port still does.
    """

    NOTHING = "nothing"
    MEMORY = "memory"
    RESOURCES = "resources"
    DEPENDENCES = "dependences"
