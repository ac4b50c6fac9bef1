"""Loops whose exit condition limits their II, and that may learn an iteration later whether they go on."""

from ..ir import Attr, Function, Module
from ..passes.recurrence.delay_exits import may_delay
from .gathering_nests import marked
from .schedule import KernelPlan

__all__ = ["with_delayed_exits"]


def with_delayed_exits(function: Function, plan: KernelPlan, program: Module) -> Module | None:
    """The program of a planned kernel with the exits of such loops to be delayed; None if it has none. A speculative
    loop, in which a level of its own decides, needs no delay."""
    asked = program
    for loop, region in plan.loops.items():
        if region.is_paced_by_exit and not region.speculative and may_delay(function, loop):
            asked = marked(asked, loop.span, Attr.DELAY_EXIT) or asked
    return None if asked is program else asked
