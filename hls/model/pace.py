"""The pace of the loops of a schedule in a launch whose counts are known (docs/rationale/model.md).

An invocation of a loop of n iterations takes L + (n - 1) I cycles: L from the first iteration's issue to the exit of
its token, I from one issue to the next. I is the largest of

- what the loop's own recurrences need (:attr:`LoopPace.alone`): the II of the schedule, and for a recurrence that
  crosses boundaries between levels the expected time of what is waited for there;
- what the loops inside need of the shared headers (:attr:`LoopPace.shared`): the cycles in which they issue tokens for
  one iteration of this loop, interleaved with those of its other iterations.

Inner loops whose invocations are interleaved hide their own recurrences, as far as their slots, and the invocations
that are at hand, go.
"""

from dataclasses import dataclass
from functools import cached_property

from ..ir import Attr, Op
from ..planning.schedule import KernelPlan, LevelPlan, Point, RegionPlan
from .runs import RunCounts

__all__ = ["LoopPace", "Responses", "SchedulePace"]

#: cycles that a token spends in the queues of a boundary, as in hls.planning.schedule.region_schedule.Latencies
BOUNDARY = 2


class Responses:
    """Cycles from an operation of variable latency to its response, expected over a launch."""

    def cycles(self, op: Op, plan: RegionPlan) -> float:
        """For every operation but a loop, in the region of ``plan``."""
        raise NotImplementedError


@dataclass(frozen=True)
class LoopPace:
    """Cycles from one iteration of an invocation to the next: ``alone`` as far as the loop itself goes, ``shared`` as
    far as the loops inside go. ``latency`` is that of one iteration, ``trips`` are those of an invocation that is
    entered, ``taken`` is the share of those. ``cause`` names what ``interval`` comes from."""

    alone: float
    shared: float
    latency: float
    trips: float
    taken: float
    cause: str

    @property
    def interval(self) -> float:
        """Cycles from one iteration to the next."""
        return max(self.alone, self.shared, 1.0)

    @property
    def invocation(self) -> float:
        """Cycles of an invocation, expected: none where the loop is not entered."""
        return self.taken * (self.latency + max(self.trips - 1, 0) * self.interval) + (1 - self.taken) * BOUNDARY


class SchedulePace:
    """The paces of all loops of one kernel."""

    def __init__(self, plan: KernelPlan, counts: RunCounts, responses: Responses) -> None:
        self.plan, self.counts, self.responses = plan, counts, responses
        self._paces: dict[Op, LoopPace] = {}

    @cached_property
    def cycles(self) -> float:
        """From the start of the launch to the exit of the last token, as far as loops and latencies go."""
        return self.plan.static_depth + self._through(self.plan.top, Point(0, 0), _end(self.plan.top))

    def of(self, op: Op) -> LoopPace:
        """The pace of a loop."""
        if op not in self._paces:
            self._paces[op] = self._pace(self.plan.loops[op])
        return self._paces[op]

    def _pace(self, plan: RegionPlan) -> LoopPace:
        count = self.counts.loop(plan.loop_op)
        alone, cause = self._alone(plan)
        shared = max((self._load(plan, child) for child in self._inside(plan)), default=0.0)
        latency = self._through(plan, Point(0, 0), _end(plan))
        between = self._between(plan)
        if between > latency:
            latency = between
        return LoopPace(alone, shared, latency, count.trips, count.taken, "loops inside" if shared > alone else cause)

    def _inside(self, plan: RegionPlan) -> list[Op]:
        return [row.op for level in plan.levels for row in level.row if row.op in self.plan.loops]

    def _load(self, plan: RegionPlan, child: Op) -> float:
        """Cycles in which a loop inside issues tokens for one iteration of ``plan``, interleaved with others."""
        pace, inner = self.of(child), self.plan.loops[child]
        together = min(inner.slots, self._at_hand(plan))
        each = max(pace.shared, pace.alone / together, 1.0)
        return pace.taken * pace.trips * each

    def _at_hand(self, plan: RegionPlan) -> float:
        """Most invocations that the iterations of ``plan`` give at a time."""
        if plan.loop is None:
            return 1.0
        count = self.counts.loop(plan.loop)
        return max(1.0, count.trips * plan.slots)

    def _alone(self, plan: RegionPlan) -> tuple[float, str]:
        """Cycles between iterations of one invocation for the loop's own sake, and why."""
        attrs = plan.loop_op.attrs
        found: list[tuple[float, str]] = [(float(_least(plan)), "schedule")]
        if attrs.get(Attr.DISABLE_LOOP_PIPELINING):
            return self._through(plan, Point(0, 0), _end(plan)), "disable_loop_pipelining"
        for carried in plan.carried:
            if carried.overlap or carried.between or carried.write.level == carried.read.level:
                continue
            cycles = self._through(plan, carried.read, carried.write)
            found.append((cycles / carried.distance, "recurrence across levels"))
        if plan.again.level > 0:
            found.append((self._through(plan, Point(0, 0), plan.again) + plan.again_delay, "continue condition"))
        for level in plan.levels:
            for window in level.windows:
                if not window.overlap and not window.between and window.group is None and window.ahead is None:
                    inside = self._through(plan, Point(level.index, 0), window.until)
                    found.append((inside / window.most, "window"))
        return max(found)

    def _between(self, plan: RegionPlan) -> float:
        """Cycles for which a window between invocations keeps the next one from entering."""
        found = [
            self._through(plan, Point(level.index, 0), window.until)
            for level in plan.levels
            for window in level.windows
            if window.between and not window.overlap
        ]
        return max(found, default=0.0)

    def _through(self, plan: RegionPlan, first: Point, last: Point) -> float:
        """Cycles from the entry of a token into the stage of ``first`` to its passing of ``last``."""
        cycles = float(last.stage - first.stage + 1)
        for level in plan.levels[first.level : last.level]:
            cycles += self._level(plan, level)
        return cycles

    def _level(self, plan: RegionPlan, level: LevelPlan) -> float:
        """Cycles of a token in a level and the boundary behind it."""
        waits = [row.push + 1 + self._response(plan, row.op) for row in level.row if row.joins]
        return max([float(level.depth), *waits]) + BOUNDARY

    def _response(self, plan: RegionPlan, op: Op) -> float:
        if op in self.plan.loops:
            return self.of(op).invocation
        return self.responses.cycles(op, plan)


def _end(plan: RegionPlan) -> Point:
    return Point(len(plan.levels) - 1, plan.levels[-1].depth - 1)


def _least(plan: RegionPlan) -> int:
    """The II of the schedule of levels, without what crosses their boundaries."""
    if plan.cause in ("schedule", "request", "concurrency", "ahead"):
        return plan.ii
    return plan.bottleneck.ii or 1 if plan.bottleneck else 1
