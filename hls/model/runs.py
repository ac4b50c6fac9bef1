"""How often the loops and operations of a schedule run, from a workload of the source.

A loop of the schedule stands at the place of the loop of the source that it comes from. Unrolling divides its
iterations, copies of an enclosing loop share its invocations, and a coalesced loop has the iterations of the innermost
of its source loops and the invocations of the outermost; where it is one by the inner loop's test, the iterations of
both.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..diag import Span
from ..ir import Attr, Copying, Function, Op, copied_by
from ..ir.launch import copied_buffers, lanes_of, units_of
from ..passes.loops.merged_attributes import Merged
from ..passes.loops.unroll import Unrolled
from ..planning.schedule import KernelPlan, RegionPlan
from .workload import AccessRuns, Histogram, LoopRuns, Place, Workload

__all__ = ["Assumption", "LoopCount", "RunCounts"]


@dataclass(frozen=True)
class Assumption:
    """Something that the workload does not tell: ``what`` is assumed of the place ``span``."""

    span: Span | None
    what: str


@dataclass(frozen=True)
class LoopCount:
    """A loop of the schedule over a whole launch: its iterations and invocations. ``entered`` are the invocations with
    at least one iteration; ``spread`` are pairs of the iterations of some of these and their share, or nothing if all
    have as many."""

    iterations: float
    invocations: float
    entered: float
    spread: tuple[tuple[float, float], ...] = ()

    @property
    def trips(self) -> float:
        """Iterations of an invocation that is entered; 0 if none is."""
        return self.iterations / self.entered if self.entered else 0.0

    @property
    def taken(self) -> float:
        """The share of invocations that are entered."""
        return self.entered / self.invocations if self.invocations else 0.0


class RunCounts:
    """The counts of one kernel's schedule. ``assumptions`` grow as counts are asked for that the workload lacks."""

    def __init__(
        self,
        function: Function,
        plan: KernelPlan,
        unrolled: Sequence[Unrolled],
        merged: Sequence[Merged],
        workload: Workload,
        main: str,
    ) -> None:
        self.function, self.workload, self.main = function, workload, main
        self.assumptions: list[Assumption] = []
        self._factors = {one.span: one.copies for one in unrolled if not one.full}
        self._merged = {one.into: one.span for one in merged if one.how == "coalesced"}
        self._by_test = {one.into for one in merged if one.by_test}
        #: of loops that do a part of each iteration of one of the source, where that stands
        self._split = {one.span: one.into for one in merged if one.how == "split"}
        #: loops of the body that is not executed, as the kernel works on copies of its buffers or does not
        self._off = {op for op in plan.loops if not self._executed(op)}
        self._ops_off = {op for loop in self._off for op in loop.regions[0].ops}
        self._copies = Counter(op.span for op in plan.loops if op not in self._off)
        self._counts: dict[Op, LoopCount] = {}
        self.units = units_of(function)  #: compute units, which divide the groups of a launch
        #: tokens of a work-group: its work-items, or with several lanes as many fewer
        self.group = max(1, math.prod(workload.local_size) // lanes_of(function))
        #: tokens of the kernel's top: one for the launch, or for each group that a compute unit takes
        self.top_tokens = self._groups() if self.units > 1 else 1.0

    def scale(self, op: Op, factor: float) -> None:
        """Count only a part of a loop's iterations, as if its body did the work of several."""
        found = self.loop(op)
        spread = tuple((trips * factor, share) for trips, share in found.spread)
        self._counts[op] = replace(found, iterations=found.iterations * factor, spread=spread)

    def loop(self, op: Op) -> LoopCount:
        """The counts of a loop of the schedule."""
        if op not in self._counts:
            self._counts[op] = self._loop(op)
        return self._counts[op]

    def in_turn(self, plan: RegionPlan, around: RegionPlan) -> float:
        """Invocations of a loop that may take turns: those of one invocation of the region ``around`` it."""
        return min(float(plan.slots), self.loop(around.loop).trips) if around.loop else 1.0

    def _loop(self, op: Op) -> LoopCount:
        if op.attrs.get(Attr.PARALLEL):
            items = self.workload.work_items / lanes_of(self.function)
            units = self.units
            return LoopCount(items / units, self._groups(), self._groups()) if units > 1 else LoopCount(items, 1.0, 1.0)
        if op in self._off:
            return LoopCount(0.0, 0.0, 0.0)
        if op.attrs.get(Attr.COPYING) == Copying.MOVES:
            return LoopCount(self._groups_copied(op), 1.0, 1.0)
        span = self._split.get(op.span, op.span)
        outer, inner = self._source(span), self._source(self.innermost(op))
        if not outer or not inner:
            trips = op.attrs.get(Attr.TRIP_COUNT)
            what = f"{trips:,} iterations" if trips is not None else "one iteration"
            self.assumptions.append(Assumption(op.span, f"{what} of a loop that the workload does not know"))
            return LoopCount(float(trips or 1), 1.0, 1.0)
        factor = self.bodies(op)
        iterations = sum(_unrolled(one, factor) for one in (*inner, *self._ended(op)))
        if Attr.EXIT_DELAYED in op.attrs:  # of a loop that a launch enters once
            iterations += sum(_entered(one.trips) for one in outer)
        invocations, entered = sum(one.invocations for one in outer), sum(_entered(one.trips) for one in outer)
        copies = self._copies[op.span] * lanes_of(self.function) * self.units  # all lanes run a loop together
        spread = _spread(outer, factor) if inner == outer else ()
        return LoopCount(iterations / copies, invocations / copies, entered / copies, spread)

    @cached_property
    def _on_copies(self) -> bool:
        """Whether the kernel works on copies of its buffers; where the workload does not tell their sizes, it does."""
        sizes = [one.bytes for one in self.workload.arguments if one.name in copied_buffers(self.function)]
        return all(0 < size <= self.function.attrs[Attr.COPY_BYTES] for size in sizes)

    def _executed(self, loop: Op) -> bool:
        if not copied_buffers(self.function):
            return True
        return self._on_copies == (loop.attrs.get(Attr.COPYING) != Copying.WITHOUT)

    def _groups_copied(self, loop: Op) -> float:
        """The iterations of a loop that copies a buffer."""
        name, size = copied_by(loop, self._copied)
        return float(-(-self._copied[name] // size))

    @cached_property
    def _copied(self) -> dict[str, int]:
        """The bytes of the buffers that are copied, by name."""
        given = {one.name: one.bytes for one in self.workload.arguments}
        most = int(self.function.attrs[Attr.COPY_BYTES])
        names = copied_buffers(self.function)
        if any(name not in given for name in names):
            self.assumptions.append(Assumption(self.function.span, f"{most:,} bytes in each buffer that is copied"))
        return {name: given.get(name, most) for name in names}

    def _groups(self) -> float:
        """The groups that a compute unit takes."""
        return self.workload.work_items / math.prod(self.workload.local_size) / self.units

    def bodies(self, op: Op) -> int:
        """How many iterations of its loop of the source an iteration of a loop of the schedule does."""
        return self._factors.get(op.span, 1)

    def is_loop(self, op: Op, place: Place) -> bool:
        """Whether the loop of the source at a place became this loop of the schedule, alone."""
        return op.span is not None and not self._inside(op) and place.is_at(op.span, self.main)

    def innermost(self, op: Op) -> Span | None:
        """Where the innermost loop of the source stands that became this loop of the schedule."""
        return self._inside(op)[-1] if self._inside(op) else self._split.get(op.span, op.span)

    def _ended(self, op: Op) -> list[LoopRuns]:
        """The loops of the source that became this one, of which each iteration ends with one of that."""
        spans = [self._split.get(op.span, op.span), *self._inside(op)][:-1]
        return [run for span in spans if span in self._by_test for run in self._source(span)]

    def _inside(self, op: Op) -> list[Span | None]:
        """The loops of the source, from outside in, that became part of this one of the schedule. A nest that is one
        loop by the test of the inner one is two loops where a kernel does not work on copies of its buffers."""
        span, found = self._split.get(op.span, op.span), list[Span | None]()
        while span in self._merged and (span not in self._by_test or Attr.FLATTENED in op.attrs):
            span = self._merged[span]
            found.append(span)
        return found

    def _source(self, span: Span | None) -> list[LoopRuns]:
        return [one for one in self.workload.loops if span and one.place.is_at(span, self.main)]

    def accesses(self, op: Op) -> list[AccessRuns]:
        """What the workload knows of the accesses of the source at an operation's place, by kind."""
        if op in self._ops_off:
            return []
        kind = {"load": "load", "store": "store", "atomic": "atomic"}.get(op.opcode)
        return [
            one
            for one in self.workload.accesses
            if op.span and one.kind == kind and one.place.is_at(op.span, self.main)
        ]


def _unrolled(loop: LoopRuns, factor: int) -> float:
    """Iterations of a loop whose body is ``factor`` copies: the last one of an invocation may be partial. Where only a
    range of the trips is known, that is half of an iteration on average."""
    exact = sum(one.low * one.count for one in loop.trips.ranges if one.low == one.high)
    whole = sum(-(-one.low // factor) * one.count for one in loop.trips.ranges if one.low == one.high)
    ranged = sum(one.count for one in loop.trips.ranges if one.low != one.high)
    return whole + (loop.iterations - exact) / factor + ranged * (factor - 1) / 2 / factor


def _spread(loops: Sequence[LoopRuns], factor: int) -> tuple[tuple[float, float], ...]:
    """How the invocations that are entered differ in their iterations, each of which is ``factor`` of the source. In a
    range of trips all are taken to have as many, so that the sum is that of the loops."""
    ranges = [one for loop in loops for one in loop.trips.ranges if one.high > 0]
    exact = sum(one.low * one.count for one in ranges if one.low == one.high)
    middle = sum((one.low + one.high) / 2 * one.count for one in ranges if one.low != one.high)
    scale = (sum(one.iterations for one in loops) - exact) / middle if middle else 1.0
    each: Counter[float] = Counter()
    for one in ranges:
        trips = one.low if one.low == one.high else scale * (one.low + one.high) / 2
        each[float(math.ceil(trips / factor)) if one.low == one.high else max(1.0, trips / factor)] += one.count
    whole = sum(each.values())
    return tuple((trips, count / whole) for trips, count in sorted(each.items())) if len(each) > 1 else ()


def _entered(trips: Histogram) -> int:
    return sum(one.count for one in trips.ranges if one.high > 0)
