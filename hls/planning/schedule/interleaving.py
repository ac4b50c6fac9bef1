"""Interleaving degree: how many invocations of each loop run together. That is its number of slots, unless the loop
around it lets its iterations pass one at a time."""

from collections.abc import Iterable, Iterator

from ...ir import Op, Region, Value, has, walk
from .plan import Carried, KernelPlan, RegionPlan

__all__ = ["crossings", "on_way", "passed", "together"]


def together(plan: KernelPlan) -> dict[Op, int]:
    """For each loop, how many of its invocations run together at most.

    An iteration enters a serial region only when the one before has left it. Of a loop in such a region no more
    invocations run together than of the loop around it; of any other loop as many as it has slots. More invocations
    than the II gain nothing.
    """
    most: dict[Op, int] = {}
    found: dict[Op, int] = {}
    for loop in _outside_in(plan):
        region = plan.loops[loop]
        found[loop] = min(region.slots, most.get(loop, region.slots))
        alone = {inner for _, start, end in crossings(region) for inner in passed(region, start, end)}
        most.update((inner, found[loop]) for inner in alone if inner in plan.loops)
    return found


def _outside_in(plan: KernelPlan) -> list[Op]:
    """The loops of a kernel, outer loops before inner ones."""
    found, work = [], [plan.top]
    while work:
        inside = [row.op for level in work.pop().levels for row in level.row if row.op in plan.loops]
        found += inside
        work += [plan.loops[loop] for loop in inside]
    return found


def crossings(plan: RegionPlan) -> Iterator[tuple[Carried | None, list[Value], Value]]:
    """What an iteration passes to the next one from a later level than the one that reads it: (the carried value, or
    None for the continue condition; the values at the start of the path; the value at its end)."""
    for c in plan.carried:
        if not c.overlap and not c.between and not c.windowed and c.write.level > c.read.level:
            yield c, [c.arg], c.next
    if plan.decide.level and not plan.speculative:
        yield None, list(plan.region.args), plan.region.terminator.operands[0]


def passed(plan: RegionPlan, start: Iterable[Value], end: Value) -> list[Op]:
    """The variable-latency operations on the path."""
    way = on_way(plan.region, start, end)
    return [row.op for level in plan.levels for row in level.row if row.op in way and row.joins]


def on_way(region: Region, start: Iterable[Value], end: Value) -> set[Op]:
    """Operations of the region on a data path from ``start`` to ``end``."""
    reached = set(start)
    forward = set()
    for op in region.ops:
        if not has(op, "terminator") and any(v in reached for v in _inputs(op)):
            forward.add(op)
            reached.update(op.results)
    wanted, found = {end}, set()
    for op in reversed(region.ops):
        if op in forward and any(r in wanted for r in op.results):
            found.add(op)
            wanted.update(_inputs(op))
    return found


def _inputs(op: Op) -> list[Value]:
    """Operands, and for a loop everything that its body uses."""
    return [*op.operands, *(v for region in op.regions for inner in walk(region) for v in inner.operands)]
