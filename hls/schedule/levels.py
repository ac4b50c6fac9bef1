"""Which level of its region each operation belongs to (DESIGN: the hardware model).

level(op) is the largest level of its operands; the result of a variable-latency operation is one level later. A carried
value is read in the first level that uses it, but never later than the level that writes it: behind that, the next
token would already have overwritten it.
"""

from dataclasses import dataclass

from ..ir import Op, Region, Value, has

__all__ = ["Levels", "assign_levels", "is_variable", "join_values", "offers_response"]


def is_variable(op: Op) -> bool:
    """Whether the operation takes a number of cycles nobody knows beforehand."""
    return has(op, "memory") or has(op, "region") or has(op, "wait")


def offers_response(op: Op) -> bool:
    """Whether the operation answers at all (a posted store does not)."""
    return is_variable(op) and not (op.opcode == "store")


def join_values(op: Op) -> list[Value]:
    """What the level behind a variable-latency operation needs to know of the request: whether it was made, and what the
    results are where it was not."""
    if op.opcode == "loop":
        return list(op.operands)
    return [op.operands[1]] if op.opcode == "load" else []


@dataclass(frozen=True)
class Levels:
    """Levels of a region's operations and values, and of the reads and writes of its carried values."""

    count: int
    op: dict[Op, int]
    value: dict[Value, int]
    read: tuple[int, ...]
    write: tuple[int, ...]
    decide: int


def assign_levels(region: Region, static: frozenset[Op]) -> Levels:
    """Levels for one region. ``static`` operations are everywhere available and get none."""
    ops = {}
    values = {}
    body = [op for op in region.ops if not has(op, "terminator") and op not in static]
    for op in body:
        ops[op] = max((values.get(v, 0) for v in op.operands), default=0)
        for result in op.results:
            values[result] = ops[op] + is_variable(op)
    yielded = region.terminator.operands
    nexts = yielded[1:] if region.terminator.opcode == "yield" else []
    decide = values.get(yielded[0], 0) if region.terminator.opcode == "yield" else 0
    read = _read_levels(region, ops, values, nexts)
    for arg, level in zip(region.args, read, strict=True):
        values[arg] = level
    write = tuple(max(values.get(v, 0), r) for v, r in zip(nexts, read, strict=True))
    joined = [level + 1 for op, level in ops.items() if offers_response(op)]
    return Levels(1 + max([0, *ops.values(), *joined]), ops, values, read, write, decide)


def _read_levels(region, ops, values, nexts) -> tuple[int, ...]:
    """The fixed point of: read no later than the first user, and no later than the value's own definition."""
    far = 1 << 30
    used = {arg: far for arg in region.args}
    for op, level in ops.items():
        for v in [*op.operands]:
            if v in used:
                used[v] = min(used[v], level)
    if region.terminator.opcode == "yield" and region.terminator.operands[0] in used:
        used[region.terminator.operands[0]] = 0
    changed = True
    while changed:
        changed = False
        for arg, value in zip(region.args, nexts, strict=True):
            defined = used[value] if value in used else values.get(value, far)
            if defined < used[arg]:
                used[arg], changed = defined, True
    return tuple(0 if used[arg] == far else used[arg] for arg in region.args)
