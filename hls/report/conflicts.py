"""Loads that hazard units compare with earlier stores at run time, and that wait only for stores to their own
address."""

from ..analysis.loops.forward_slice import computed_from, taken
from ..ir import Attr, Op, memory_name
from ..planning.schedule import RegionPlan
from ..planning.schedule.queues import HAZARD_LATENCY
from .model import Conflict

__all__ = ["conflicts"]


def conflicts(plan: RegionPlan, memory_latency: int) -> tuple[Conflict, ...]:
    """The conflicts of the loop itself, not of inner loops."""
    checks = [op for op in plan.place if op.opcode == "hazard" and not op.attrs.get(Attr.FINDS)]
    found = []
    for check in checks:
        number = check.attrs[Attr.NUMBER]
        stores = [op for op in plan.place if any(asked == number for asked, _ in op.attrs.get(Attr.HAZARDS, ()))]
        # stores to another buffer matter only if the host passes overlapping buffers
        stores = [op for op in stores if memory_name(op) == check.attrs[Attr.MEM]]
        if stores:
            last = max(stores, key=lambda op: plan.place[op])
            forwarded = check.attrs.get(Attr.UNTIL_PUSHED, False)
            cycles = _until_pushed(plan, check, last, memory_latency) + (0 if forwarded else memory_latency)
            found.append(Conflict(check.attrs[Attr.MEM], check.span, last.span, cycles, forwarded))
    return tuple(found)


def _answers_after(op: Op, memory_latency: int) -> int:
    """Cycles from an operation between levels to its response."""
    if op.opcode == "rtl_wait":
        return int(op.attrs[Attr.RTL_LATENCY])
    return HAZARD_LATENCY if op.opcode == "hazard" else memory_latency


def _until_pushed(plan: RegionPlan, check: Op, store: Op, memory_latency: int) -> int:
    """Cycles from a comparison to when a later one finds the iteration's store issued: stages, and what is waited for
    in between."""
    begin, end = plan.place[check], plan.place[store]
    dependent = computed_from(plan.region, set(check.results))
    cycles = end.stage - begin.stage if begin.level == end.level else plan.levels[begin.level].depth - begin.stage
    for level in plan.levels[begin.level : end.level]:
        waits = [
            _answers_after(row.op, memory_latency)
            for row in level.row
            if row.op is check or dependent.intersection(taken(row.op))
        ]
        cycles += max(waits, default=0)
        if begin.level < level.index < end.level:
            cycles += level.depth
    if begin.level != end.level:
        cycles += end.stage
    return cycles + HAZARD_LATENCY
