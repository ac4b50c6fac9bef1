"""The machine as plain data: the contents of a schedule and a memory plan, without the computation.

A *point* is a pair (level, stage). A token passes the points in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

__all__ = ["AccessSpec", "LevelSpec", "LoopSpec", "OperationSpec", "Point", "RecurrenceSpec", "UnitSpec"]

Point = tuple[int, int]


def _require(condition, message):
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class UnitSpec:
    """An in-order unit with variable latency: a load or store unit, a channel end."""

    latency: tuple[int, int] = (3, 3)  #: least and greatest, from taking a request to the response on offer
    in_flight: int = 8  #: requests taken whose responses have not been; their room is reserved

    def __post_init__(self):
        _require(1 <= self.latency[0] <= self.latency[1], f"latency {self.latency}: 1 <= least <= greatest")
        _require(self.in_flight >= 1, "a unit needs room for at least one response")


@dataclass(frozen=True)
class AccessSpec:
    """A load or store unit of global memory (:mod:`~.load_unit`, :mod:`~.store_unit`); bytes and words."""

    direction: str  #: "load" or "store"
    in_flight: int  #: accesses under way
    pending: int = 0  #: of a load: words under way or not yet used
    kept: int = 0  #: of a cached load: words that stay behind those
    lookup: int = 2  #: of a cached load: cycles until it knows whether it keeps a word
    reads_ahead: bool = False  #: of a load: requests are pairs of an address and the last one of its run
    next_word: int = 0  #: of a load that requests the word behind the one in use: words of the blocks that it stays in
    scattered: bool = False  #: of a store: as many bursts may wait as words
    gathers: int = 1  #: of a store: words that stores join at a time
    pipelined: bool = False  #: of a store: each is a burst of its own, which goes at once


@dataclass(frozen=True)
class OperationSpec:
    """One operation of a row, behind a request FIFO. One that does not ``join`` never answers (a posted store)."""

    name: str
    stage: int  #: stage of the level before the row that pushes the request
    requests: int  #: depth of the request FIFO
    unit: UnitSpec | AccessSpec | LoopSpec
    joins: bool = True
    latency: int = 1  #: of the request FIFO

    @property
    def capacity(self) -> int:
        """Requests that find room while no response is taken."""
        unit = self.unit
        return self.requests + (unit.entries if isinstance(unit, LoopSpec) else unit.in_flight)


@dataclass(frozen=True)
class LevelSpec:
    """A cluster, and the row of operations after it. Nothing joins behind the last level of a loop.

    An ``ii`` beyond the depth (level 0 only) is waited for outside the cluster.
    """

    depth: int  #: stages
    row: tuple[OperationSpec, ...] = ()
    bypass: int = 0  #: depth of the FIFO past the row
    stall_free: bool = True
    ii: int = 1  #: least enabled cycles between two tokens of one slot, beyond what recurrences ask
    latency: int = 1  #: of the FIFO past the row

    def __post_init__(self):
        _require(self.ii >= 1, f"ii {self.ii} must be at least 1")
        for operation in self.row:
            _require(0 <= operation.stage < self.depth, f"{operation.name}: stage outside of its level")
            _require(operation.requests >= 1, f"{operation.name}: no room for a request")


@dataclass(frozen=True)
class RecurrenceSpec:
    """A value that one iteration defines and the next one uses."""

    name: str
    use: Point
    define: Point

    def __post_init__(self):
        _require(self.use <= self.define, f"{self.name}: used at {self.use}, after its definition at {self.define}")


@dataclass(frozen=True)
class LoopSpec:
    """A rotated loop: an invocation has at least one iteration.

    Raises ``ValueError`` where the machine could not work at any speed.
    """

    name: str
    levels: tuple[LevelSpec, ...]
    recurrences: tuple[RecurrenceSpec, ...]
    continues: Point  #: where a token knows whether there is a next one
    slots: int = 1
    entries: int = 4  #: exit entries
    speculative: bool = False  #: tokens are issued before the decision whether there are any
    exit_latency: int = 1  #: from writing a result to offering it

    def __post_init__(self):
        _require(self.levels and self.slots >= 1 and self.entries >= 1, f"{self.name}: levels, slots and entries")
        for recurrence in self.recurrences:
            for point in (recurrence.use, recurrence.define):
                _require(self._exists(point), f"{self.name}: {recurrence.name} at {point}, which does not exist")
        _require(self._exists(self.continues), f"{self.name}: no point {self.continues}")
        _require(not any(o.joins for o in self.levels[-1].row), f"{self.name}: a row joins behind the last level")
        for k, level in enumerate(self.levels[:-1]):
            _require(level.bypass >= 1, f"{self.name}: level {k} needs a bypass")
        for k, level in enumerate(self.levels):
            _require(k == 0 or level.ii <= level.depth, f"{self.name}: level {k} has ii {level.ii} beyond its depth")
        if self.speculative:
            self._check_speculation()

    def _check_speculation(self):
        """Before the decision nothing may happen that cannot be taken back, and no value comes back from behind it."""
        decides = self.continues[0]
        _require(decides > 0, f"{self.name}: a speculative loop decides late")
        for level in self.levels[:decides]:
            for operation in level.row:
                reads = isinstance(operation.unit, UnitSpec) or getattr(operation.unit, "direction", "") == "load"
                _require(reads and operation.joins, f"{self.name}: {operation.name} before the decision")
        for r in self.recurrences:
            _require(r.use[0] >= decides or r.define[0] == r.use[0], f"{self.name}: {r.name} comes back too late")

    def _exists(self, point):
        return 0 <= point[0] < len(self.levels) and 0 <= point[1] < self.levels[point[0]].depth

    def safe(self, level: int) -> Point:
        """The point from which a token's successor in the slot may enter the level."""
        points = [(level, min(self.levels[level].ii, self.levels[level].depth) - 1)]
        for r in self.recurrences:
            if r.use[0] == level:
                same = r.define[0] == level
                # in one cluster both move in step, so the successor may follow before the value is written
                points.append((level, r.define[1] - r.use[1]) if same else r.define)
        return max(points)

    @cached_property
    def again(self) -> Point:
        """The point that lets the header issue the slot's next token."""
        return self.safe(0) if self.speculative else max(self.continues, self.safe(0))

    @cached_property
    def again_delay(self) -> int:
        """Cycles that the header's answer waits after ``again``, where level 0 is shorter than its ii."""
        return max(0, self.levels[0].ii - 1 - self.again[1]) if self.again[0] == 0 else 0

    def undecided(self, level: int) -> bool:
        """Whether tokens in the level may be behind the last one of their invocation."""
        return self.speculative and level < self.continues[0]

    def ready(self, level: int) -> Point | None:
        """The point that sets the slot's ready bit at the level's entry; None where the header's wait is enough."""
        point = self.safe(level)
        if self.speculative and level == self.continues[0]:
            point = max(point, self.continues)
        return point if level > 0 and point > self.again else None

    def stuck(self) -> tuple[str, ...]:
        """Operations, in this loop and those inside, for which a stall-enabled cluster can stop for ever.

        A cluster that stops for a full request FIFO also holds the older tokens between that stage and the
        bypass. Their responses cannot be taken before they get there, so FIFO and unit together must hold
        all that the stopped cluster has asked, and one more. Stall-free clusters know no such limit.
        """
        names = []
        for level in self.levels:
            for operation in level.row:
                if operation.joins and not level.stall_free and operation.capacity < level.depth - operation.stage:
                    names.append(operation.name)
                if isinstance(operation.unit, LoopSpec):
                    names += operation.unit.stuck()
        return tuple(names)
