"""Groups of work-items: barrier loops, and how many groups may use local memory at once."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from ...analysis.channels.endpoints import is_call
from ...ir import Attr, Op, Region, Value, memory_name, reaches_memory, walk
from ...ir.rewrite import constant
from .levels import Levels
from .plan import LevelPlan, Point, Ring, WholeGroups, Window
from .stages import LevelStages, Need

__all__ = ["GroupWindow", "group_windows", "ring_of", "whole_groups"]

#: assumed group size of a barrier loop where the program only gives an upper limit of the group size
USUAL_GROUP = 64
MOST_GROUPS = 16


def ring_of(region: Region, items: int, latency: int, uniform: bool, loop_behind: bool) -> Ring:
    """The sizes of a barrier loop (:class:`~hls.planning.schedule.plan.Ring`): room for one group that gathers at each
    barrier, and for as many groups as fill the time of one iteration.

    Where the trip count is not ``uniform`` over work-items, those that are done wait for others that came before: the
    loop has room for twice as many groups in flight, but for one gathering at a time, since more groups inside would
    wait longer for the slowest. The same holds around such a loop: a body whose only barriers are in an inner barrier
    loop gets no more groups than keep that one busy.

    With a ``loop_behind`` (a later loop, which work-items enter as far apart as it has iterations) the loop has room
    for one group more, the one that leaves.
    """
    meet = next(op for op in walk(region) if op.opcode == "meet")
    filling = -(-latency // min(items, USUAL_GROUP))
    gathering = max(1, sum(op.opcode == "meet" for op in region.ops)) if uniform else 1
    groups = gathering + filling * (1 if uniform else 2) + loop_behind
    return Ring(min(MOST_GROUPS, groups), items, meet.operands[1], not uniform)


def whole_groups(levels: Levels, rings: Mapping[Op, Ring | None], fixed: Container[Value]) -> dict[int, WholeGroups]:
    """The levels of a region that groups must enter as a whole: those before a barrier loop that some groups may
    bypass, so that more groups are downstream at once than it has room for. ``rings`` are the barrier loops of the
    region's loops, ``fixed`` the values that are the same in a whole run."""
    return {
        level: WholeGroups(ring.items, ring.last)
        for op, level in levels.op.items()
        if (ring := rings.get(op)) is not None and op.operands[0] not in fixed and constant(op.operands[0]) is None
    }


@dataclass(frozen=True)
class GroupWindow:
    """The levels between which a group has its copy of local memory, or exclusive use of channels: from the entry of
    ``begin`` until its last work-item leaves ``end``, or, where that is the level of a loop or call, until it comes
    back from it (``answers``)."""

    group: Op
    begin: int
    end: int
    answers: bool

    @property
    def first(self) -> Value:
        """The value that is true for the first work-item of a group."""
        return self.group.operands[0]

    @property
    def last(self) -> Value:
        """The value that is true for the last work-item of a group."""
        return self.group.operands[1]

    @property
    def needs(self) -> tuple[Need, ...]:
        """Values that must be available at the levels."""
        return Need(self.begin, self.first, True), Need(self.end + self.answers, self.last, False)

    def added(self, level: LevelPlan, stages: Sequence[LevelStages]) -> LevelPlan:
        """The level with the window, if the window begins there. ``stages`` are those of every level."""
        if level.index != self.begin:
            return level
        end = self.end + self.answers
        window = Window(
            Point(end, stages[end].depth - 1),
            self.group.attrs[Attr.COPIES],
            False,
            first=self.first,
            last=self.last,
            group=self.group,
        )
        return replace(level, windows=(*level.windows, window))


def group_windows(levels: Levels) -> tuple[GroupWindow, ...]:
    """The windows of a region whose tokens are work-items that share memory within groups, or that call channels one
    group after the other."""
    found = [(op, _touching(levels, op)) for op in levels.op if op.opcode == "group"]
    return tuple(_window(levels, group, touched) for group, touched in found if touched)


def _window(levels: Levels, group: Op, touched: dict[Op, int]) -> GroupWindow:
    end = max(touched.values())
    answers = any(
        op in levels.offering and (op.opcode == "loop" or is_call(op)) for op, level in touched.items() if level == end
    )
    return GroupWindow(group, min(touched.values()), end, answers)


def _touching(levels: Levels, group: Op) -> dict[Op, int]:
    """The operations of the region on what a group has for itself, or that contain such operations, and their
    levels."""
    names = group.attrs[Attr.MEMS]

    def mine(op: Op) -> bool:
        return (
            bool(op.attrs.get(Attr.GATED))
            if group.attrs.get(Attr.CALLS)
            else reaches_memory(op) and memory_name(op) in names
        )

    return {
        op: level
        for op, level in levels.op.items()
        if any(mine(one) for one in (op, *(inner for region in op.regions for inner in walk(region))))
    }
