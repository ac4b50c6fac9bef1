"""Why a cycle passed: the causes that the hardware's cycle account chooses from, most important first.

1. A loop without loops inside issued a token: the cycle did what the kernel is for.
2. Such a loop runs but did not issue: a token in it waits for an operation (the deepest level first, since what waits there holds
   everything before it back), or a store is not taken.
   Or a token waits for the cycles of a port that stores of other loops use, too, or its group for local memory of its own;
   or, if nothing of that holds up the others, at a barrier.
3. It runs, nothing in it waits: its own recurrence does not let the next token go.
4. An outer loop runs and waits for an operation, or for an inner loop to end.
5. The top waits for an operation.
What remains is filling and draining.
"""

from dataclasses import dataclass

from amaranth import *

from ..ir import Op

__all__ = ["Cause", "causes_of"]


@dataclass(frozen=True)
class Cause:
    """One account: ``kind`` is "issued", "wait", "store", "port", "group", "recurrence"; ``op`` the operation or loop at fault."""

    kind: str
    op: Op | None
    signal: object


def causes_of(context) -> list[Cause]:
    """Causes for the cycle account of one kernel, in order of importance."""
    seen = _by_region(context)
    inner = [plan for plan in context.plan.loops.values() if not any(row.op.opcode == "loop" for row in _rows(plan))]
    outer = [plan for plan in context.plan.loops.values() if plan not in inner]
    issued = [seen["issued", plan.loop] for plan in inner]
    causes = [Cause("issued", None, Cat(issued).any())] if issued else []
    for plan in inner:
        causes += _loop_causes(plan, seen, context.channels)
    for plan in outer[::-1]:
        causes += _loop_causes(plan, seen, context.channels)
    for row in _rows(context.plan.top)[::-1]:
        if row.joins and row.op.opcode != "loop":
            causes.append(Cause("wait", row.op, seen["wait", row.op]))
        elif row.op in context.channels and not row.joins:  # others' waits are over before long, and count as draining
            causes.append(Cause("store", row.op, seen["stalled", row.op]))
    return causes


def _by_region(context):
    return {(o.kind, o.op): o.signal for o in context.observations}


def _rows(plan):
    return [row for level in plan.levels for row in level.row]


def _loop_causes(plan, seen, calls) -> list[Cause]:
    causes = []
    for row in _rows(plan)[::-1]:
        # a wait for another kernel is one even when all iterations are issued
        running = C(1) if row.op in calls else seen["running", plan.loop]
        if row.joins:
            causes.append(Cause("wait", row.op, seen["wait", row.op] & running))
        elif ("stalled", row.op) in seen:
            causes.append(Cause("store", row.op, seen["stalled", row.op] & running))
    causes += [Cause("port", op, seen["port", op]) for op in plan.place if ("port", op) in seen]
    causes += [Cause("group", op, seen["group", op]) for op in plan.region.ops if ("group", op) in seen]
    causes.sort(key=lambda cause: cause.op.opcode == "meet")  # who waits there waits for what holds the others up
    return [*causes, Cause("recurrence", plan.loop, seen["held", plan.loop])]
