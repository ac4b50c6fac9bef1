"""The schedule of a kernel for the report: every operation with its place, and what it waits for."""

from collections.abc import Mapping

from ..ir import MemoryObject, Op, TokenType, Value
from ..planning.compilation import CompiledKernel
from ..planning.schedule import RegionPlan
from .identity import LoopIds
from .model import Edge, Level, Operation, RegionSchedule, Stage, Variable
from .phrasing import say_operation, variable

__all__ = ["collect_schedule", "collect_variables", "level_starts"]


def collect_schedule(
    kernel: CompiledKernel,
    loops: LoopIds,
    accesses: Mapping[Op, str],
    memories: Mapping[str, MemoryObject],
    memory_latency: int,
) -> tuple[RegionSchedule, ...]:
    """The kernel's top and then its loops; of copies of a loop the slowest."""
    chosen: dict[str, RegionPlan] = {}
    for loop, plan in kernel.plan.loops.items():
        id = loops.ids.get(loop)
        if id is not None and (id not in chosen or chosen[id].ii < plan.ii):
            chosen[id] = plan
    region = _Schedules(kernel, loops, accesses, memories, memory_latency)
    return region.of("", kernel.plan.top), *(region.of(id, plan) for id, plan in chosen.items())


class _Schedules:
    def __init__(self, kernel: CompiledKernel, loops: LoopIds, accesses, memories, memory_latency: int) -> None:
        self.kernel, self.loops, self.accesses = kernel, loops, accesses
        self.memories, self.memory_latency = memories, memory_latency

    def of(self, id: str, plan: RegionPlan) -> RegionSchedule:
        """The schedule of one region."""
        placed = [(op, point) for op, point in plan.place.items() if op.opcode != "const"]
        number = {op: k for k, (op, _) in enumerate(sorted(placed, key=lambda item: item[1]))}
        waiting = {row.op for level in plan.levels for row in level.row}
        operations = tuple(self._operation(op, k, plan, op in waiting) for op, k in number.items())
        return RegionSchedule(
            loop=id,
            ii=plan.ii,
            slots=plan.slots,
            latency=plan.latency,
            levels=self._levels(plan, number),
            operations=operations,
            edges=tuple(dict.fromkeys(self._edges(plan, number))),
            decide=Stage(plan.decide.level, plan.decide.stage),
            critical=_critical(plan, number),
        )

    def _operation(self, op: Op, number: int, plan: RegionPlan, variable_latency: bool) -> Operation:
        choice = self.kernel.plan.parts.get(op)
        return Operation(
            id=number,
            words=say_operation(op, self.memories),
            span=op.span,
            level=plan.place[op].level,
            stage=plan.place[op].stage,
            latency=_latency(self.kernel, op, self.memory_latency),
            part=choice.part.__name__ if choice is not None else "",
            variable=variable_latency,
            loop=self.loops.ids.get(op, "") if op.opcode == "loop" else "",
            access=self.accesses.get(op, ""),
        )

    def _levels(self, plan: RegionPlan, number: Mapping[Op, int]) -> tuple[Level, ...]:
        starts = level_starts(self.kernel, plan, self.memory_latency)
        return tuple(
            Level(level.index, level.depth, start, level.elastic, tuple(number[row.op] for row in level.row))
            for level, start in zip(plan.levels, starts, strict=True)
        )

    def _edges(self, plan: RegionPlan, number: Mapping[Op, int]):
        carried = {c.arg: c for c in plan.carried}
        for op, target in number.items():
            for value in op.operands:
                kind = "token" if isinstance(value.type, TokenType) else "data"
                if value.op is not None and value.op in number:
                    yield Edge(number[value.op], target, kind)
                elif value in carried and (source := _producer(carried[value].next)) is not None and source in number:
                    yield Edge(
                        number[source], target, "token" if kind == "token" else "carried", carried[value].distance
                    )


def level_starts(kernel: CompiledKernel, plan: RegionPlan, memory_latency: int) -> list[int]:
    """The cycle in which a token enters each level if nothing stalls, counted from its issue."""
    found, start = [], 0
    for level in plan.levels:
        found.append(start)
        start += level.depth + max(
            (_latency(kernel, row.op, memory_latency) for row in level.row if row.joins), default=0
        )
    return found


def _latency(kernel: CompiledKernel, op: Op, memory_latency: int) -> int:
    if op in kernel.plan.loops:
        return kernel.plan.loops[op].latency
    if op in kernel.memory.accesses:
        fixed = kernel.memory.accesses[op].latency
        waits = op.opcode in ("load", "atomic")
        return fixed if fixed is not None else memory_latency if waits else 0
    return kernel.plan.latency.get(op, 0)


def _producer(value: Value) -> Op | None:
    return value.op


def _critical(plan: RegionPlan, number: Mapping[Op, int]) -> tuple[int, ...]:
    """The operations on the recurrence that limits the II."""
    steps = plan.bottleneck.steps if plan.bottleneck is not None else ()
    return tuple(dict.fromkeys(number[step.src] for step in steps if isinstance(step.src, Op) and step.src in number))


def collect_variables(
    kernel: CompiledKernel, loops: LoopIds, memories: Mapping[str, MemoryObject]
) -> tuple[Variable, ...]:
    """The scalar variables of the source that loops carry, in program order; of copies of a loop the first."""
    found: dict[tuple[str, str], Variable] = {}
    for loop, plan in kernel.plan.loops.items():
        for c in plan.carried:
            name = variable(c.arg, memories)
            if c.root is not None or isinstance(c.arg.type, TokenType) or loop not in loops.ids or not name:
                continue
            if "[" in name or (name, loops.ids[loop]) in found:
                continue
            declared = memories.get(c.arg.name) or memories.get(c.arg.name.rpartition(".")[0])
            if declared is None:  # the compiler's own, such as the counters of a launch
                continue
            found[name, loops.ids[loop]] = Variable(name, declared.span, c.arg.type.bits, loops.ids[loop], plan.slots)
    return tuple(found.values())
