"""Whether a memory part and a compute part may be faster than the kernel whole, before they are planned."""

from collections.abc import Hashable
from dataclasses import replace

from ..ir import Attr, InterleaveReason, Op, TokenType, has, memory_name
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
    too, and so does a loop inside whose invocations wait for each other in every part (:func:`_awaited`). Those of
    other loops inside may take turns in a part that they did not take before.
    """
    plan, serial = kernel.plan, _awaited(kernel)
    turns = together(plan)
    inside = {inner for loop in plan.loops for inner in loop.regions[0].ops if inner in plan.loops}
    loops = {
        loop: region
        if (loop not in inside or loop in serial) and _is_carried_by_logic(region)
        else replace(region, ii=turns[loop], cause="schedule")
        for loop, region in plan.loops.items()
    }
    return nest_time(replace(plan, loops=loops))


def _awaited(kernel: CompiledKernel) -> set[Op]:
    """The loops whose invocations wait for each other in the kernel as a whole, and in any part that has them: for
    results, or for arrays of the kernel, which each part has for itself. None where the kernel loads from a buffer
    that it also stores to: it might wait for that."""
    outside = [(op.opcode, memory_name(op)) for op in kernel.memory.outside]
    loaded, stored = ({name for opcode, name in outside if (opcode == "load") is loads} for loads in (True, False))
    if loaded & stored:
        return set()
    waiting = (loop for loop in kernel.plan.loops if loop.attrs.get(Attr.INTERLEAVE) is False)
    # without a reason: for the order of accesses, to arrays here
    return {loop for loop in waiting if loop.attrs.get(Attr.INTERLEAVE_REASON) in (None, InterleaveReason.AWAITED)}


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
