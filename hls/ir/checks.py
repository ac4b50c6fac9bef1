"""Which early loads a `check` is about."""

from .build import walk
from .nodes import Function, Op, Region, Value
from .types import BOOL

__all__ = ["checked_loads"]


def checked_loads(function: Function) -> dict[Op, list[Op]]:
    """For each `check` of the function, the loads whose failure it reports, in program order: the one that it names, or
    all from which its flag may come, through ``failed`` and what carries that."""
    checks = [op for op in walk(function.body) if op.opcode == "check"]
    if not checks:
        return {}
    order = {op: place for place, op in enumerate(walk(function.body))}
    holders = {region: op for op in order for region in op.regions}
    return {op: sorted(_loads(op.operands[0], holders), key=order.__getitem__) for op in checks}


def _loads(checked: Value, holders: dict[Region, Op]) -> set[Op]:
    if checked.op is not None and checked.op.opcode == "load":
        return {checked.op}
    found: set[Op] = set()
    work, seen = [checked], {checked}
    while work:
        value = work.pop()
        if value.op is not None and value.op.opcode == "failed":
            found.add(value.op.operands[0].defining_op)
            continue
        for source in _sources(value, holders):
            if source.type == BOOL and source not in seen:
                seen.add(source)
                work.append(source)
    return found


def _sources(value: Value, holders: dict[Region, Op]) -> list[Value]:
    """The values from which a flag may be taken over."""
    op = value.op
    if op is None:
        loop = holders.get(value.owner) if isinstance(value.owner, Region) else None
        if loop is None or loop.opcode != "loop":
            return []
        return [loop.operands[1 + value.index], loop.regions[0].terminator.operands[1 + value.index]]
    if op.opcode == "select":
        return op.operands[1:]
    if op.regions:
        first = [op.operands[1 + value.index]] if op.opcode == "loop" else []
        return first + [region.terminator.operands[value.index + (op.opcode == "loop")] for region in op.regions]
    return op.operands if op.opcode != "load" else []
