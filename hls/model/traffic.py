"""The words of memory that the accesses of a schedule move (docs/rationale/model.md).

A load unit fetches each word that differs from the one before, or, with a cache, that the cache does not hold; a store
unit gathers neighbouring stores to one word.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rtl_lib.lsu.atomic_memory import PLACES

from ..analysis.memory.strides import AccessPattern, Step, access_patterns
from ..ir import Attr, Op
from ..planning.memory import Access, LsuKind, MemoryPlan
from ..planning.schedule import RegionPlan
from ..planning.schedule.levels import is_exceptional
from .executed import most_executions
from .extremes import Extreme, Unknown
from .ideal import Ideal
from .interleaved import interleaved_words, share_apart
from .moved_words import moved_words, runs_of
from .runs import RunCounts
from .workload import AccessRuns, Histogram, Stride

__all__ = ["AccessTraffic", "TrafficCounts"]

#: words that a load unit of several lanes holds, the last even and the last odd one (rtl_lib/lsu/wide_load.py)
WIDE_WORDS = 2
#: units in which the word of the execution before is at hand, and of no other invocation a word of its own
HOLDING = {LsuKind.LOAD, LsuKind.STORE, LsuKind.ACKNOWLEDGED_STORE, LsuKind.CACHED_LOAD}


@dataclass(frozen=True)
class AccessTraffic:
    """One access of the schedule over a launch: ``count`` executions, of which ``words`` moved a word of memory;
    ``scattered`` of these are in another row than the word before, of ``rows`` distinct ones. ``same`` of all go to
    the word of the execution before; ``distinct`` are the different words of all accesses at its place."""

    count: float
    words: float
    scattered: float
    same: float = 0.0
    rows: float = 0.0
    distinct: float = 0.0

    @property
    def fetching(self) -> float:
        """The share of executions that move a word."""
        return self.words / self.count if self.count else 0.0

    @property
    def looked_up(self) -> float:
        """The share of executions that return to a word, among those that move none."""
        found = self.count - self.words
        return min(1.0, max(0.0, found - self.same) / found) if found > 0 else 0.0


class TrafficCounts:
    """The traffic of one kernel's accesses. ``under_way`` are the cycles from a load until a store that depends on it
    is in memory, or 0 where stores are in memory at once."""

    def __init__(
        self,
        memory: MemoryPlan,
        counts: RunCounts,
        regions: Mapping[Op, RegionPlan],
        under_way: float,
        unknown: Unknown,
        ideal: Ideal,
        near: Mapping[Op, float],
    ) -> None:
        self._near = near
        self.memory, self.counts, self.unknown, self.ideal = memory, counts, unknown, ideal
        self._regions, self._under_way = regions, under_way
        self.copies = Counter((op.opcode, op.span) for op in memory.outside)
        self._traffic: dict[Op, AccessTraffic] = {}

    def of(self, op: Op) -> AccessTraffic:
        """What an access of the schedule moves."""
        if op not in self._traffic:
            self._traffic[op] = self._found(op)
        return self._traffic[op]

    def _found(self, op: Op) -> AccessTraffic:
        access, found = self.memory.accesses[op], self.counts.accesses(op)
        if op in self._near:
            return self._in_order(op, found)
        copies, flushes = self.copies[op.opcode, op.span], self._flushes(op)
        pattern = self._strided(op, found) if copies > 1 or access.lanes else None
        if pattern is not None:
            moved = moved_words(pattern, self.counts, access.word_bytes, self.counts.workload.row_bytes)
            found, copies = [runs_of(found[0].place, op.opcode, access, [moved])], 1
        if not found:
            count = self._iterations(op)
            return AccessTraffic(count, max(count * access.bytes / access.word_bytes, min(flushes, count)), 0.0)
        count = sum(one.count for one in found) / copies
        words = sum(self._moved(op, one, access, flushes) for one in found) / copies
        opened = sum(one.rows for one in found) / copies
        same, rows = sum(one.same_word for one in found) / copies, sum(one.rows for one in found)
        apart = max(_leaves_row(one, self.counts.workload.row_bytes) for one in found)
        scattered = words * apart if access.scattered else min(words, opened)
        made = 1.0 - self._forwarded(op, found)
        # the first load of a launch finds no store
        count, words, scattered = count * made, max(words * made, min(1.0, words, count * made)), scattered * made
        count = min(count, most_executions(op, self._regions.get(op), self.counts))
        distinct = float(sum(one.words for one in found))
        return AccessTraffic(count, min(words, count), min(scattered, count), same, rows, distinct)

    def _in_order(self, op: Op, found: Sequence[AccessRuns]) -> AccessTraffic:
        """An access whose words, and no others, are moved one after the other."""
        words, workload = self._near[op], self.counts.workload
        count = max(words, sum(one.count for one in found) / self.copies[op.opcode, op.span])
        rows = words * workload.word_bytes / workload.row_bytes if workload.row_bytes else 0.0
        return AccessTraffic(count, words, rows, count - words, rows, words)

    def _moved(self, op: Op, runs: AccessRuns, access: Access, flushes: float) -> float:
        """Words of an access of the source. A cache finds what the invocations of a loop that take turns have in
        common, also where it would not hold it from one of them to the next one."""
        alone, together = _words(runs, access, flushes), self.interleaved(op, runs)
        if access.unit is LsuKind.CACHED_LOAD and together is not None:
            return min(alone, together)
        return together or alone

    def interleaved(self, op: Op, runs: AccessRuns) -> float | None:
        """The words of an access whose unit holds one, or a cache that holds the last one, where the invocations of its
        loop take turns; None elsewhere: a unit that gathers a word for each of them moves what they would move one
        after the other."""
        plan, access = self._regions.get(op), self.memory.accesses[op]
        around = self._regions.get(plan.loop_op) if plan and plan.loop else None
        if self.unknown.memory is Extreme.LEAST or access.unit not in HOLDING or access.gathers > 1:
            return None
        if plan is None or around is None or plan.slots < 2:
            return None
        inner = self._stride(runs, plan.loop_op)
        outer = self._stride(runs, around.loop) if around.loop else None
        together = self.counts.in_turn(plan, around)
        if inner is None or outer is None or together < 2 or runs.crossing:
            return None
        trips = self.counts.loop(plan.loop_op).trips
        return interleaved_words(runs, inner, outer, together, trips, self.counts.workload.word_bytes)

    def repeats(self, runs: AccessRuns, plan: RegionPlan) -> bool:
        """Whether an access goes to another element in each iteration of its loop, and to the same ones in the next
        invocation within one of the loop around."""
        around = self._regions.get(plan.loop_op)
        inner = self._stride(runs, plan.loop_op)
        outer = self._stride(runs, around.loop) if around and around.loop else None
        if inner is None or outer is None:
            return False
        return inner.bytes.share(0, 0) == 0.0 and outer.bytes.share(0, 0) == 1.0

    def moves_between(self, op: Op) -> float | None:
        """The share of a loop's invocations that begin in another word than the one before; None if it is not known."""
        plan, found = self._regions.get(op), self.counts.accesses(op)
        around = self._regions.get(plan.loop_op) if plan and plan.loop else None
        strides = [self._stride(one, around.loop) if around and around.loop else None for one in found]
        shares = [share_apart(one.bytes, 0.0, self.counts.workload.word_bytes) for one in strides if one is not None]
        return max(shares) if shares and len(shares) == len(found) else None

    def _stride(self, runs: AccessRuns, loop: Op) -> Stride | None:
        """The stride of an access in a loop of the schedule that is one of the source, or the one over work-items."""
        for one in runs.strides:
            known = self.counts.is_loop(loop, one.loop) if one.loop else bool(loop.attrs.get(Attr.PARALLEL))
            if known and one.bytes.count:
                return one
        return None

    def _forwarded(self, op: Op, found: Sequence[AccessRuns]) -> float:
        """The share of a load's executions that take the value of a store under way, and so do not go to memory."""
        if op not in self._finding or Ideal.DEPENDENCES in self.ideal:
            return 0.0
        met = sum(one.conflicts.share(1, round(self._under_way)) * one.conflicts.count for one in found)
        return min(1.0, met / max(1, sum(one.count for one in found)))

    @cached_property
    def _finding(self) -> set[Op]:
        """Loads that hazard units let take the values of stores under way."""
        finding = [one for op, one in self.memory.hazards.items() if op.attrs.get(Attr.FINDS)]
        return {load for one in finding for load in one.loads} if self._under_way else set()

    @cached_property
    def _patterns(self) -> dict[Op, AccessPattern]:
        return access_patterns(self.counts.function)

    def _strided(self, op: Op, found: list[AccessRuns]) -> AccessPattern | None:
        """The pattern of an access that every loop around it moves by a known amount; None for another one. An amount
        that is known only at run time is that of the workload, if it is always the same one there."""
        pattern = self._patterns[op]
        steps = [(loop, self._known(loop, step, found)) for loop, step in pattern.steps]
        known = found and all(step.regular for _, step in steps)
        return replace(pattern, steps=tuple(steps)) if known else None

    def _known(self, loop: Op, step: Step, found: list[AccessRuns]) -> Step:
        if step.amount is not None or not step.regular:
            return step
        strides = {
            (one.low, one.high)
            for runs in found
            for stride in runs.strides
            if stride.loop is not None and self.counts.is_loop(loop, stride.loop)
            for one in stride.bytes.ranges
        }
        if len(strides) != 1:
            return step
        ((low, high),) = strides
        return replace(step, amount=low * self.counts.bodies(loop)) if low == high else step

    def _flushes(self, op: Op) -> float:
        """How often the unit of a load forgets its words, as stores of the kernel may have changed them."""
        name = self.memory.accesses[op].memory
        fences = [one for one in self._regions if one.opcode == "fence" and name in one.attrs.get(Attr.FLUSH, ())]
        return sum(self._iterations(one) for one in fences if not is_exceptional(one))

    def _iterations(self, op: Op) -> float:
        region = self._regions.get(op)
        return self.counts.loop(region.loop).iterations * self.counts.units if region and region.loop else 1.0


def _leaves_row(runs: AccessRuns, row_bytes: int) -> float:
    """The share of executions that go to another row than the one before, by the stride of the innermost loop; 1 where
    none is known."""
    counted = runs.strides[0].bytes if runs.strides else Histogram()
    return share_apart(counted, 0.0, row_bytes) if row_bytes else 1.0


def _held(access: Access) -> int:
    """Words that the unit of an access holds, if several."""
    if access.unit is LsuKind.ATOMIC:
        return PLACES
    return access.cache_words or (WIDE_WORDS if access.lanes and access.direction == "load" else 0)


def _words(runs: AccessRuns, access: Access, flushes: float) -> float:
    """Words that an access of the source moves through its unit, which forgets what it holds so many times: it then
    fetches the words that it uses again, as far as the program returns to them at all."""
    if access.unit in (LsuKind.PIPELINED_LOAD, LsuKind.PIPELINED_STORE):
        return float(runs.count)
    if access.unit is LsuKind.CONSTANT_LOAD:  # a cache that all accesses share, which holds what they read
        return float(runs.words)
    changes = float(runs.count + runs.crossing - runs.same_word)
    if holds := _held(access):
        kept = runs.cold + runs.misses + sum(one.count for one in runs.reuse.ranges if one.low > holds)
        return kept + min(flushes * runs.words, changes) if flushes else float(kept)
    return changes + min(flushes, runs.same_word)
