"""Loads that hazard units compare with earlier stores at run time, and that wait only for stores to their own
address."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ...analysis.loops.forward_slice import computed_from, taken
from ...ir import Attr, Op, memory_name
from .plan import RegionPlan
from .queues import HAZARD_LATENCY

__all__ = ["AddressConflict", "address_conflicts", "pace_at_random"]


@dataclass(frozen=True, eq=False)
class AddressConflict:
    """A comparison of a load's address (``check``) with those of the ``stores`` of earlier iterations: a load waits for
    a store to its address for ``cycles`` at most, from iteration to iteration. ``forwarded``: it takes the value from
    the store, and does not wait for memory."""

    check: Op
    stores: tuple[Op, ...]
    cycles: int
    forwarded: bool

    @property
    def memory(self) -> str:
        """The name of the buffer."""
        return str(self.check.attrs[Attr.MEM])

    @property
    def last(self) -> Op:
        """The store that is issued last."""
        return self.stores[-1]


def address_conflicts(plan: RegionPlan, memory_latency: int) -> list[AddressConflict]:
    """The conflicts of the loop itself, not of inner loops; memory answers after ``memory_latency`` cycles."""
    checks = [op for op in plan.place if op.opcode == "hazard" and not op.attrs.get(Attr.FINDS)]
    found = []
    for check in checks:
        number = check.attrs[Attr.NUMBER]
        stores = [op for op in plan.place if any(asked == number for asked, _ in op.attrs.get(Attr.HAZARDS, ()))]
        # stores to another buffer matter only if the host passes overlapping buffers
        stores = [op for op in stores if memory_name(op) == check.attrs[Attr.MEM]]
        if stores:
            stores.sort(key=lambda op: plan.place[op])
            forwarded = check.attrs.get(Attr.UNTIL_PUSHED, False)
            cycles = _until_pushed(plan, check, stores[-1], memory_latency) + (0 if forwarded else memory_latency)
            found.append(AddressConflict(check, tuple(stores), cycles, forwarded))
    return found


def pace_at_random(interval: float, conflicts: Iterable[tuple[AddressConflict, float]]) -> float:
    """The mean cycles between iterations that start every ``interval`` cycles without conflicts, if each of the
    addresses of a conflict is one of so many, at random.

    With t cycles between iterations, a store is met by the loads of the next W / t iterations, W the cycles of the
    conflict: each with a probability of 1 / N, and for W / 2 cycles in the mean. So t is the interval and the sum of
    W^2 / (2 N t) over pairs of a load and a store.
    """
    pairs = [(one.cycles, elements) for one, elements in conflicts for _ in one.stores]
    waits = sum(cycles * cycles / (2 * elements) for cycles, elements in pairs if elements)
    most = interval + sum(cycles for cycles, _ in pairs)
    return min(most, (interval + math.sqrt(interval * interval + 4 * waits)) / 2)


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
