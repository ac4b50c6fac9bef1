"""Plans one region: its levels, a modulo schedule for each level, and the points of loop control."""

from dataclasses import dataclass, replace
from functools import cached_property

from ...diag import Code, CompileError
from ...ir import Attr, Op, Region, Value
from ...limits import MOST_AHEAD
from .groups import group_windows, ring_of
from .interleaving import on_way
from .invocation_order import invocation_windows
from .issue_points import again_point, ready_point, uniform_trips
from .levels import captures
from .limits import LoopLimits
from .plan import LevelPlan, Point, RegionPlan, Window
from .queues import (
    MOST_LOADING_SLOTS,
    MOST_SLOTS,
    MOST_WAITING_SLOTS,
    QueueSizes,
    balanced,
    entry_count,
    level_queues,
    may_take_turns,
    pace,
    slot_count,
)
from .region_schedule import Latencies, RegionScheduler, Schedule
from .timing import OperatorTiming

__all__ = ["RegionPlanner"]

#: no loop has more tokens in flight than this, so a larger window has no effect
MOST_IN_WINDOW = MOST_AHEAD


@dataclass(frozen=True)
class _Rate:
    """The components of the static II, in cycles, by cause (see :class:`~hls.planning.schedule.plan.RegionPlan`)."""

    causes: dict[str, int]
    latency: int

    @property
    def ii(self) -> int:
        return max(self.causes.values())

    @property
    def cause(self) -> str:
        return max(self.causes, key=self.causes.__getitem__)

    @property
    def windowed(self) -> int:
        """The II that values carried over several iterations need."""
        return self.causes.get("window", 0)


@dataclass(frozen=True)
class RegionPlanner:
    """What planning a region needs to know from outside the region.

    ``timing`` maps operations to latency and delays, ``children`` holds the plans of inner loops, ``memory_latency`` is
    a typical access in cycles. ``repeated`` says whether the region is entered more than once, ``entered`` how many of
    its invocations may be in flight together (0: not known), ``by_group`` whether the kernel's top sees a token for
    every group of a launch, ``loop_behind`` whether tokens that leave this loop enter another.
    """

    timing: OperatorTiming
    fixed: frozenset[Value]
    children: dict[Op, RegionPlan]
    memory_latency: int
    repeated: bool
    elastic_depth: int = 0
    group_items: int = 1
    by_group: bool = False
    loop_behind: bool = False
    entered: int = 0

    @cached_property
    def _latencies(self) -> Latencies:
        return Latencies(self.children, self.memory_latency)

    @property
    def _scheduler(self) -> RegionScheduler:
        return RegionScheduler(self.timing, self.fixed, self._latencies, self.repeated)

    def plan(self, region: Region, loop: Op | None, shortest: int = 1) -> RegionPlan:
        """The plan of a region; ``shortest`` is the least number of iterations of an invocation, as far as it is
        known."""
        if loop is not None and loop.attrs.get(Attr.RING):
            return self._plan_ring(region, loop)
        found, asked = self._scheduler.schedule(region, loop), LoopLimits.of(loop)
        rate = self._rate(found, loop, asked)
        again, delay = again_point(found.always, found.issue, found.ii, found.stages)
        again_overlap, overlap_delay = again_point(found.paced, found.issue, found.ii, found.stages)
        paced = pace(found.levels, self.children)
        busy = max(rate.ii, self._undecided(found))
        slots = self._slots(found, rate, busy, loop, asked, paced)
        uniform = uniform_trips(region, loop, self.fixed)
        sizes = QueueSizes(
            self.children,
            self.memory_latency,
            max(1, rate.ii // slots, paced),
            self.elastic_depth,
            loop is None and not self.by_group,
            self.group_items,
        )
        return RegionPlan(
            loop=loop,
            region=region,
            ii=rate.ii,
            slots=slots,
            entries=entry_count(slots, rate.latency, busy, self.repeated, uniform, shortest),
            levels=self._levels(found, asked, (again, again_overlap), sizes, slots, shortest),
            place=found.start,
            available=found.available,
            carried=found.carried,
            invariants=self._invariants(region, loop, found) if loop else (),
            decide=found.decide,
            again=again,
            again_overlap=again_overlap,
            again_delay=delay,
            again_overlap_delay=overlap_delay,
            latency=rate.latency,
            speculative=found.speculative,
            cause=rate.cause,
            bottleneck=found.bottleneck,
            shortest=shortest,
            once=loop is not None and not self.repeated,
            period=max(s.period for s in found.stages),
        )

    def _plan_ring(self, region: Region, loop: Op) -> RegionPlan:
        """The plan of a barrier loop: nothing returns to a slot, so only shared ports keep tokens apart."""
        found = self._scheduler.ring(region)
        latency, end = self._latencies.whole(found.levels, found.stages), found.end
        ring = ring_of(region, self.group_items, latency, uniform_trips(region, loop, self.fixed), self.loop_behind)
        sizes = QueueSizes(self.children, self.memory_latency, found.ii, self.elastic_depth, False, self.group_items)
        return RegionPlan(
            loop=loop,
            region=region,
            ii=found.ii,
            slots=1,
            entries=ring.groups * ring.items,
            levels=self._levels(found, LoopLimits(), (end, end), sizes),
            place=found.start,
            available=found.available,
            carried=(),
            invariants=captures(region, self.fixed),
            decide=end,
            again=end,
            again_overlap=end,
            again_delay=0,
            again_overlap_delay=0,
            latency=latency,
            ring=ring,
            bottleneck=found.bottleneck,
            period=self.timing.period,
        )

    def _invariants(self, region: Region, loop: Op, found: Schedule) -> tuple[Value, ...]:
        """What every token of an invocation brings: the values that the body uses, and what delay lines begin with, as
        the first tokens of the next invocation may be on their way while those of the last read that."""
        starts = [loop.operands[1 + c.index] for c in found.carried if c.root is not None and self.repeated]
        return tuple(dict.fromkeys([*captures(region, self.fixed), *(v for v in starts if v not in self.fixed)]))

    # --- how often tokens come ---

    def _rate(self, found: Schedule, loop: Op | None, asked: LoopLimits) -> _Rate:
        """The components of the static II. Raises CompileError where the source requests a smaller II than is
        possible."""
        latency = self._latencies.whole(found.levels, found.stages)
        if loop is None:
            return _Rate({"schedule": 1}, latency)
        causes = {"schedule": found.least, "crossing": self._crossing(found), "window": self._windowed(found)}
        if found.speculative and asked.ahead:
            causes["ahead"] = -(
                -self._latencies.distance(found.levels, found.stages, Point(0, 0), Point(found.decide.level, 0))
                // asked.ahead
            )
        if asked.tokens and not any(op.opcode == "loop" for op in found.levels.op):
            causes["concurrency"] = -(-latency // asked.tokens)
        needed, wish = _Rate(causes, latency), loop.attrs.get(Attr.II)
        if wish is None:
            return needed
        if needed.ii > wish:
            slower = _Rate(causes | {"schedule": found.least_slower}, latency)
            raise _missed(loop, wish, needed.ii, slower.ii, found)
        return _Rate(causes | {"request": wish}, latency)

    def _undecided(self, found: Schedule) -> int:
        """The cycles from the issue of a speculative loop's token until it is known whether another one follows, which
        an invocation keeps its slot at least; 0 for other loops."""
        if not found.speculative:
            return 0
        return self._latencies.distance(found.levels, found.stages, Point(0, 0), found.decide)

    def _slots(self, found: Schedule, rate: _Rate, busy: int, loop: Op | None, asked: LoopLimits, paced: int) -> int:
        """The number of slots, each of which an invocation of one token keeps for ``busy`` cycles. Where all slots
        share one window, more slots gain nothing, and a delay line holds the values of one slot only. Tokens that share
        a port keep their distance."""
        if loop is None or rate.windowed >= rate.ii or any(c.root is not None for c in found.carried):
            return 1
        most = MOST_SLOTS
        if max(rate.causes["crossing"], self._undecided(found)) > found.ii:
            answered_by_memory = any(op.opcode in ("load", "atomic") for op in found.levels.offering)
            most = MOST_LOADING_SLOTS if answered_by_memory else MOST_WAITING_SLOTS
        slots = slot_count(busy, loop, self.repeated, most, max(paced, found.spacing))
        if slots == found.ii == busy and not self.loop_behind and uniform_trips(found.region, loop, self.fixed):
            slots = balanced(slots, self.entered, most)  # a loop behind would get its first work later
        if may_take_turns(loop, self.repeated):
            slots = min(max(slots, self._turns_inside(found)), most)
        return min(slots, asked.slots or slots)

    def _turns_inside(self, found: Schedule) -> int:
        """Invocations to interleave for the sake of inner serial regions, which an iteration enters only when the one
        before has left: each invocation of this loop supplies iterations one at a time."""
        ways = [
            on_way(found.region, [c.arg], c.next)
            for c in found.always
            if c.write.level > c.read.level and not c.windowed
        ]
        return max((child.slots for op, child in self.children.items() if any(op in way for way in ways)), default=1)

    def _crossing(self, found: Schedule) -> int:
        """The longest recurrence that passes through a boundary, in cycles (0 if there is none): it is not scheduled
        but takes the latency of the operations on it."""
        spans = [*((c.read, c.write) for c in found.always if not c.windowed), (Point(0, 0), found.issue)]
        return max(
            (
                self._latencies.distance(found.levels, found.stages, first, last)
                for first, last in spans
                if last.level > first.level
            ),
            default=0,
        )

    def _windowed(self, found: Schedule) -> int:
        """The II that windows need: cycles between tokens where some must stay a number of iterations after others that
        pass boundaries."""
        return max(
            (
                -(-self._latencies.distance(found.levels, found.stages, c.read, c.write) // c.distance)
                for c in found.always
                if c.windowed
            ),
            default=0,
        )

    # --- levels ---

    def _levels(
        self, found: Schedule, asked: LoopLimits, agains, sizes: QueueSizes, slots: int = 1, shortest: int = 1
    ) -> tuple[LevelPlan, ...]:
        plans = tuple(self._level(k, found, agains, sizes, slots, shortest) for k in range(found.levels.count))
        for sharing in group_windows(found.levels):
            plans = tuple(sharing.added(plan, found.stages) for plan in plans)
        windows = plans[0].windows
        if asked.tokens:
            windows += (Window(found.end, asked.tokens, False),)
        if found.speculative and asked.ahead:
            most = min(asked.ahead * slots, MOST_IN_WINDOW)  # so many for each invocation, on average
            windows += (Window(Point(found.decide.level, 0), most, False, undecided=True),)
        return (replace(plans[0], windows=windows), *plans[1:])

    def _level(self, k: int, found: Schedule, agains, sizes: QueueSizes, slots: int, shortest: int) -> LevelPlan:
        stages, carried, decide = found.stages[k], found.paced, found.decide if found.speculative else None
        # an operation that reserves cycles of a port must use them: it cannot stall after its entry. Neither can one
        # that takes the answer of a pumped memory, which is valid for one cycle only.
        steady = any(
            Attr.BOOKED in op.attrs or self.timing.memory_plan.pumped(op)
            for op, level in found.levels.op.items()
            if level == k
        )
        held = any(self.timing.memory_plan.holds_pipeline(op) for op, level in found.levels.op.items() if level == k)
        if held and steady:
            raise AssertionError(f"level {k} of a loop must stand still for a load, and cannot for another access")
        elastic = held or 0 < stages.depth <= self.elastic_depth and not steady
        again, again_overlap = agains
        ready = ready_point(k, found.always, again, decide)
        ready_overlap = ready_point(k, carried, again_overlap, decide) or ready
        row, bypass = level_queues(sizes, found.levels, stages, k, elastic)
        whole = self._scheduler.whole(found.levels).get(k)
        if whole is not None:
            bypass += whole.items  # room as before for the groups inside
        windows = tuple(
            Window(c.write, min(c.distance, MOST_IN_WINDOW), c.overlap)
            for c in carried
            if c.windowed and c.read.level == k
        )
        # after a queue tokens may follow one another closer than the II, which delay lines do not allow
        paced = stages.spacing > 1 or any(c.root is not None and c.read.level == k for c in carried)
        windows += invocation_windows(k, found.carried, found.start, self.timing, shortest, stages.depth, decide)
        return LevelPlan(
            index=k,
            depth=stages.depth,
            elastic=elastic,
            row=row,
            bypass_depth=bypass,
            ready=ready,
            ready_overlap=ready_overlap,
            windows=windows,
            spacing=(stages.spacing if slots > 1 else stages.ii) if paced else 1,
            whole=whole,
        )


def _missed(loop: Op, wish: int, least: int, slower: int, found: Schedule) -> CompileError:
    """The error for an initiation interval that is smaller than the least possible one; ``slower`` is the least one at
    any slower clock."""
    region = loop.regions[0]
    bottleneck = next((s.bottleneck for s in found.stages if s.bottleneck and s.bottleneck.ii == least), None)
    slow = [key for key in bottleneck.shares() if isinstance(key, Op)] if bottleneck else []
    names = dict.fromkeys(v.name for op in slow for v in op.results if v.name)
    if not names:
        names = dict.fromkeys(c.arg.name for c in found.always if c.write.level > c.read.level and c.arg.name)
    why = (
        f", because {', '.join(names)} {'needs' if len(names) == 1 else 'need'} the result of the previous iteration"
        if names
        else ""
    )
    place = next((op.span for op in slow if op.span), None)
    at = f" (line {place.line})" if place else ""
    or_slower = f", or for {slower}, which lowers the clock" if slower < least else ""
    return CompileError.at(
        loop.span or region.terminator.span,
        f"#pragma ii {wish} cannot be met: the least is {least}{why}{at}",
        f"ask for {least}{or_slower}, or shorten what goes from one iteration to the next",
        code=Code.II_NOT_MET,
    )
