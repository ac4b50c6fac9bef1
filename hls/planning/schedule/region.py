"""Plans one region: its levels, a modulo schedule for each level, and the points of loop control."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType

from ...analysis.channels.endpoints import is_call
from ...diag import Code, CompileError
from ...ir import Attr, Op, Region, TokenType, Value
from ...limits import MOST_AHEAD
from .carried_delay_lines import histories
from .groups import group_windows, ring_of, whole_groups
from .interleaving import on_way
from .invocation_order import invocation_windows
from .issue_points import again_point, ready_point, uniform_trips
from .levels import Levels, assign_levels, captures, comes_from_afar, is_exceptional
from .limits import LoopLimits
from .modulo import Infeasible
from .plan import Carried, LevelPlan, Point, RegionPlan, WholeGroups, Window
from .queues import (
    CALL_LATENCY,
    HAZARD_LATENCY,
    MEETING_LATENCY,
    MOST_LOADING_SLOTS,
    MOST_SLOTS,
    MOST_WAITING_SLOTS,
    QueueSizes,
    entry_count,
    level_queues,
    may_take_turns,
    pace,
    slot_count,
)
from .stages import LevelScheduler, LevelStages, Need, level_scheduler
from .timing import OperatorTiming

__all__ = ["RegionPlanner"]

#: no loop has more tokens in flight than this, so a larger window has no effect
MOST_IN_WINDOW = MOST_AHEAD


#: limit of ``#pragma ii``: the clock is not slowed by more than this factor for the sake of an II
SLOWEST = 32


@dataclass(frozen=True, eq=False)
class _Scheduled:
    """The schedulers of a region's levels, and the delay lines that they use
    (:func:`hls.planning.schedule.carried_delay_lines.histories`)."""

    levels: Levels
    schedulers: list[LevelScheduler]
    histories: dict[int, tuple[int, int]]
    speculative: bool

    @cached_property
    def least(self) -> int:
        """The least II of all levels together."""
        return max(s.least for s in self.schedulers)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Schedule:
    """Where and when everything in a region executes. ``least`` is the II that its levels need, ``ii`` that or what the
    source requests."""

    region: Region
    levels: Levels
    stages: list[LevelStages]
    speculative: bool
    least: int
    ii: int
    carried: tuple[Carried, ...]
    start: dict[Op, Point]
    available: dict[Value, Point]

    @property
    def spacing(self) -> int:
        """The multiple of cycles by which tokens of different slots are apart, for ports that each uses several
        times."""
        return max(s.spacing for s in self.stages)

    @cached_property
    def decide(self) -> Point:
        """The point at which it is known whether another token follows."""
        if self.region.terminator.opcode != "yield":
            return self.end
        return max(self.available.get(self.region.terminator.operands[0], Point(0, 0)), Point(self.levels.decide, 0))

    @property
    def issue(self) -> Point:
        """The point at which a token lets the next one be issued, as far as the continue condition matters."""
        return Point(0, 0) if self.speculative else self.decide

    @property
    def end(self) -> Point:
        return Point(self.levels.count - 1, self.stages[-1].depth - 1)

    @property
    def always(self) -> tuple[Carried, ...]:
        """Carried values that matter in every run."""
        return tuple(c for c in self.paced if not c.overlap)

    @property
    def paced(self) -> tuple[Carried, ...]:
        """Carried values that keep tokens of one invocation apart."""
        return tuple(c for c in self.carried if not c.between)


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
        return max(self.causes.get("window", 0), self.causes.get("ahead", 0))


@dataclass(frozen=True)
class RegionPlanner:
    """What planning a region needs to know from outside the region.

    ``timing`` maps operations to latency and delays, ``children`` holds the plans of inner loops, ``memory_latency`` is
    a typical access in cycles. ``repeated`` says whether the region is entered more than once, ``by_group`` whether the
    kernel's top sees a token for every group of a launch, ``loop_behind`` whether tokens that leave this loop enter
    another.
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

    def plan(self, region: Region, loop: Op | None, shortest: int = 1) -> RegionPlan:
        """The plan of a region; ``shortest`` is the least number of iterations of an invocation, as far as it is
        known."""
        if loop is not None and loop.attrs.get(Attr.RING):
            return self._plan_ring(region, loop)
        found, asked = self._schedule(region, loop), LoopLimits.of(loop)
        rate = self._rate(found, loop, asked)
        again, delay = again_point(found.always, found.issue, found.ii, found.stages)
        again_overlap, overlap_delay = again_point(found.paced, found.issue, found.ii, found.stages)
        paced = pace(found.levels, self.children)
        slots = self._slots(found, rate, loop, asked, paced)
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
            entries=entry_count(slots, rate.latency, rate.ii, self.repeated, uniform, shortest),
            levels=self._levels(found, asked, (again, again_overlap), sizes, slots, shortest),
            place=found.start,
            available=found.available,
            carried=found.carried,
            invariants=captures(region, self.fixed) if loop else (),
            decide=found.decide,
            again=again,
            again_overlap=again_overlap,
            again_delay=delay,
            again_overlap_delay=overlap_delay,
            latency=rate.latency,
            speculative=found.speculative,
            cause=rate.cause,
            bottleneck=next(
                (s.bottleneck for s in found.stages if s.bottleneck and s.bottleneck.ii == found.least), None
            ),
            shortest=shortest,
            once=loop is not None and not self.repeated,
            period=max(s.period for s in found.stages),
        )

    def _plan_ring(self, region: Region, loop: Op) -> RegionPlan:
        """The plan of a barrier loop: nothing returns to a slot, so only shared ports keep tokens apart."""
        levels = assign_levels(region, self.fixed, self.timing.memory_plan, ring=True)
        schedulers = self._schedulers(region, levels, False)
        ii = max(s.least for s in schedulers)
        stages = _solved(schedulers, ii)
        start = {op: Point(k, s) for k, level in enumerate(stages) for op, s in level.start.items()}
        found = _Schedule(
            region=region,
            levels=levels,
            stages=stages,
            speculative=False,
            least=ii,
            ii=ii,
            carried=(),
            start=start,
            available=self._available(levels, start, ()),
        )
        latency, end = self._latency(found), found.end
        ring = ring_of(region, self.group_items, latency, uniform_trips(region, loop, self.fixed), self.loop_behind)
        sizes = QueueSizes(self.children, self.memory_latency, ii, self.elastic_depth, False, self.group_items)
        return RegionPlan(
            loop=loop,
            region=region,
            ii=ii,
            slots=1,
            entries=ring.groups * ring.items,
            levels=self._levels(found, LoopLimits(), (end, end), sizes),
            place=start,
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
            bottleneck=next((s.bottleneck for s in stages if s.bottleneck and s.bottleneck.ii == ii), None),
            period=self.timing.period,
        )

    def _sharing(self, levels: Levels) -> tuple[Need, ...]:
        """The values that the windows of groups need, and the levels that groups enter as a whole."""
        whole = (Need(level, groups.last, True) for level, groups in self._whole(levels).items())
        return (*(need for window in group_windows(levels) for need in window.needs), *whole)

    def _whole(self, levels: Levels) -> dict[int, WholeGroups]:
        return whole_groups(levels, {op: child.ring for op, child in self.children.items()}, self.fixed)

    # --- when everything happens ---

    def _schedule(self, region: Region, loop: Op | None) -> _Schedule:
        levels = assign_levels(region, self.fixed, self.timing.memory_plan)
        ahead = self._speculate(region, loop, levels)
        found = self._sooner(region, loop, self._shortest(region, loop, ahead or levels, bool(ahead)))
        found = self._apart(region, loop, found)
        levels, schedulers, known, speculative = found.levels, found.schedulers, found.histories, found.speculative
        wish = loop.attrs.get(Attr.II, 1) if loop is not None else 1
        if loop is not None and Attr.II in loop.attrs:
            schedule = partial(
                level_scheduler, self.timing, region, levels, self.fixed, speculative=speculative, histories=known
            )
            schedulers = [
                self._hurried(partial(schedule, k), s, wish) if s.least > wish else s for k, s in enumerate(schedulers)
            ]
        least = max(s.least for s in schedulers)
        ii = max(wish, least)
        first = self._settled(region, loop, levels, schedulers[0], ii, speculative) if not known else None
        stages = _solved(schedulers[1:] if first else schedulers, ii)
        if first:
            stages = [first, *stages]
        start = {op: Point(k, s) for k, level in enumerate(stages) for op, s in level.start.items()}
        carried = _carried(region, levels, stages, known)
        return _Schedule(
            region=region,
            levels=levels,
            stages=stages,
            speculative=speculative,
            least=least,
            ii=ii,
            carried=carried,
            start=start,
            available=self._available(levels, start, carried),
        )

    def _shortest(self, region, loop, levels: Levels, speculative: bool) -> _Scheduled:
        """The schedulers that give the least II, and the delay lines they need. Delay lines cost more than registers
        that move on, and allow only one of the invocations that could be interleaved."""
        usual = _Scheduled(levels, self._schedulers(region, levels, speculative), {}, speculative)
        known = (
            histories(region, loop, levels, self.fixed, self.repeated) if loop is not None and usual.least > 1 else {}
        )
        if known:
            closer = _Scheduled(levels, self._schedulers(region, levels, speculative, known), known, speculative)
            if closer.least < usual.least and (closer.least == 1 or not self.repeated):
                return closer
        return usual

    def _hurried(self, schedule, usual: LevelScheduler, wish: int) -> LevelScheduler:
        """A level with the II that the source requests at the cost of the clock: the clock period is stretched as far
        as its chains need, to within 2 %. The level stays as it was where something other than the length of chains
        forbids that II."""
        short, long = usual.period, SLOWEST * usual.period
        found = usual
        while long > 1.02 * short:
            period = long if found is usual else (short * long) ** 0.5
            closer = schedule(period=period)
            if closer.least <= wish:
                long, found = period, closer
            elif found is usual:
                break
            else:
                short = period
        return found

    def _schedulers(self, region, levels: Levels, speculative, known=MappingProxyType({})) -> list[LevelScheduler]:
        return [
            level_scheduler(self.timing, region, levels, self.fixed, k, speculative, known, self._sharing(levels))
            for k in range(levels.count)
        ]

    def _settled(
        self, region, loop, levels: Levels, usual: LevelScheduler, ii: int, speculative: bool
    ) -> LevelStages | None:
        """The first level with nothing in its first stage, which is left to the header: choosing a slot there, from the
        queue of slots to the slots' state, takes a whole cycle. None where the header has no choice, or the II would
        grow."""
        if loop is None or ii == 1 or not may_take_turns(loop, self.repeated):
            return None
        first = level_scheduler(
            self.timing, region, levels, self.fixed, 0, speculative, {}, self._sharing(levels), True, usual.period
        )
        try:
            found = first.stages(ii)
        except Infeasible:  # the recurrence goes through the decision to issue, and has no cycle to spare
            return None
        return replace(found, bottleneck=usual.bottleneck)

    def _speculate(self, region: Region, loop: Op | None, levels: Levels) -> Levels | None:
        """Levels for issuing ahead of a decision that depends on responses of an earlier level. None where that is
        impossible or other invocations fill the time."""
        return self._deciding_in(region, levels.decide) if levels.decide and self._may_issue_ahead(loop) else None

    def _sooner(self, region: Region, loop: Op | None, found: _Scheduled) -> _Scheduled:
        """Issues ahead of a decision that takes cycles of its level, for on-chip arrays or arithmetic: the decision
        gets a level of its own if that at least halves the II. An invocation then takes some cycles longer."""
        usual = found.least
        if usual == 1 or not self._may_issue_ahead(loop):
            return found
        # loads that must stay in one level share ports as the program requires, also with accesses after the loop
        if any(op.opcode == "load" and self.timing.memory_plan.crowd(op) is not None for op in found.levels.op):
            return found
        levels = self._deciding_in(region, found.levels.decide + 1)
        if levels is None:
            return found
        later = self._shortest(region, loop, levels, True)
        return later if 2 * later.least <= usual else found

    def _apart(self, region: Region, loop: Op | None, found: _Scheduled) -> _Scheduled:
        """Puts a serial section into levels of its own if an iteration then enters it sooner after the one before, so
        that loads and arithmetic which do not depend on it run ahead."""
        if loop is None or found.speculative or found.histories:
            return found
        levels = assign_levels(region, self.fixed, self.timing.memory_plan, apart=True)
        if levels.op == found.levels.op or levels.decide != found.levels.decide:
            return found
        apart = _Scheduled(levels, self._schedulers(region, levels, False), {}, False)
        return (
            apart
            if apart.least <= found.least and self._entered(region, apart) < self._entered(region, found)
            else found
        )

    def _entered(self, region: Region, found: _Scheduled) -> int:
        """The most cycles from an iteration's entry into the level where it reads a value of the one before to the
        write of that value for the next: that one enters the level then."""
        stages, levels = _solved(found.schedulers, found.least), found.levels
        spans = [
            (Point(r, 0), Point(w, stages[w].write[k]))
            for k, (arg, r, w) in enumerate(zip(region.args, levels.read, levels.write, strict=True))
            if w > r and not isinstance(arg.type, TokenType)
        ]
        return max((self._distance(levels, stages, *span) for span in spans), default=0)

    def _may_issue_ahead(self, loop: Op | None) -> bool:
        return loop is not None and LoopLimits.of(loop).ahead != 0 and not may_take_turns(loop, self.repeated)

    def _deciding_in(self, region: Region, level: int) -> Levels | None:
        """Levels in which the decision falls in ``level``. No earlier level may hold what cannot be undone, and no
        value may come back from a later one, except those that windows wait for."""
        ahead = assign_levels(region, self.fixed, self.timing.memory_plan, effects_from=level)
        returns = any(
            r < ahead.decide and w != r and not comes_from_afar(arg)
            for arg, r, w in zip(region.args, ahead.read, ahead.write, strict=True)
        )
        return None if returns or ahead.decide != level else ahead

    def _available(self, levels, start, carried) -> dict[Value, Point]:
        """The first point at which each value of the region is available. Responses are available at the entry of the
        next level."""
        table = {c.arg: c.read for c in carried}
        for op, point in start.items():
            if op in levels.offering:
                place = Point(point.level + 1, 0)
            else:
                place = Point(point.level, point.stage + self.timing.latency(op))
            table.update(dict.fromkeys(op.results, place))
        return table

    # --- how often tokens come ---

    def _rate(self, found: _Schedule, loop: Op | None, asked: LoopLimits) -> _Rate:
        """The components of the static II. Raises CompileError where the source requests a smaller II than is
        possible."""
        latency = self._latency(found)
        if loop is None:
            return _Rate({"schedule": 1}, latency)
        causes = {"schedule": found.least, "crossing": self._crossing(found), "window": self._windowed(found)}
        if found.speculative and asked.ahead:
            causes["ahead"] = -(
                -self._distance(found.levels, found.stages, Point(0, 0), Point(found.decide.level, 0)) // asked.ahead
            )
        if asked.tokens and not any(op.opcode == "loop" for op in found.levels.op):
            causes["concurrency"] = -(-latency // asked.tokens)
        needed, wish = _Rate(causes, latency), loop.attrs.get(Attr.II)
        if wish is None:
            return needed
        if needed.ii > wish:
            raise _missed(loop, wish, needed.ii, found.always, found.stages)
        return _Rate(causes | {"request": wish}, latency)

    def _slots(self, found: _Schedule, rate: _Rate, loop: Op | None, asked: LoopLimits, paced: int) -> int:
        """The number of slots. Where all slots share one window, more slots gain nothing, and a delay line holds the
        values of one slot only. Tokens that share a port keep their distance."""
        if loop is None or rate.windowed >= rate.ii or any(c.root is not None for c in found.carried):
            return 1
        most = MOST_SLOTS
        if rate.causes["crossing"] > found.ii:
            answered_by_memory = any(op.opcode in ("load", "atomic") for op in found.levels.offering)
            most = MOST_LOADING_SLOTS if answered_by_memory else MOST_WAITING_SLOTS
        slots = slot_count(rate.ii, loop, self.repeated, most, max(paced, found.spacing))
        if may_take_turns(loop, self.repeated):
            slots = min(max(slots, self._turns_inside(found)), most)
        return min(slots, asked.slots or slots)

    def _turns_inside(self, found: _Schedule) -> int:
        """Invocations to interleave for the sake of inner serial regions, which an iteration enters only when the one
        before has left: each invocation of this loop supplies iterations one at a time."""
        ways = [
            on_way(found.region, [c.arg], c.next)
            for c in found.always
            if c.write.level > c.read.level and not c.windowed
        ]
        return max((child.slots for op, child in self.children.items() if any(op in way for way in ways)), default=1)

    def _latency(self, found: _Schedule) -> int:
        rows = [0] * found.levels.count
        for op, k in found.levels.op.items():
            if op in found.levels.offering:
                rows[k] = max(rows[k], self._row_latency(op))
        return sum(s.depth for s in found.stages) + sum(rows) + 2 * (found.levels.count - 1)

    def _row_latency(self, op: Op) -> int:
        if is_exceptional(op):
            return 0
        if op.opcode == "hazard":
            return HAZARD_LATENCY
        if op.opcode == "meet":
            return MEETING_LATENCY
        if is_call(op):
            return CALL_LATENCY
        return self.children[op].latency if op.opcode == "loop" else self.memory_latency

    def _crossing(self, found: _Schedule) -> int:
        """The longest recurrence that passes through a boundary, in cycles (0 if there is none): it is not scheduled
        but takes the latency of the operations on it."""
        spans = [*((c.read, c.write) for c in found.always if not c.windowed), (Point(0, 0), found.issue)]
        return max(
            (
                self._distance(found.levels, found.stages, first, last)
                for first, last in spans
                if last.level > first.level
            ),
            default=0,
        )

    def _windowed(self, found: _Schedule) -> int:
        """The II that windows need: cycles between tokens where some must stay a number of iterations after others that
        pass boundaries."""
        return max(
            (
                -(-self._distance(found.levels, found.stages, c.read, c.write) // c.distance)
                for c in found.always
                if c.windowed
            ),
            default=0,
        )

    def _distance(self, levels: Levels, stages: list[LevelStages], first: Point, last: Point) -> int:
        cycles = last.stage - first.stage + 1
        for k in range(first.level, last.level):
            row = [self._row_latency(op) for op, at in levels.op.items() if at == k and op in levels.offering]
            cycles += stages[k].depth + max(row, default=0) + 2
        return cycles

    # --- levels ---

    def _levels(
        self, found: _Schedule, asked: LoopLimits, agains, sizes: QueueSizes, slots: int = 1, shortest: int = 1
    ) -> tuple[LevelPlan, ...]:
        plans = tuple(self._level(k, found, agains, sizes, slots, shortest) for k in range(found.levels.count))
        for sharing in group_windows(found.levels):
            plans = tuple(sharing.added(plan, found.stages) for plan in plans)
        windows = plans[0].windows
        if asked.tokens:
            windows += (Window(found.end, asked.tokens, False),)
        if found.speculative and asked.ahead:
            windows += (Window(Point(found.decide.level, 0), min(asked.ahead, MOST_IN_WINDOW), False, undecided=True),)
        return (replace(plans[0], windows=windows), *plans[1:])

    def _level(self, k: int, found: _Schedule, agains, sizes: QueueSizes, slots: int, shortest: int) -> LevelPlan:
        stages, carried, decide = found.stages[k], found.paced, found.decide if found.speculative else None
        # an operation that reserves cycles of a port must use them: it cannot stall after its entry. Neither can one
        # that takes the answer of a pumped memory, which is valid for one cycle only.
        steady = any(
            Attr.BOOKED in op.attrs or self.timing.memory_plan.pumped(op)
            for op, level in found.levels.op.items()
            if level == k
        )
        elastic = 0 < stages.depth <= self.elastic_depth and not steady
        again, again_overlap = agains
        ready = ready_point(k, found.always, again, decide)
        ready_overlap = ready_point(k, carried, again_overlap, decide) or ready
        row, bypass = level_queues(sizes, found.levels, stages, k, elastic)
        whole = self._whole(found.levels).get(k)
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


def _solved(schedulers: list[LevelScheduler], ii: int) -> list[LevelStages]:
    """The stages of all levels with one common II."""
    return [s.stages(None if s.least == ii else ii) for s in schedulers]


def _missed(loop: Op, wish: int, least: int, carried, stages) -> CompileError:
    """The error for an initiation interval that is smaller than the least possible one."""
    region = loop.regions[0]
    bottleneck = next((s.bottleneck for s in stages if s.bottleneck and s.bottleneck.ii == least), None)
    slow = [key for key in bottleneck.shares() if isinstance(key, Op)] if bottleneck else []
    names = dict.fromkeys(v.name for op in slow for v in op.results if v.name)
    if not names:
        names = dict.fromkeys(c.arg.name for c in carried if c.write.level > c.read.level and c.arg.name)
    why = (
        f", because {', '.join(names)} {'needs' if len(names) == 1 else 'need'} the result of the previous iteration"
        if names
        else ""
    )
    place = next((op.span for op in slow if op.span), None)
    at = f" (line {place.line})" if place else ""
    return CompileError.at(
        loop.span or region.terminator.span,
        f"#pragma ii {wish} cannot be met: the least is {least}{why}{at}",
        f"ask for {least}, or shorten what goes from one iteration to the next",
        code=Code.II_NOT_MET,
    )


def _carried(region, levels, stages, known) -> tuple[Carried, ...]:
    nexts = region.terminator.operands[1:]
    return tuple(
        Carried(
            k,
            arg,
            value,
            Point(levels.read[k], stages[levels.read[k]].read[k]),
            Point(levels.write[k], stages[levels.write[k]].write[k]),
            *known.get(k, ()),
        )
        for k, (arg, value) in enumerate(zip(region.args, nexts, strict=True))
    )
