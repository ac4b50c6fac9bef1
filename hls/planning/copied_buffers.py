"""Buffers in external memory that a kernel waits for, and that it may work on copies of in on-chip memory."""

from ..analysis.loops.sccs import components
from ..ir import Function, Op, Value, is_access, memory_name, walk
from .schedule import KernelPlan
from .schedule.array_bottleneck import LEAST_COMPARED, waited_for
from .schedule.interleaving import together
from .schedule.nest_time import nest_time

__all__ = ["buffers_to_copy", "gains_by_copies"]


def buffers_to_copy(function: Function, plan: KernelPlan) -> frozenset[str]:
    """The names of buffers in external memory because of which iterations of a loop start several cycles apart: those
    that it loads and stores, and those with a load whose address waits for what it loads. Where there are any, also
    those at addresses that a loop computes from what it loads from these, as all are on the way from one iteration to
    the next."""
    found = set(waited_for(function, plan))
    turns = together(plan)
    for loop, region in plan.loops.items():
        if region.ii >= LEAST_COMPARED * turns[loop]:
            late = components(loop.regions[0])
            loads = [op for op in loop.regions[0].ops if op.opcode == "load" and op.operands[0] in late]
            found.update(memory_name(op) for op in loads if late.get(op.results[0]) == late[op.operands[0]])
    found = {name for name in found if not function.memories[name].onchip}
    return frozenset(_with_behind(function, found)) if found else frozenset()


def _with_behind(function: Function, names: set[str]) -> set[str]:
    """The names, and those of buffers with a load at an address that is computed from what is loaded from them."""
    found, before = set(names), 0
    while len(found) != before:
        before = len(found)
        late: set[Value] = set()
        for op in walk(function.body):
            if op.opcode == "load" and memory_name(op) in found or _reads(op, late):
                late.update(op.results)
                if op.opcode == "loop":
                    late.update(_carried(op, late))
        found.update(
            memory_name(op)
            for op in walk(function.body)
            if op.opcode == "load" and op.operands[0] in late and not function.memories[memory_name(op)].onchip
        )
    return found


def _reads(op: Op, late: set[Value]) -> bool:
    return not is_access(op) and not late.isdisjoint(op.operands) or op.opcode == "load" and op.operands[0] in late


def _carried(loop: Op, late: set[Value]) -> list[Value]:
    """The arguments of a loop that begin with a late value."""
    return [arg for arg, init in zip(loop.regions[0].args, loop.operands[1:], strict=True) if init in late]


def gains_by_copies(plan: KernelPlan, before: KernelPlan) -> bool:
    """Whether the body that works on copies takes less time, with the loops that copy, than the kernel did ``before``,
    which the plan has beside it."""
    return nest_time(plan) < 2 * nest_time(before)
