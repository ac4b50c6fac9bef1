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
from .extremes import LIKELY, Extreme, Unknown
from .ideal import Ideal
from .rows import time_of_rows
from .runs import RunCounts

__all__ = ["Fetched", "Gap", "LoopPace", "Responses", "SchedulePace"]

#: cycles from the request of a group's last work-item at a barrier until the first one's answer is seen
#: (rtl_lib/barrier.py)
MET = 1


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
    idle: float = 0.0  #: cycles between two invocations in which the header issues nothing
    order: Extreme = Extreme.LIKELY  #: in which invocations of several lengths come
    marks: bool = False  #: whether the header learns of an invocation's end later, and frees its slot at its next turn

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
        issue = self._issue(slots)
        apart = max((gap.cycles(trips, self.interval) for gap in self.apart), default=0.0)
        return max((trips * self.interval + self.idle) / slots, trips * issue + self.exposed + self.idle, apart)

    def _issue(self, slots: float) -> float:
        """Cycles of the header for a token of any invocation, of which so many are interleaved."""
        issue = max(self.shared, self.least, self.alone if slots == 1 else 0.0)
        return issue * self._turns if slots > 1 else issue

    @property
    def _turns(self) -> float:
        """Turns of the header for an iteration of one of several invocations: its token's, and its share of the turn at
        which an invocation that has ended frees its slot, which costs a cycle unless a first token issues in it. Those
        of equal lengths end together, so that each one's first token comes at the end of another one."""
        likely = self.order is Extreme.LIKELY
        if not self.marks or self.order is Extreme.LEAST or not self.trips or (likely and not self.spread):
            return 1.0
        turns = self.trips + 1
        return ((turns + math.sqrt(turns * turns - 4)) / 2 if likely else turns) / self.trips

    def _rows(self, count: float, slots: float) -> float:
        """Cycles of so many invocations in so many slots, where none follow: the last ones do not fill all slots. An
        invocation goes into the slot that is free first. Alike ones end in rows, each of which shares the header."""
        if not self.spread or slots == 1:
            full = math.floor(count / slots + 1e-9)
            rest = max(0.0, count - full * slots)
            each = [(full, slots), (1, rest)] if rest > 1e-9 else [(full, slots)]
            return sum(
                rows * (self.trips * max(self.interval, row * self._issue(slots)) + self.idle) for rows, row in each
            )
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
        more = max((self._behind(paces, k, groups, groups) for k in range(len(paces))), default=0.0)
        inside = self.through(top, Point(0, 0), _end(top), first=True) + max(more, groups - 1)
        return self.plan.static_depth + inside + 1 - self._hidden

    @property
    def _hidden(self) -> float:
        """Cycles of an innermost loop's drain that the loops around it do not wait for, in the best case."""
        if self.unknown.fill is not Extreme.LEAST:
            return 0.0
        inside = [op for plan in self.plan.loops.values() for op in self._inside(plan)]
        return max((self.of(op).latency for op in inside if not self._inside(self.plan.loops[op])), default=0.0)

    @cached_property
    def filled(self) -> float:
        """Cycles for which the busiest header is held if another invocation always follows: without fill and drain."""
        return max((self._held(op) for op in self.plan.loops), default=1.0)

    def _held(self, op: Op) -> float:
        pace = self.of(op)
        return pace.held(self.counts.loop(op).invocations, pace.slots, alone=False)

    def spacing(self, op: Op) -> float:
        """Cycles between two iterations of a loop, of any invocations."""
        return self._held(op) / max(1.0, self.counts.loop(op).iterations)

    def running(self, op: Op) -> float:
        """Cycles of the launch in which some invocation of a loop runs."""
        return min(self.cycles, self.counts.loop(op).entered * self.of(op).invocation)

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
        apart = self._apart(plan)
        if plan.loop_op.attrs.get(Attr.PARALLEL) or together > 1 and self._of_items and not (apart or plan.ring):
            # the next group's work-items follow without a gap, and so do the iterations of the next work-item
            together = max(together, count.iterations)
        paces = [self.of(child) for child in inside]
        shared = max((one.held(trips, together * slots, alone=False) for one in paces), default=0.0) / trips
        unhindered = max(alone, shared, self._least)
        shared = max(shared, self.responses.interval(plan, self.through), float(plan.ii) if plan.ring else 0.0)
        exposed, narrow = self._through_rows(plan, max(alone, shared, self._least))
        if exposed:  # a token waits for its conflicts at the same time
            exposed = max(0.0, exposed - trips * self.responses.conflicting(plan, self.through, unhindered))
        shared = max(shared, narrow)
        own = latency + self._issued(plan, trips, alone)
        extra = max((self._behind(paces, k, trips, together) for k in range(len(paces))), default=0.0)
        return LoopPace(
            trips=trips,
            taken=self._taken(plan.loop_op),
            alone=alone,
            cause=cause,
            latency=latency,
            shared=shared,
            apart=apart,
            slots=slots,
            invocation=max(own, latency + extra),
            least=self._least,
            exposed=exposed,
            spread=count.spread,
            idle=1.0 if self.unknown.fill is Extreme.MOST else 0.0,
            order=self.unknown.order,
            marks=plan.speculative and slots > 1,
        )

    def _issued(self, plan: RegionPlan, trips: float, alone: float) -> float:
        """Cycles from the first issue of an invocation to its last one, for its own sake. A window that admits groups
        keeps these apart, but not the work-items of the last one."""
        least = max(self.responses.interval(plan, self.through), self._least)
        grouped = any(window.group is not None for level in plan.levels for window in level.windows)
        apart = max(0.0, trips - self.counts.group) if grouped else trips - 1
        return apart * max(alone, least) + (trips - 1 - apart) * max(least, float(plan.ii))

    @cached_property
    def _of_items(self) -> bool:
        return any(op.attrs.get(Attr.PARALLEL) for op in self.plan.loops)

    def _taken(self, op: Op) -> float:
        """The share of the iterations around a loop that enter it: others do not reach it, as its condition does not
        hold, or find nothing to do."""
        around = self._around.get(op)
        if around and around.span == op.span:  # loops of one macro share a place, and so their counts
            return self.counts.loop(op).taken
        passed = self.counts.loop(around).iterations if around else self.counts.top_tokens
        return min(1.0, self.counts.loop(op).entered / passed) if passed else 0.0

    @cached_property
    def _around(self) -> dict[Op, Op]:
        """The loop around each loop that stands in one."""
        return {inner: op for op, plan in self.plan.loops.items() for inner in self._inside(plan)}

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

    def _behind(self, paces: list[LoopPace], number: int, trips: float, together: float) -> float:
        """Cycles by which an invocation of so many ``trips`` takes longer than one iteration since loop ``number`` of
        those inside is entered once for each. The interleaved invocations of its last row end together, so that those
        of the loops behind it come at the same time, and share these loops' slots."""
        pace = paces[number]
        slots = min(pace.slots, together)
        row = trips - (math.ceil(trips / slots - 1e-9) - 1) * slots
        row = max(row, 1.0)
        first, *behind = ((one, one.held(1.0, 1.0, alone=True)) for one in paces[number:])
        tail = max((one.held(row, row, alone=True) - single for one, single in behind), default=0.0)
        return pace.held(trips, together, alone=True) - first[1] + max(0.0, tail)

    def _slots(self, plan: RegionPlan) -> int:
        """Invocations that may be interleaved: without end where resources are ideal and they do not wait for each
        other, as for work-items, of which each may have a unit of its own."""
        slots = plan.ring.groups * min(self.counts.group, plan.ring.items) if plan.ring else plan.slots
        if Ideal.RESOURCES in self.ideal and (slots > 1 or self._of_items):
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
            return float(self.counts.group - 1 + MET)
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
