"""Whether a memory part and a compute part may be faster than the kernel whole, before they are planned."""

from collections.abc import Hashable
from dataclasses import replace

from ..ir import Op, TokenType, has
from .iterate import CompiledKernel
from .schedule import RegionPlan
from .schedule.interleaving import together
from .schedule.nest_time import nest_time

__all__ = ["least_split_time", "loads_from_outside"]


def loads_from_outside(kernel: CompiledKernel) -> bool:
    """Whether the kernel loads from global memory, so that there is something that could run ahead."""
    return any(op.opcode == "load" for op in kernel.memory.outside)


def least_split_time(kernel: CompiledKernel) -> float:
    """Cycles of the kernel's loops by their schedules (see :func:`nest_time`) that the slower one of two parts takes at
    least.

    Each iteration is one in both parts, and begins a cycle after the one before at best, whatever held it up in the
    kernel as a whole. What an outermost loop carries through logic and arithmetic alone it carries in one of the parts,
    too; the invocations of a loop inside may take turns in a part that they did not take before.
    """
    plan = kernel.plan
    turns = together(plan)
    inside = {inner for loop in plan.loops for inner in loop.regions[0].ops if inner in plan.loops}
    loops = {
        loop: region
        if loop not in inside and _is_carried_by_logic(region)
        else replace(region, ii=turns[loop], cause="schedule")
        for loop, region in plan.loops.items()
    }
    return nest_time(replace(plan, loops=loops))


def _is_carried_by_logic(region: RegionPlan) -> bool:
    """Whether a recurrence through operations without effects is what forbids a smaller II."""
    found = region.bottleneck
    if region.cause != "schedule" or found is None or found.kind != "recurrence" or found.ii != region.ii:
        return False
    return all(_is_logic(step.src, region) for step in found.steps)


def _is_logic(key: Hashable | None, region: RegionPlan) -> bool:
    """Whether what a recurrence passes is an operation without effects, or the register of a carried value."""
    if isinstance(key, Op):
        return has(key, "pure")
    if not isinstance(key, tuple) or key[0] not in ("read", "write"):
        return False
    return not isinstance(region.region.args[key[1]].type, TokenType)
