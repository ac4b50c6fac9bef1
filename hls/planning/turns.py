"""Loops whose invocations are interleaved, and loops of the parts of a kernel in which channel reads would end that."""

from collections.abc import Iterable

from ..analysis.channels.endpoints import is_call
from ..diag import Span
from ..ir import Attr, Op, walk
from .iterate import CompiledKernel
from .schedule.interleaving import together
from .schedule.plan import KernelPlan

__all__ = ["loops_that_receive", "loops_that_turn"]


def loops_that_turn(plan: KernelPlan) -> frozenset[Span]:
    """The places of the loops in whose recurrence several invocations take turns, so that an iteration of one begins
    before that of another is over."""
    turns = together(plan)
    return frozenset(loop.span for loop, region in plan.loops.items() if loop.span and region.ii > 1 < turns[loop])


def loops_that_receive(parts: Iterable[CompiledKernel]) -> frozenset[Span]:
    """The places of the loops in the parts of a kernel that call channels between the parts. Their invocations come in
    the program's order, one after the other."""
    return frozenset(
        loop.span
        for part in parts
        for loop in part.plan.loops
        if loop.span and any(_is_between(op, part) for region in loop.regions for op in walk(region))
    )


def _is_between(op: Op, part: CompiledKernel) -> bool:
    return is_call(op) and any(op.attrs[Attr.CHANNEL] == one.name for one in part.inner)
