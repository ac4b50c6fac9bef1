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

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..ir import Attr, Op
from ..planning.schedule import KernelPlan, Point, RegionPlan, Row
from ..planning.schedule.plan import Window
from ..planning.schedule.queues import MEETING_LATENCY
from .extremes import LIKELY, Extreme, Unknown
from .ideal import Ideal
from .rows import time_of_rows
from .runs import RunCounts

__all__ = ["Fetched", "Gap", "LoopPace", "Responses", "SchedulePace"]


@dataclass(frozen=True)
class Fetched:
    """A wait of ``cycles`` at an access: of the ``first`` share of the first tokens of its loop's invocations, and of
    the share ``others`` of all other tokens."""

    cycles: float
    first: float
    others: float


class Responses(Protocol):
    """What a schedule waits for beside its own loops, expected over a launch."""

    def cycles(self, op: Op, plan: RegionPlan, first: bool) -> float:
        """From an operation of variable latency, but a loop, to its response, in the region of ``plan``: in the first
        iteration of an invocation, or in any."""

    def room(self, row: Row) -> float:
        """Tokens that may be between the request of an operation and the level behind it for the operation's sake."""

    def fetched(self, op: Op, plan: RegionPlan) -> Fetched:
        """What the tokens of a loop wait for at an operation."""

    def conflicting(
        self, plan: RegionPlan, through: Callable[[RegionPlan, Point, Point], float], interval: float
    ) -> float:
        """Cycles for which an iteration of a loop, one each ``interval``, waits for stores that its loads meet."""

    def interval(self, plan: RegionPlan, through: Callable[[RegionPlan, Point, Point], float]) -> float:
        """Cycles from one iteration of a loop to the next for the sake of memory; ``through`` are those of a token from
        one point of it to another."""


@dataclass(frozen=True)
class Gap:
    """A window between the invocations of a loop: the first token of the next one waits until the token number
    ``ahead`` of this one, or the last one, has passed it, ``through`` cycles after its issue."""

    through: float
    ahead: float = math.inf

    def cycles(self, trips: float, interval: float) -> float:
        """From the first issue of an invocation of so many iterations to that of the next one."""
        return max(min(self.ahead, trips - 1), 0.0) * interval + self.through


@dataclass(frozen=True)
class LoopPace:
    """An average invocation of a loop that is entered, ``trips`` iterations long; ``taken`` is the share of invocations
    that are. ``alone`` are the cycles from one of its iterations to the next for the loop's own sake, for ``cause``;
    ``latency`` are those of the first iteration, from its issue to its exit.

    ``shared`` are the cycles for which the loops inside hold their headers for an iteration. ``apart`` are the windows
    that keep invocations apart; ``slots`` are the invocations that may be interleaved. ``spread`` are pairs of the
    iterations of some invocations and their share, or nothing if all are alike.
    """

    trips: float
    taken: float
    alone: float
    cause: str
    latency: float
    shared: float
    apart: tuple[Gap, ...]
    slots: int
    invocation: float  #: cycles from the issue of an invocation to its exit, with no other one interleaved
    least: float = 1.0  #: cycles between any two tokens of the header
    exposed: float = 0.0  #: cycles for which an invocation's first token keeps those behind it from going on
    spread: tuple[tuple[float, float], ...] = ()
    order: Extreme = Extreme.LIKELY  #: in which invocations of several lengths come

    @property
    def interval(self) -> float:
        """Cycles from one iteration of an invocation to the next."""
        return max(self.alone, self.shared, self.least)

    @property
    def expected(self) -> float:
        """Cycles of an invocation: none of one that is not entered, as its request is answered at once."""
        return self.taken * self.invocation

    def held(self, invocations: float, together: float, alone: bool) -> float:
        """Cycles for which so many invocations hold the header, ``together`` of them interleaved at most: they share
        its cycles. With ``alone``, none follow: the last ones do not fill all slots."""
        count, slots = invocations * self.taken, min(self.slots, together)
        each = self.spread or ((self.trips, 1.0),)
        held = count * sum(share * self._held_by(trips, slots) for trips, share in each)
        return max(held, self._rows(count, slots)) if alone else held

    def _held_by(self, trips: float, slots: float) -> float:
        """Cycles for which an invocation of so many iterations holds the header, of which ``slots`` are interleaved."""
        issue = max(self.shared, self.least, self.alone if slots == 1 else 0.0)
        apart = max((gap.cycles(trips, self.interval) for gap in self.apart), default=0.0)
        return max(trips * self.interval / slots, trips * issue + self.exposed, apart)

    def _rows(self, count: float, slots: float) -> float:
        """Cycles of so many invocations in so many slots, where none follow: the last ones do not fill all slots. An
        invocation goes into the slot that is free first."""
        if not self.spread or slots == 1:
            return math.ceil(count / slots - 1e-9) * self.trips * self.interval
        return time_of_rows(self.spread, count, slots, self.order) * self.interval


class SchedulePace:
    """The paces of all loops of one kernel, with something of its schedule made ideal."""

    def __init__(
        self,
        plan: KernelPlan,
        counts: RunCounts,
        responses: Responses,
        ideal: Ideal = Ideal.NOTHING,
        unknown: Unknown = LIKELY,
    ) -> None:
        self.plan, self.counts, self.responses, self.ideal = plan, counts, responses, ideal
        self.unknown = unknown
        self._least = 0.0 if Ideal.RESOURCES in ideal else 1.0
        self._paces: dict[Op, LoopPace] = {}

    @cached_property
    def cycles(self) -> float:
        """From the start of the launch to its end, which is told in the cycle after the exit of the last token, as far
        as loops and latencies go."""
        top, groups = self.plan.top, self.counts.top_tokens
        paces = [self.of(op) for op in self._inside(top)]
        more = self._behind_all(paces, groups, groups)
        inside = self.through(top, Point(0, 0), _end(top), first=True) + max(more, groups - 1)
        return self.plan.static_depth + inside + 1

    @cached_property
    def filled(self) -> float:
        """Cycles for which the busiest header is held if another invocation always follows: without fill and drain."""
        loops = [(self.of(op), self.counts.loop(op).invocations) for op in self.plan.loops]
        return max((pace.held(count, pace.slots, alone=False) for pace, count in loops), default=1.0)

    def of(self, op: Op) -> LoopPace:
        """The pace of a loop."""
        if op not in self._paces:
            self._paces[op] = self._pace(self.plan.loops[op])
        return self._paces[op]

    def _pace(self, plan: RegionPlan) -> LoopPace:
        count, inside = self.counts.loop(plan.loop_op), self._inside(plan)
        alone, cause = self._alone(plan)
        trips = max(count.trips, 1.0)
        latency = self.through(plan, Point(0, 0), _end(plan), first=True)
        together, slots = (trips if alone < latency else 1.0), self._slots(plan)
        if plan.loop_op.attrs.get(Attr.PARALLEL):  # the next group's work-items follow without a gap
            together = max(together, count.iterations)
        paces = [self.of(child) for child in inside]
        shared = max((one.held(trips, together * slots, alone=False) for one in paces), default=0.0) / trips
        unhindered = max(alone, shared, self._least)
        shared = max(shared, self.responses.interval(plan, self.through), float(plan.ii) if plan.ring else 0.0)
        exposed, narrow = self._through_rows(plan, max(alone, shared, self._least))
        if exposed:  # a token waits for its conflicts at the same time
            exposed = max(0.0, exposed - trips * self.responses.conflicting(plan, self.through, unhindered))
        shared = max(shared, narrow)
        own = latency + (trips - 1) * max(alone, self.responses.interval(plan, self.through), self._least)
        extra = self._behind_all(paces, trips, together)
        return LoopPace(
            trips=trips,
            taken=count.taken,
            alone=alone,
            cause=cause,
            latency=latency,
            shared=shared,
            apart=self._apart(plan),
            slots=slots,
            invocation=max(own, latency + extra),
            least=self._least,
            exposed=exposed,
            spread=count.spread,
            order=self.unknown.order,
        )

    def _through_rows(self, plan: RegionPlan, interval: float) -> tuple[float, float]:
        """Where an operation of a row has room for few tokens, those behind one that waits for memory do not even make
        their requests: the cycles for which the first token of an invocation keeps the next ones so, and the cycles
        from one token to the next, of which some wait. In each row a token waits for all of it, and of several rows
        the slowest counts, as tokens wait in others meanwhile."""
        exposed, slowest = 0.0, 0.0
        for level in plan.levels if plan.loop else ():
            rows = [row for row in level.row if row.joins]
            room = min((self.responses.room(row) for row in rows), default=math.inf)
            if math.isinf(room):
                continue
            waits = [self.responses.fetched(row.op, plan) for row in rows]
            exposed = max([exposed, *(one.first * (one.cycles - room * interval) for one in waits)])
            waiting = min(1.0, sum(one.others for one in waits))
            cycles = max(one.cycles for one in waits)
            if cycles > room * interval:
                slowest = max(slowest, (interval + waiting * cycles) / (1 + waiting * room))
        return exposed, slowest

    def _behind_all(self, paces: list[LoopPace], trips: float, together: float) -> float:
        """Cycles by which an invocation of so many ``trips`` takes longer than one iteration since the loops inside are
        entered once for each: those of the slowest, or those of all if they do not overlap."""
        each = [self._behind(paces, k, trips, together) for k in range(len(paces))]
        return sum(each) if self.unknown.fill is Extreme.MOST else max(each, default=0.0)

    def _behind(self, paces: list[LoopPace], number: int, trips: float, together: float) -> float:
        """Cycles by which an invocation of so many ``trips`` takes longer than one iteration since loop ``number`` of
        those inside is entered once for each. The interleaved invocations of its last row end together, so that the
        loops behind it run one after the other then."""
        pace = paces[number]
        slots = min(pace.slots, together)
        row = trips - (math.ceil(trips / slots - 1e-9) - 1) * slots
        if self.unknown.fill is Extreme.LEAST:  # what follows fills the slots, and what is behind runs beside
            return max(0.0, pace.held(trips, together, alone=False) - pace.held(1.0, 1.0, alone=True))
        tail = max((one.held(1.0, 1.0, alone=True) for one in paces[number + 1 :]), default=0.0)
        return pace.held(trips, together, alone=True) - pace.held(1.0, 1.0, alone=True) + max(row - 1, 0.0) * tail

    def _slots(self, plan: RegionPlan) -> int:
        """Invocations that may be interleaved: without end where resources are ideal and they do not wait for each
        other, as for work-items, of which each may have a unit of its own."""
        items = any(op.attrs.get(Attr.PARALLEL) for op in self.plan.loops)
        slots = plan.ring.groups * min(self.counts.group, plan.ring.items) if plan.ring else plan.slots
        if Ideal.RESOURCES in self.ideal and (slots > 1 or items):
            return max(slots, math.ceil(self.counts.loop(plan.loop_op).invocations))
        return slots

    def _inside(self, plan: RegionPlan) -> list[Op]:
        return [row.op for level in plan.levels for row in level.row if row.op in self.plan.loops]

    def _alone(self, plan: RegionPlan) -> tuple[float, str]:
        """Cycles between iterations of one invocation for the loop's own sake, and why."""
        if plan.ring:  # the work-items of a group go round together, however free they are of each other
            return self.through(plan, Point(0, 0), _end(plan)) + 1, "barrier loop"
        found: list[tuple[float, str]] = [(float(_least(plan, self.ideal)), "schedule")]
        if Ideal.DEPENDENCES in self.ideal:
            return found[0]
        for carried in plan.carried:
            if carried.overlap or carried.between or carried.write.level == carried.read.level:
                continue
            cycles = self.through(plan, carried.read, carried.write)
            found.append((cycles / carried.distance, "recurrence across levels"))
        if plan.again.level > 0:
            found.append((self.through(plan, Point(0, 0), plan.again) + plan.again_delay, "continue condition"))
        for level in plan.levels:
            for window in level.windows:
                if not window.overlap and not window.between and window.ahead is None:
                    found.append((self._window(plan, Point(level.index, 0), window), "window"))
        return max(found)

    def _window(self, plan: RegionPlan, start: Point, window: Window) -> float:
        """Cycles between tokens that pass a window from ``start`` on. Where it counts groups, one is inside from the
        entry of its first token until the last one, so many tokens later, has passed the window's end."""
        inside = self.through(plan, start, window.until)
        if window.group is None:
            return inside / window.most
        return (self.counts.group - 1 + inside) / (window.most * self.counts.group)

    def _apart(self, plan: RegionPlan) -> tuple[Gap, ...]:
        """The windows that keep the invocations of a loop apart."""
        if Ideal.DEPENDENCES in self.ideal:
            return ()
        found = []
        for level in plan.levels:
            for window in level.windows:
                if window.overlap or not (window.between or window.ahead is not None):
                    continue
                through = self.through(plan, Point(level.index, 0), window.until)
                found.append(Gap(through, math.inf if window.ahead is None else window.ahead))
        return tuple(found)

    def through(self, plan: RegionPlan, start: Point, last: Point, first: bool = False) -> float:
        """Cycles from the entry of a token into the stage of ``start`` to its passing of ``last``; of the ``first``
        token of an invocation, or of any."""
        cycles = float(last.stage - start.stage + 1)
        for level in plan.levels[start.level : last.level]:
            waits = [row.push + 1 + self._response(plan, row.op, first) for row in level.row if row.joins]
            cycles += max([float(level.depth), *waits])
        return cycles

    def _response(self, plan: RegionPlan, op: Op, first: bool) -> float:
        if op in self.plan.loops:
            return self.of(op).expected
        if op.opcode == "meet":  # the first token waits for the rest of its group, the last one behind the others
            return float(self.counts.group - 1 + MEETING_LATENCY)
        return self.responses.cycles(op, plan, first)


def _end(plan: RegionPlan) -> Point:
    return Point(len(plan.levels) - 1, plan.levels[-1].depth - 1)


def _least(plan: RegionPlan, ideal: Ideal) -> int:
    """The II of the schedule of levels, without what crosses their boundaries; 0 where only the ideal resources kept it
    from less."""
    found = plan.bottleneck
    of_resources = found is None or found.kind == "resource"
    if Ideal.DEPENDENCES in ideal and plan.cause != "request":
        return found.ii or 1 if found and of_resources else 1
    if plan.cause in ("schedule", "request", "concurrency", "ahead"):
        ii = plan.ii
    else:
        ii = found.ii or 1 if found else 1
    return 0 if Ideal.RESOURCES in ideal and (ii == 1 or of_resources) else ii
