"""Plans one region: levels, a modulo schedule for each level, and the points where loop control happens."""

from dataclasses import dataclass, replace

from ..diag import CompileError
from ..ir import Op, Region, TokenType, Value, has
from .levels import Levels, assign_levels, captures, is_exceptional
from .plan import Carried, LevelPlan, Point, RegionPlan, Window
from .groups import group_window, ring_of
from .queues import HAZARD_LATENCY, MEETING_LATENCY, QueueSizes, entry_count, level_queues, pace, slot_count
from .stages import LevelStages, level_stages

__all__ = ["RegionPlanner"]

#: no loop has more tokens on their way than this, so a wider window means nothing
MOST_IN_WINDOW = 4096


@dataclass(frozen=True)
class Limits:
    """What the source wants of a loop at most: running invocations (``slots``), iterations on their way (``tokens``); None
    where it says nothing. ``speculates``: iterations may be issued before it is known whether there are any."""

    slots: int | None = None
    tokens: int | None = None
    speculates: bool = True

    @classmethod
    def of(cls, loop: Op | None) -> "Limits":
        attrs = loop.attrs if loop is not None else {}
        if attrs.get("disable_loop_pipelining"):
            return cls(1, 1, False)
        tokens = attrs.get("max_concurrency") or None  # 0: as many as there is room for
        interleaving = attrs.get("max_interleaving") or None
        return cls(interleaving, tokens, tokens is None and attrs.get("speculated_iterations") != 0)


@dataclass(frozen=True)
class RegionPlanner:
    """What planning a region needs to know from outside.

    ``timing`` maps operations to latency and delays, ``children`` holds the plans of the loops inside,
    ``memory_latency`` is a typical access in cycles, ``repeated`` says whether the region is entered more than once.
    """

    timing: "object"
    fixed: frozenset[Value]
    children: dict[Op, RegionPlan]
    memory_latency: int
    repeated: bool
    elastic_depth: int = 0
    group_items: int = 1

    def plan(self, region: Region, loop: Op | None, shortest: int = 1) -> RegionPlan:
        """``shortest`` is the least number of iterations of an invocation, as far as it is known."""
        if loop is not None and loop.attrs.get("ring"):
            return self._plan_ring(region, loop)
        levels = assign_levels(region, self.fixed, self.timing.memory)
        speculative = self._speculate(region, loop, levels)
        levels = speculative or levels
        sharing = group_window(levels)
        stages = self._stages(region, levels, None, bool(speculative), sharing)
        wish = loop.attrs.get("ii") if loop is not None else None
        ii = max([wish or 1, *(s.ii for s in stages)])
        if ii > min(s.ii for s in stages):
            stages = self._stages(region, levels, ii, bool(speculative), sharing)
        start = {op: Point(k, s) for k, level in enumerate(stages) for op, s in level.start.items()}
        carried = _carried(region, levels, stages)
        available = self._available(levels, start, carried)
        decide = self._decide(region, levels, stages, available)
        always = tuple(c for c in carried if not c.overlap)  # what matters in every run
        first_decide = Point(0, 0) if speculative else decide
        crossing = self._crossing(always, first_decide, stages, levels)
        windowed = self._windowed(always, stages, levels)
        asked, latency = Limits.of(loop), self._latency(levels, stages)
        whole = -(-latency // asked.tokens) if asked.tokens and not any(op.opcode == "loop" for op in levels.op) else 1
        static_ii = max(ii, crossing, windowed, whole) if loop else 1
        if wish is not None and static_ii > wish:
            raise _missed(loop, wish, static_ii, always, stages)
        again, delay = _again(always, first_decide, ii, stages)
        again_overlap, overlap_delay = _again(carried, first_decide, ii, stages)
        paced = pace(levels, self.children)
        # what keeps tokens of all slots in one window gains nothing from more slots
        gains = windowed < static_ii and not any(s.shares for s in stages)  # nor what shares a port
        slots = slot_count(static_ii, loop, self.repeated, crossing > ii, paced) if gains else 1
        slots = min(slots, asked.slots or slots)
        uniform = _uniform_trips(region, loop, self.fixed)
        entries = entry_count(slots, latency, static_ii, self.repeated, uniform, shortest)
        interval = max(1, static_ii // slots, paced)
        sizes = QueueSizes(self.children, self.memory_latency, interval, self.elastic_depth, loop is None, self.group_items)
        plans = tuple(
            self._level(k, levels, stages[k], carried, decide if speculative else None, (again, again_overlap), sizes)
            for k in range(levels.count)
        )
        if sharing is not None:
            plans = tuple(sharing.added(p, stages) for p in plans)
        if asked.tokens:
            all_levels = Window(Point(levels.count - 1, stages[-1].depth - 1), asked.tokens, False)
            plans = (replace(plans[0], windows=(*plans[0].windows, all_levels)), *plans[1:])
        return RegionPlan(
            loop, region, static_ii, slots, entries, plans, start, available, carried, captures(region, self.fixed) if loop else (),
            decide, again, again_overlap, delay, overlap_delay, latency, bool(speculative),
            next((s.bottleneck for s in stages if s.bottleneck and s.bottleneck.ii == ii), None),
            shortest,
        )

    def _plan_ring(self, region: Region, loop: Op) -> RegionPlan:
        """A loop in which work-items meet: nothing comes back to a slot, so only shared ports keep tokens apart."""
        levels = assign_levels(region, self.fixed, self.timing.memory, ring=True)
        stages = self._stages(region, levels, None, False)
        ii = max(s.ii for s in stages)
        if ii > min(s.ii for s in stages):
            stages = self._stages(region, levels, ii, False)
        start = {op: Point(k, s) for k, level in enumerate(stages) for op, s in level.start.items()}
        latency = self._latency(levels, stages)
        ring = ring_of(region, self.group_items, latency, _uniform_trips(region, loop, self.fixed))
        sizes = QueueSizes(self.children, self.memory_latency, ii, self.elastic_depth, False, self.group_items)
        end = Point(levels.count - 1, stages[-1].depth - 1)
        plans = tuple(self._level(k, levels, stages[k], (), None, (end, end), sizes) for k in range(levels.count))
        return RegionPlan(loop, region, ii, 1, ring.groups * ring.items, plans, start, self._available(levels, start, ()), (),
                          captures(region, self.fixed), end, end, end, 0, 0, latency, ring=ring)

    def _stages(self, region, levels: Levels, ii, speculative, sharing=None) -> list[LevelStages]:
        needs = sharing.needs if sharing else ()
        return [level_stages(self.timing, region, levels, self.fixed, k, ii, speculative, needs) for k in range(levels.count)]

    def _speculate(self, region: Region, loop: Op | None, levels: Levels) -> Levels | None:
        """Levels for issuing ahead of a late decision, or None where that is not possible or other invocations fill the time.

        Before the deciding level there may be nothing that cannot be taken back, and no value may come back from behind it.
        """
        if loop is None or levels.decide == 0 or not Limits.of(loop).speculates or (self.repeated and loop.attrs.get("interleave", True)):
            return None
        ahead = assign_levels(region, self.fixed, self.timing.memory, effects_from=levels.decide)
        returns = any(r < ahead.decide and w != r for r, w in zip(ahead.read, ahead.write, strict=True))
        return None if returns or ahead.decide != levels.decide else ahead

    def _available(self, levels, start, carried) -> dict[Value, Point]:
        """Where each value of the region is first there. Responses are there at the entry of the next level."""
        table = {c.arg: c.read for c in carried}
        for op, point in start.items():
            if op in levels.offering:
                place = Point(point.level + 1, 0)
            else:
                place = Point(point.level, point.stage + self.timing.latency(op))
            table.update(dict.fromkeys(op.results, place))
        return table

    def _decide(self, region, levels, stages, available) -> Point:
        if region.terminator.opcode != "yield":
            return Point(levels.count - 1, stages[-1].depth - 1)
        return available.get(region.terminator.operands[0], Point(0, 0))

    def _latency(self, levels, stages) -> int:
        rows = [0] * levels.count
        for op, k in levels.op.items():
            if op in levels.offering:
                rows[k] = max(rows[k], self._row_latency(op))
        return sum(s.depth for s in stages) + sum(rows) + 2 * (levels.count - 1)

    def _row_latency(self, op: Op) -> int:
        if is_exceptional(op):
            return 0
        if op.opcode == "hazard":
            return HAZARD_LATENCY
        if op.opcode == "meet":
            return MEETING_LATENCY
        return self.children[op].latency if op.opcode == "loop" else self.memory_latency

    def _crossing(self, carried, decide, stages, levels) -> int:
        """The longest recurrence that passes through a row, in cycles (0 if there is none): nobody schedules it, it just
        takes the latency of what lies between."""
        longest = 0
        spans = [*((c.read, c.write) for c in carried if not c.windowed), (Point(0, 0), decide)]
        for first, last in spans:
            if last.level > first.level:
                longest = max(longest, self._distance(first, last, stages, levels))
        return longest

    def _windowed(self, carried, stages, levels) -> int:
        """Cycles between tokens where some must be a number of iterations behind others that pass rows."""
        return max((-(-self._distance(c.read, c.write, stages, levels) // c.distance) for c in carried if c.windowed),
                   default=0)

    def _distance(self, first, last, stages, levels) -> int:
        cycles = last.stage - first.stage + 1
        for k in range(first.level, last.level):
            row = [self._row_latency(op) for op, at in levels.op.items() if at == k and op in levels.offering]
            cycles += stages[k].depth + max(row, default=0) + 2
        return cycles

    def _level(self, k, levels, stages, carried, decide, agains, sizes) -> LevelPlan:
        elastic = 0 < stages.depth <= self.elastic_depth
        again, again_overlap = agains
        ready = _ready_point(k, [c for c in carried if not c.overlap], again, decide)
        ready_overlap = _ready_point(k, carried, again_overlap, decide) or ready
        row, bypass = level_queues(sizes, levels, stages, k, elastic)
        windows = tuple(Window(c.write, min(c.distance, MOST_IN_WINDOW), c.overlap)
                        for c in carried if c.windowed and c.read.level == k)
        return LevelPlan(k, stages.depth, elastic, row, bypass, ready, ready_overlap, windows, stages.ii if stages.shares else 1)


def _missed(loop: Op, wish: int, least: int, carried, stages) -> CompileError:
    """The initiation interval that the source asks for is too small."""
    region = loop.regions[0]
    bottleneck = next((s.bottleneck for s in stages if s.bottleneck and s.bottleneck.ii == least), None)
    slow = [key for key in bottleneck.shares() if isinstance(key, Op)] if bottleneck else []
    names = dict.fromkeys(v.name for op in slow for v in op.results if v.name)
    if not names:
        names = dict.fromkeys(c.arg.name for c in carried if c.write.level > c.read.level and c.arg.name)
    why = f", because {', '.join(names)} {'needs' if len(names) == 1 else 'need'} what the iteration before has computed" if names else ""
    place = next((op.span for op in slow if op.span), None)
    at = f" (line {place.line})" if place else ""
    return CompileError.at(loop.span or region.terminator.span, f"#pragma ii {wish} cannot be met: the least is {least}{why}{at}",
                           f"ask for {least}, or shorten what goes from one iteration to the next")


def _carried(region, levels, stages) -> tuple[Carried, ...]:
    nexts = region.terminator.operands[1:]
    return tuple(
        Carried(
            k, arg, value,
            Point(levels.read[k], stages[levels.read[k]].read[k]),
            Point(levels.write[k], stages[levels.write[k]].write[k]),
        )
        for k, (arg, value) in enumerate(zip(region.args, nexts, strict=True))
    )


def _again(carried, decide, ii, stages) -> tuple[Point, int]:
    """Where the header may issue again: the continue condition is known, and every value read in level 0 is written."""
    back = [_safe_entry(c) for c in carried if c.read.level == 0 and not c.windowed and (c.write.level > 0 or c.overlap)]
    again = max([decide, *back])
    if again.level == 0 and again.stage < ii - 1:
        stage = min(ii - 1, stages[0].depth - 1)
        return Point(0, stage), ii - 1 - stage
    return again, 0


def _ready_point(k, carried, again, decide) -> Point | None:
    """The point of a token from where the next one of its slot may enter level ``k``; None where ``again`` says it.

    ``decide`` is given for speculative loops: the deciding level admits a token when the one before it has decided.
    """
    if k == 0:
        return None
    points = [_safe_entry(c) for c in carried if c.read.level == k and c.write > again and not c.windowed]
    if decide is not None and decide.level == k:
        points.append(decide)
    return max(points, default=None)


def _safe_entry(c: Carried) -> Point:
    """Entering one cycle after a token passed here, the next one reads ``c`` after it is written."""
    if c.read.level == c.write.level:
        order = isinstance(c.arg.type, TokenType)  # may be relied on in the cycle in which it is given
        return Point(c.read.level, max(0, c.write.stage - c.read.stage - order))
    return c.write


def _uniform_trips(region: Region, loop: Op | None, fixed: frozenset[Value]) -> bool:
    """Whether every invocation has the same trips: the continue condition comes from fixed values alone."""
    if loop is None:
        return True
    nexts = dict(zip(region.args, region.terminator.operands[1:], strict=True))
    initial = dict(zip(region.args, loop.operands[1:], strict=True))
    todo, seen = [region.terminator.operands[0]], set(fixed)
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in nexts:
            todo += [nexts[value], initial[value]]
        elif value.op is not None and has(value.op, "pure") and value.op.operands:
            todo += value.op.operands
        else:
            return False
    return True
