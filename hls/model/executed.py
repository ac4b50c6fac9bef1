"""How often an access of a schedule is made, where passes made it rarer than that of the source that it comes from."""

from ..analysis.predicates.implication import implied
from ..ir import Op, Value, predicate
from ..ir.rewrite import constant
from ..planning.schedule import RegionPlan
from .runs import RunCounts

__all__ = ["most_executions"]


def most_executions(op: Op, region: RegionPlan | None, counts: RunCounts) -> float:
    """The most executions over a launch of an access in a region: as many as iterations of its loop, or, where it is
    made only in the first one, as registers carry what it loads, as invocations that are entered."""
    if region is None or region.loop is None:
        return counts.top_tokens * counts.units
    loop = counts.loop(region.loop)
    first = any(_holds_first(region.loop, value, truth) for value, truth in implied(predicate(op)).items())
    return (loop.entered if first else loop.iterations) * counts.units


def _holds_first(loop: Op, value: Value, truth: bool) -> bool:
    """Whether a condition is a carried value of the loop that is so in its first iteration, and in no other one."""
    body = loop.regions[0]
    if value.op is not None or value not in body.args:
        return False
    first, following = constant(loop.operands[1 + value.index]), constant(body.terminator.operands[1 + value.index])
    return first is not None and following is not None and bool(first) == truth and bool(following) != truth
