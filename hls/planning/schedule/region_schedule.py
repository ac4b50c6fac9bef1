"""When everything in a region executes: its levels, and the stages of each level for one common II."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType

from ...analysis.channels.endpoints import is_call
from ...ir import Attr, Op, Region, TokenType, Value
from .carried_delay_lines import histories
from .explain import Bottleneck
from .forwarded_values import forwarded_values, preset_values
from .groups import group_windows, whole_groups
from .levels import Levels, assign_levels, comes_from_afar, is_exceptional
from .limits import LoopLimits
from .modulo import Infeasible
from .plan import Carried, Point, RegionPlan, WholeGroups
from .queues import CALL_LATENCY, HAZARD_LATENCY, MEETING_LATENCY, may_take_turns
from .stages import LevelScheduler, LevelStages, Need, level_scheduler
from .timing import OperatorTiming

__all__ = ["Latencies", "RegionScheduler", "Schedule"]

#: limit of ``#pragma ii``: the clock is not slowed by more than this factor for the sake of an II
SLOWEST = 32
#: most carried values that are tried one by one, whether it suffices to read that one past its register
MOST_APART = 4


@dataclass(frozen=True)
class Latencies:
    """Cycles from one point of a region to another: ``children`` holds the plans of inner loops, ``memory`` is the
    latency of a typical access."""

    children: Mapping[Op, RegionPlan]
    memory: int

    def row(self, op: Op) -> int:
        """From an operation of variable latency to its response."""
        if is_exceptional(op):
            return 0
        if op.opcode == "hazard":
            return HAZARD_LATENCY
        if op.opcode == "meet":
            return MEETING_LATENCY
        if op.opcode == "rtl_wait":
            return int(op.attrs[Attr.RTL_LATENCY])
        if is_call(op):
            return CALL_LATENCY
        return self.children[op].latency if op.opcode == "loop" else self.memory

    def distance(self, levels: Levels, stages: list[LevelStages], first: Point, last: Point) -> int:
        """From the entry of a token into the stage of ``first`` to its passing of ``last``."""
        cycles = last.stage - first.stage + 1
        for k in range(first.level, last.level):
            row = [self.row(op) for op, at in levels.op.items() if at == k and op in levels.offering]
            cycles += stages[k].depth + max(row, default=0) + 2
        return cycles

    def whole(self, levels: Levels, stages: list[LevelStages]) -> int:
        """From the first stage to the last one."""
        return self.distance(levels, stages, Point(0, 0), Point(levels.count - 1, stages[-1].depth - 1))


@dataclass(frozen=True, eq=False)
class _Scheduled:
    """The schedulers of a region's levels, and the delay lines that they use
    (:func:`hls.planning.schedule.carried_delay_lines.histories`), or the operations whose results they forward
    (:mod:`hls.planning.schedule.forwarded_values`)."""

    levels: Levels
    schedulers: list[LevelScheduler]
    histories: dict[int, tuple[int, int]]
    speculative: bool
    forwarded: Mapping[int, Op] = field(default_factory=dict)

    @cached_property
    def least(self) -> int:
        """The least II of all levels together."""
        return max(s.least for s in self.schedulers)


@dataclass(frozen=True, eq=False, kw_only=True)
class Schedule:
    """Where and when everything in a region executes. ``least`` is the II that its levels need, ``ii`` that or what the
    source requests; ``least_slower`` is the least at any slower clock, where the request is missed, else ``least``."""

    region: Region
    levels: Levels
    stages: list[LevelStages]
    speculative: bool
    least: int
    least_slower: int
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
        return self._in_deciding_level(self.stages[self.levels.decide].done)

    @property
    def bottleneck(self) -> Bottleneck | None:
        """What forbids a smaller II."""
        return next((s.bottleneck for s in self.stages if s.bottleneck and s.bottleneck.ii == self.least), None)

    @property
    def issue(self) -> Point:
        """The point at which a token lets the next one be issued, as far as the continue condition matters."""
        if self.speculative:
            return Point(0, 0)
        if self.region.terminator.opcode != "yield":
            return self.decide
        return self._in_deciding_level(self.stages[self.levels.decide].again)

    def _in_deciding_level(self, stage: int | None) -> Point:
        """That stage of the deciding level; where the level has no such stage, the first with the continue
        condition."""
        if stage is not None:
            return Point(self.levels.decide, stage)
        return max(self.available.get(self.region.terminator.operands[0], Point(0, 0)), Point(self.levels.decide, 0))

    @property
    def end(self) -> Point:
        """The last stage of the last level."""
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
class RegionScheduler:
    """Finds the schedule of a region. ``timing`` maps operations to latency and delays, ``latencies`` has those of
    responses; ``repeated`` says whether the region is entered more than once."""

    timing: OperatorTiming
    fixed: frozenset[Value]
    latencies: Latencies
    repeated: bool

    def schedule(self, region: Region, loop: Op | None) -> Schedule:
        """The schedule of a loop's body, or of the kernel's top."""
        levels = assign_levels(region, self.fixed, self.timing.memory_plan)
        ahead = self._speculate(region, loop, levels)
        found = self._sooner(region, loop, self._shortest(region, loop, ahead or levels, bool(ahead)))
        found = self._apart(region, loop, found)
        levels, schedulers, known, speculative = found.levels, found.schedulers, found.histories, found.speculative
        preset = preset_values(loop, self.repeated, speculative)
        wish, slowest = loop.attrs.get(Attr.II, 1) if loop is not None else 1, 1
        if loop is not None and Attr.II in loop.attrs:
            schedule = partial(
                level_scheduler,
                self.timing,
                region,
                levels,
                self.fixed,
                speculative=speculative,
                histories=known,
                forwarded=found.forwarded,
                preset=preset,
            )
            hurried = [
                self._hurried(partial(schedule, k), s, wish) if s.least > wish else (s, 1)
                for k, s in enumerate(schedulers)
            ]
            schedulers, slowest = [s for s, _ in hurried], max(least for _, least in hurried)
        least = max(s.least for s in schedulers)
        ii = max(wish, least)
        usual = not known and not found.forwarded
        first = self._settled(region, loop, levels, schedulers[0], ii, speculative) if usual else None
        stages = _solved(schedulers[1:] if first else schedulers, ii)
        if first:
            stages = [first, *stages]
        start = {op: Point(k, s) for k, level in enumerate(stages) for op, s in level.start.items()}
        carried = _carried(region, levels, stages, known, found.forwarded, preset)
        return Schedule(
            region=region,
            levels=levels,
            stages=stages,
            speculative=speculative,
            least=least,
            least_slower=min(least, slowest) if least > wish else least,
            ii=ii,
            carried=carried,
            start=start,
            available=self._available(levels, start, carried),
        )

    def ring(self, region: Region) -> Schedule:
        """The schedule of a barrier loop's body: nothing returns to a slot, so only shared ports keep tokens apart."""
        levels = assign_levels(region, self.fixed, self.timing.memory_plan, ring=True)
        schedulers = self._schedulers(region, None, levels, False)
        ii = max(s.least for s in schedulers)
        stages = _solved(schedulers, ii)
        start = {op: Point(k, s) for k, level in enumerate(stages) for op, s in level.start.items()}
        return Schedule(
            region=region,
            levels=levels,
            stages=stages,
            speculative=False,
            least=ii,
            least_slower=ii,
            ii=ii,
            carried=(),
            start=start,
            available=self._available(levels, start, ()),
        )

    def _shortest(self, region: Region, loop: Op | None, levels: Levels, speculative: bool) -> _Scheduled:
        """The schedulers that give the least II, and the delay lines they need. Delay lines cost more than registers
        that move on, and allow only one of the invocations that could be interleaved."""
        usual = _Scheduled(levels, self._schedulers(region, loop, levels, speculative), {}, speculative)
        # an invocation of a speculative loop ends long after its last token was issued: others fill that time
        alone = not speculative or loop is None or not may_take_turns(loop, self.repeated)
        known = (
            histories(region, loop, levels, self.fixed, self.repeated)
            if loop is not None and usual.least > 1 and alone
            else {}
        )
        if known:
            closer = _Scheduled(levels, self._schedulers(region, loop, levels, speculative, known), known, speculative)
            if closer.least < usual.least and (closer.least == 1 or not self.repeated):
                return closer
        return self._forwarding(region, loop, usual)

    def _hurried(
        self, schedule: Callable[..., LevelScheduler], usual: LevelScheduler, wish: int
    ) -> tuple[LevelScheduler, int]:
        """A level with the II that the source requests at the cost of the clock: the clock period is stretched as far
        as its chains need, to within 2 %. The level stays as it was where something other than the length of chains
        forbids that II. Also returns the least II at the longest period."""
        short, long = usual.period, SLOWEST * usual.period
        found, least = usual, usual.least
        while long > 1.02 * short:
            period = long if found is usual else (short * long) ** 0.5
            closer = schedule(period=period)
            least = min(least, closer.least)
            if closer.least <= wish:
                long, found = period, closer
            elif found is usual:
                break
            else:
                short = period
        return found, least

    def _schedulers(
        self,
        region: Region,
        loop: Op | None,
        levels: Levels,
        speculative: bool,
        known: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        forwarded: Mapping[int, Op] = MappingProxyType({}),
    ) -> list[LevelScheduler]:
        sharing, preset = self._sharing(levels), preset_values(loop, self.repeated, speculative)
        return [
            level_scheduler(
                self.timing,
                region,
                levels,
                self.fixed,
                k,
                speculative,
                known,
                sharing,
                forwarded=forwarded,
                preset=preset,
            )
            for k in range(levels.count)
        ]

    def _settled(
        self, region: Region, loop: Op | None, levels: Levels, usual: LevelScheduler, ii: int, speculative: bool
    ) -> LevelStages | None:
        """The first level with nothing in its first stage, which is left to the header: choosing a slot there, from the
        queue of slots to the slots' state, takes a whole cycle. None where the header has no choice, or the II would
        grow."""
        if loop is None or (ii == 1 and not speculative) or not may_take_turns(loop, self.repeated):
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
        impossible."""
        return self._deciding_in(region, levels.decide) if levels.decide and self._may_issue_ahead(loop) else None

    def _sooner(self, region: Region, loop: Op | None, found: _Scheduled) -> _Scheduled:
        """Issues ahead of a decision that takes cycles of its level, for on-chip arrays or arithmetic: the decision
        gets a level of its own if that lowers the II, and at least halves it where the loop is entered more than
        once: an invocation then takes some cycles longer."""
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
        sooner = 2 * later.least <= usual if self.repeated else later.least < usual
        return later if sooner else found

    def _apart(self, region: Region, loop: Op | None, found: _Scheduled) -> _Scheduled:
        """Puts a serial section into levels of its own if an iteration then enters it sooner after the one before, so
        that loads and arithmetic which do not depend on it run ahead."""
        if loop is None or found.speculative or found.histories:
            return found
        levels = assign_levels(region, self.fixed, self.timing.memory_plan, apart=True)
        if levels.op == found.levels.op or levels.decide != found.levels.decide:
            return found
        usual = _Scheduled(levels, self._schedulers(region, loop, levels, False), {}, False)
        apart = self._forwarding(region, loop, usual)
        return (
            apart
            if apart.least <= found.least and self._entered(region, apart) < self._entered(region, found)
            else found
        )

    def _forwarding(self, region: Region, loop: Op | None, found: _Scheduled) -> _Scheduled:
        """Reads carried values past their registers if iterations then start earlier, and no invocations take turns
        meanwhile; of several such values as few as that takes."""
        if found.least == 1 or found.histories or loop is None or may_take_turns(loop, self.repeated):
            return found
        all_ = forwarded_values(region, found.levels, self.timing)
        attempts = [{c: op} for c, op in all_.items()] if len(all_) <= MOST_APART else []
        best = found
        for forwarded in (*attempts, *([all_] if len(all_) > 1 or not attempts and all_ else [])):
            schedulers = self._schedulers(region, loop, found.levels, found.speculative, forwarded=forwarded)
            closer = replace(found, schedulers=schedulers, forwarded=forwarded)
            best = closer if closer.least < best.least else best
        return best

    def _entered(self, region: Region, found: _Scheduled) -> int:
        """The most cycles from an iteration's entry into the level where it reads a value of the one before to the
        write of that value for the next: that one enters the level then."""
        stages, levels = _solved(found.schedulers, found.least), found.levels
        spans = [
            (Point(r, 0), Point(w, stages[w].write[k]))
            for k, (arg, r, w) in enumerate(zip(region.args, levels.read, levels.write, strict=True))
            if w > r and not isinstance(arg.type, TokenType)
        ]
        return max((self.latencies.distance(levels, stages, *span) for span in spans), default=0)

    def _may_issue_ahead(self, loop: Op | None) -> bool:
        return loop is not None and LoopLimits.of(loop).ahead != 0

    def _deciding_in(self, region: Region, level: int) -> Levels | None:
        """Levels in which the decision falls in ``level``. No earlier level may hold what cannot be undone, and no
        value may come back from a later one, except those that windows wait for."""
        ahead = assign_levels(region, self.fixed, self.timing.memory_plan, effects_from=level)
        returns = any(
            r < ahead.decide and w != r and not comes_from_afar(arg)
            for arg, r, w in zip(region.args, ahead.read, ahead.write, strict=True)
        )
        return None if returns or ahead.decide != level else ahead

    def _available(self, levels: Levels, start: Mapping[Op, Point], carried: Iterable[Carried]) -> dict[Value, Point]:
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

    def _sharing(self, levels: Levels) -> tuple[Need, ...]:
        """The values that the windows of groups need, and the levels that groups enter as a whole."""
        whole = (Need(level, groups.last, True) for level, groups in self.whole(levels).items())
        return (*(need for window in group_windows(levels) for need in window.needs), *whole)

    def whole(self, levels: Levels) -> dict[int, WholeGroups]:
        """The levels that groups enter as a whole."""
        return whole_groups(levels, {op: child.ring for op, child in self.latencies.children.items()}, self.fixed)


def _solved(schedulers: list[LevelScheduler], ii: int) -> list[LevelStages]:
    """The stages of all levels with one common II."""
    return [s.stages(None if s.least == ii else ii) for s in schedulers]


def _carried(
    region: Region,
    levels: Levels,
    stages: list[LevelStages],
    known: Mapping[int, tuple[int, int]],
    forwarded: Mapping[int, Op] = MappingProxyType({}),
    preset: Collection[int] = (),
) -> tuple[Carried, ...]:
    nexts = region.terminator.operands[1:]
    found = []
    for k, (arg, value) in enumerate(zip(region.args, nexts, strict=True)):
        root, steps = known.get(k, (None, 1))
        found.append(
            Carried(
                index=k,
                arg=arg,
                next=value,
                read=Point(levels.read[k], stages[levels.read[k]].read[k]),
                write=Point(levels.write[k], stages[levels.write[k]].write[k]),
                root=root,
                steps=steps,
                forwards=forwarded.get(k),
                preset=k in preset and root is None,
            )
        )
    return tuple(found)
