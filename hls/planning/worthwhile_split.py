"""Whether a memory part and a compute part may be faster than the kernel whole, before they are planned."""

from collections.abc import Hashable
from dataclasses import replace

from ..analysis.loops.forward_slice import computed_from
from ..ir import Attr, InterleaveReason, Op, TokenType, Value, has, memory_name, walk
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
    """The loops whose invocations wait for each other in the kernel as a whole, and in any part that has the recurrence
    which limits them: it needs the recurrence's own result, or arrays of the kernel, which each part has for itself.
    None where the kernel loads from a buffer that it also stores to: it might wait for that."""
    outside = [(op.opcode, memory_name(op)) for op in kernel.memory.outside]
    loaded, stored = ({name for opcode, name in outside if (opcode == "load") is loads} for loads in (True, False))
    if loaded & stored:
        return set()
    waiting = {loop for loop in kernel.plan.loops if loop.attrs.get(Attr.INTERLEAVE) is False}
    around = {inner: loop for loop in kernel.plan.loops for inner in loop.regions[0].ops if inner in waiting}
    return {loop for loop, outer in around.items() if _waits_for_recurrence(loop, outer, kernel.plan.loops[loop])}


def _waits_for_recurrence(loop: Op, outer: Op, region: RegionPlan) -> bool:
    """Whether what holds up the next invocation of a loop depends on the recurrence that limits it."""
    cycle = _values_of(region)
    held_up = _reached(loop, cycle)
    reason = loop.attrs.get(Attr.INTERLEAVE_REASON)
    if loop.regions[0].terminator.operands[0] in held_up:  # each part that has the loop has the recurrence
        return reason in (None, InterleaveReason.AWAITED)
    if reason is None:  # for the order of accesses, to arrays here
        stores = [op for op in walk(loop.regions[0]) if op.opcode == "store" and not held_up.isdisjoint(op.operands)]
        names = {memory_name(op) for op in stores}
        loads = [op for op in walk(loop.regions[0]) if op.opcode == "load" and memory_name(op) in names]
        return not cycle.isdisjoint(_reached(loop, {op.result for op in loads}))
    if reason != InterleaveReason.AWAITED:
        return False
    (body,) = outer.regions
    results = {a for a, b in zip(loop.results, loop.regions[0].terminator.operands[1:], strict=True) if b in held_up}
    given = computed_from(body, results)
    again, *nexts = body.terminator.operands
    carried = {arg for arg, value in zip(body.args, nexts, strict=True) if value in given}
    return again in given or not cycle.isdisjoint(_reached(loop, computed_from(body, carried)))


def _values_of(region: RegionPlan) -> set[Value]:
    """The values on the recurrence that limits a loop."""
    steps = region.bottleneck.steps if region.bottleneck is not None else ()
    found = {value for step in steps if isinstance(step.src, Op) for value in step.src.results}
    return found | {region.region.args[step.src[1]] for step in steps if isinstance(step.src, tuple)}


def _reached(loop: Op, values: set[Value]) -> set[Value]:
    """The values, and everything that a loop computes from them, in any iteration."""
    (body,) = loop.regions
    nexts, found, before = body.terminator.operands[1:], set(values), -1
    enters = loop.operands[0] in values
    while before != len(found):
        before = len(found)
        for arg, init, value in zip(body.args, loop.operands[1:], nexts, strict=True):
            if enters or init in found or value in found:
                found.add(arg)
        found = computed_from(body, found)
    return found


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
