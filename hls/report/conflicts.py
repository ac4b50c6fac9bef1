"""Loads that hazard units compare with earlier stores at run time, as a report has them."""

from ..planning.schedule import RegionPlan
from ..planning.schedule.conflicts import address_conflicts
from .model import Conflict

__all__ = ["conflicts"]


def conflicts(plan: RegionPlan, memory_latency: int) -> tuple[Conflict, ...]:
    """The conflicts of the loop itself, not of inner loops."""
    return tuple(
        Conflict(one.memory, one.check.span, one.last.span, one.cycles, one.forwarded)
        for one in address_conflicts(plan, memory_latency)
    )
