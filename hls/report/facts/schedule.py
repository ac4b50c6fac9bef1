"""Facts about schedules: when each operation executes, and what it waits for."""

from dataclasses import dataclass

from ...diag import Span

__all__ = ["Edge", "Level", "Operation", "RegionSchedule", "Stage"]


@dataclass(frozen=True)
class Stage:
    """A stage of a level; both count from 0."""

    level: int
    stage: int


@dataclass(frozen=True)
class Operation:
    """An operation, which starts at ``stage`` of ``level``. An inner loop is one operation of the region around it."""

    id: int  #: unique in the region
    words: str  #: what it does, e.g. "floating-point add for total"
    span: Span | None
    level: int
    stage: int
    latency: int  #: cycles; 0 for logic that shares a cycle with others; of a variable latency: the estimate
    part: str = ""  #: the hardware part that computes it; "" for plain logic
    variable: bool = False  #: its latency depends on what happens at run time
    loop: str = ""  #: id of the inner loop that the operation is
    access: str = ""  #: id of the access that it is


@dataclass(frozen=True)
class Edge:
    """``target`` needs what ``source`` produces, ``distance`` iterations earlier."""

    source: int
    target: int
    kind: str  #: "data", "carried" (from an earlier iteration) or "token" (order of accesses)
    distance: int = 0


@dataclass(frozen=True)
class Level:
    """A pipeline of ``depth`` stages that never stalls inside. ``start`` is the cycle in which a token enters it if
    nothing stalls; ``waits`` are the ids of the variable-latency operations after it."""

    index: int
    depth: int
    start: int
    elastic: bool
    waits: tuple[int, ...] = ()


@dataclass(frozen=True)
class RegionSchedule:
    """The schedule of a loop's body, or of a kernel outside of its loops (``loop`` is "")."""

    loop: str  #: id
    ii: int
    slots: int
    latency: int
    levels: tuple[Level, ...]
    operations: tuple[Operation, ...]
    edges: tuple[Edge, ...]
    decide: Stage  #: where it is known whether another iteration follows
    critical: tuple[int, ...] = ()  #: ids of the operations on the recurrence that limits the II, in its order
