"""Nests that wait for external memory once for each iteration of a loop, and that may be faster as one loop.

Addresses are compared at run time among accesses of one loop only. Where a loop stores what a loop inside it loads, or
the other way round, the outer loop waits until the stores of its iteration are in memory: a round trip for each row. As
one loop, its accesses are compared as they come, and a load takes the value of a store that is still in flight.

The same does not pay where the nest keeps an element in a register that one loop would load and store in each of its
iterations (a sum in memory, the greater of two neighbours), or where each iteration waits for what the one before
loads.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from ..analysis.memory.strides import access_patterns
from ..diag import Span
from ..ir import Attr, Function, Module, Op, Region, TokenType, is_access, memory_name, walk
from ..narrow import instance
from .gathering_nests import only_inner
from .schedule import KernelPlan, RegionPlan
from .schedule.nest_time import Joined, assumed_trips, nest_time
from .schedule.plan import Point
from .schedule.region_schedule import Latencies

__all__ = ["WaitingNest", "waiting_nests"]

#: cycles to the answer of a load that mostly reads the word of the load before
SAME_WORD = 4
#: least accesses to one word, one after the other, with which a load is assumed to find the word in its unit
NEAR = 4


@dataclass(frozen=True, eq=False)
class WaitingNest:
    """``outer`` with the only loop inside it, as planned; ``waits`` is the loop that waits for their stores: ``outer``
    itself, or the loop around it."""

    function: Function
    plan: KernelPlan
    outer: Op
    inner: Op
    waits: Op

    def gains(self, source: Module, joined: KernelPlan, latency: int, word_bytes: int) -> bool:
        """Whether the kernel takes fewer cycles with the nest as one loop, by the plan ``joined``.

        ``source`` is the program before the passes; memory has this ``latency`` in cycles, and words of ``word_bytes``.
        """
        loop = _at(joined, self.outer.span)
        waits = loop if self.waits is self.outer else _at(joined, self.waits.span)
        if loop is None or waits is None or _fences(waits) or not _finds_all(loop):
            return False
        if self._kept_in_registers(source, loop):
            return False
        trips = assumed_trips(self.inner, self.outer.regions[0])
        rows = assumed_trips(self.outer, _home(self.plan, self.outer))
        region = joined.loops[loop]
        again = _again(region, self._fresh_words(word_bytes), Latencies({}, latency)) or region.ii
        one = Joined(rows, trips, region.ii + max(0, _from_load_to_store(region) - trips), again)
        return nest_time(joined, joined={loop: one}) < nest_time(self.plan)

    def _stored(self) -> set[str]:
        """The memories that the nest stores to."""
        return {memory_name(op) for op in walk(self.outer.regions[0]) if op.opcode == "store"}

    def _fresh_words(self, word_bytes: int) -> set[Span | None]:
        """The places of the loads of the inner loop of which each may read another word."""
        patterns = access_patterns(self.function)
        loads = [op for op in walk(self.inner.regions[0]) if op in patterns and op.opcode == "load"]
        steps = {op: patterns[op].steps[0][1].amount for op in loads}
        return {op.span for op, step in steps.items() if step is None or abs(step) >= word_bytes // NEAR}

    def _each_iteration(self) -> set[Span | None]:
        """The places of the accesses that the nest makes in each iteration of its inner loop."""
        return {op.span for op in walk(self.inner.regions[0]) if is_access(op)}

    def _kept_in_registers(self, source: Module, loop: Op) -> bool:
        """Whether the one loop makes an access in each iteration, as the program does, that the nest does not make."""
        written = {op.span for op in _accesses_within(source, self.inner.span)} - self._each_iteration()
        return any(
            is_access(op) and op.span in written and memory_name(op) in self._stored() for op in walk(loop.regions[0])
        )


def waiting_nests(function: Function, plan: KernelPlan) -> list[WaitingNest]:
    """The nests of two loops of a kernel where one of them, or the loop around both, waits for memory in each
    iteration."""
    if function.attrs.get(Attr.NDRANGE):
        return []
    around = {inner: loop for loop in plan.loops for inner in loop.regions[0].ops if inner in plan.loops}
    found = []
    for outer in plan.loops:
        inner = only_inner(outer) if outer.span is not None else None
        waits = next((op for op in (outer, around.get(outer)) if op is not None and _waits(plan.loops[op])), None)
        if inner is not None and waits is not None:
            found.append(WaitingNest(function, plan, outer, inner, waits))
    return found


def _waits(region: RegionPlan) -> bool:
    return region.cause == "crossing" and region.loop is not None and bool(_fences(region.loop))


def _fences(loop: Op) -> list[Op]:
    """The fences of the loop itself that matter in all runs."""
    fences = [op for op in loop.regions[0].ops if op.opcode == "fence"]
    return [op for op in fences if not instance(op.result.type, TokenType).overlap]


def _finds_all(loop: Op) -> bool:
    """Whether no access waits until a store is in memory: all take the values of stores in flight."""
    hazards = [op for op in loop.regions[0].ops if op.opcode == "hazard"]
    return all(op.attrs.get(Attr.FINDS) or op.attrs.get(Attr.UNTIL_PUSHED) for op in hazards)


def _at(plan: KernelPlan, span: Span | None) -> Op | None:
    return next((loop for loop in plan.loops if loop.span == span), None)


def _home(plan: KernelPlan, loop: Op) -> Region | None:
    """The body of the loop around a loop; None if there is none."""
    return next((outer.regions[0] for outer in plan.loops if loop in outer.regions[0].ops), None)


def _accesses_within(source: Module, span: Span | None) -> Iterator[Op]:
    """The accesses in the loops of the program at ``span``."""
    for function in source.functions.values():
        for loop in walk(function.body):
            if loop.opcode == "loop" and loop.span == span:
                yield from (op for op in walk(loop.regions[0]) if op.opcode in ("load", "store", "atomic"))


def _again(region: RegionPlan, fresh: Collection[Span | None], latencies: Latencies) -> int:
    """The cycles between iterations of the one loop within a row; 0 where nothing passes a boundary on its way to the
    next iteration. Accesses at other places than ``fresh`` are off, or read a word again."""

    def row(op: Op) -> int:
        return SAME_WORD if op.opcode == "load" and op.span not in fresh else latencies.row(op)

    spans = [(c.read, c.write) for c in region.carried if not (c.overlap or c.between or c.windowed)]
    spans += [] if region.speculative else [(Point(0, 0), region.decide)]
    return max((_distance(region, first, last, row) for first, last in spans if last.level > first.level), default=0)


def _from_load_to_store(region: RegionPlan) -> int:
    """The stages between a load that takes the value of a store in flight, and that store: how long an element waits
    for that with the same number in the row before. 0 without such loads."""
    loads = [at.level for op, at in region.place.items() if op.opcode == "hazard" and op.attrs.get(Attr.UNTIL_PUSHED)]
    stores = [at for op, at in region.place.items() if op.opcode == "store" and op.attrs.get(Attr.HAZARDS)]
    if not loads or not stores:
        return 0
    return _distance(region, Point(min(loads), 0), max(stores), lambda op: 0)


def _distance(region: RegionPlan, first: Point, last: Point, row: Callable[[Op], int]) -> int:
    cycles = last.stage - first.stage + 1
    for level in region.levels[first.level : last.level]:
        cycles += level.depth + max((row(each.op) for each in level.row if each.joins), default=0) + 2
    return cycles
