"""Inner loops that could begin without the state of the iteration around them."""

from collections.abc import Iterable

from ..analysis.loops.forward_slice import computed_from, taken
from ..ir import Op, Value
from ..passes.link.carried_reductions import reduction
from ..planning.schedule import RegionPlan
from ..planning.schedule.interleaving import on_way

__all__ = ["are_separable"]


def are_separable(plan: RegionPlan, args: Iterable[Value]) -> bool:
    """Whether each inner loop through which the loop passes these carried values only accumulates in them, in any
    order: so it can begin with a neutral value, and the two be joined behind it."""
    nexts = dict(zip(plan.region.args, plan.region.terminator.operands[1:], strict=True))
    return all(
        _accumulates(op, computed_from(plan.region, {arg}))
        for arg in args
        for op in on_way(plan.region, [arg], nexts[arg])
        if op.opcode == "loop"
    )


def _accumulates(loop: Op, passed: set[Value]) -> bool:
    """Whether the values ``passed`` into a loop are only the initial ones of its reductions."""
    (body,) = loop.regions
    initial = [k for k, value in enumerate(loop.operands[1:]) if value in passed]
    free = taken(loop) - set(loop.operands[1:])
    return passed.isdisjoint(free | {loop.operands[0]} | set(body.terminator.operands)) and all(
        reduction(loop, k, floats=True) is not None for k in initial
    )
