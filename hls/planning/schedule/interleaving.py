"""How many invocations of each loop run together: as many as it has slots for, unless the loop around it passes them
one by one."""

from collections.abc import Iterable, Iterator

from ...ir import Op, Region, Value, has
from .plan import Carried, KernelPlan, RegionPlan

__all__ = ["crossings", "on_way", "passed", "together"]


def together(plan: KernelPlan) -> dict[Op, int]:
    """For each loop, how many of its invocations run together at most.

    An iteration enters what it passes one at a time only when the one before has left it. Of a loop in there no more
    invocations run together than of the loop around it; of any other as many as there are slots. More than the II gain
    nothing.
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
    """The loops of a kernel, each behind the one around it."""
    found, work = [], [plan.top]
    while work:
        inside = [row.op for level in work.pop().levels for row in level.row if row.op in plan.loops]
        found += inside
        work += [plan.loops[loop] for loop in inside]
    return found


def crossings(plan: RegionPlan) -> Iterator[tuple[Carried | None, list[Value], Value]]:
    """What an iteration gives to the next one from a later level than that reads it: (the carried value, None for the
    condition to go on; the values at the start of the way; the value at its end)."""
    for c in plan.carried:
        if not c.overlap and not c.between and not c.windowed and c.write.level > c.read.level:
            yield c, [c.arg], c.next
    if plan.decide.level and not plan.speculative:
        yield None, list(plan.region.args), plan.region.terminator.operands[0]


def passed(plan: RegionPlan, start: Iterable[Value], end: Value) -> list[Op]:
    """The variable-latency operations on the way."""
    way = on_way(plan.region, start, end)
    return [row.op for level in plan.levels for row in level.row if row.op in way and row.joins]


def on_way(region: Region, start: Iterable[Value], end: Value) -> set[Op]:
    """Operations of the region that lie on a way of values from ``start`` to ``end``."""
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
    return [*op.operands, *(v for region in op.regions for inner in region.ops for v in _inputs(inner))]
