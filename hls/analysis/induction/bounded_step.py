"""Monotonic variables with bounded step: ``w`` in ``if (keep[i]) a[w++] = a[i];`` never exceeds ``i``."""

from collections.abc import Collection, Mapping

from ...ir import Attr, IntType, Op, Value
from ...ir.rewrite import constant
from ...ir.values import signed
from ..bits.ranges import Range
from ..loops.loop_tree import Loop
from ..loops.sccs import components

__all__ = ["moves_on", "multiple", "pace"]

#: most selects and sums between a value and its next value
MOST_STEPS = 32
#: operations that make a multiple of a carried value, apart from what does not change, of another one
_LINEAR = frozenset({"add", "ptradd", "addr", "shl", "mul", "sext", "zext", "trunc"})


def pace(arg: Value, loop: Loop, ranges: Mapping[Value, Range]) -> tuple[int, int] | None:
    """The least and the greatest increase of a signed carried value in each iteration; None if unknown.

    Only for values of 32 bits or more, whose overflow C leaves undefined.
    """
    if not isinstance(arg.type, IntType) or arg.type.bits < 32:
        return None
    return _grown(arg, loop.following(arg), ranges, MOST_STEPS)


def moves_on(load: Op, loop: Op) -> int:
    """The bytes by which the address of a load in a loop moves on in an iteration at most, where what it loads decides
    by how many, and it never moves back; 0 elsewhere. For choices that affect no result: counters do not wrap."""
    (body,) = loop.regions
    late = components(body)
    moved = multiple(load.operands[0], set(body.args))
    if moved is None or load.result not in late:
        return 0
    arg, factor = moved
    found = _grown(arg, body.terminator.operands[1 + arg.index], {}, MOST_STEPS)
    if found is None or late.get(arg) != late[load.result] or found[0] * factor < 0 or found[0] == found[1]:
        return 0
    return found[1] * factor


def multiple(value: Value, carried: Collection[Value]) -> tuple[Value, int] | None:
    """The one carried value that a value is a multiple of, apart from what the loop does not change, and the factor."""
    if value in carried:
        return value, 1
    op = value.op
    if op is None or op.opcode not in _LINEAR:
        return None
    moving = [part for part in (multiple(operand, carried) for operand in op.operands) if part is not None]
    if len(moving) != 1:
        return None
    if op.opcode not in ("mul", "shl"):
        return moving[0]
    (arg, factor), number = moving[0], constant(op.operands[1])
    if number is None:
        return None
    return arg, factor * (signed(number, op.result.type.bits) if op.opcode == "mul" else 1 << number)


def _grown(start: Value, value: Value, ranges: Mapping[Value, Range], left: int) -> tuple[int, int] | None:
    if value is start:
        return 0, 0
    op = value.op
    if op is None or left == 0 or op.opcode not in ("add", "select") or Attr.WRAPS in op.attrs:
        return None
    if op.opcode == "select":
        arms = [_grown(start, arm, ranges, left // 2) for arm in op.operands[1:]]
        known = [arm for arm in arms if arm is not None]
        return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(arms) else None
    for before, more in (op.operands, op.operands[::-1]):
        found, step = _grown(start, before, ranges, left - 1), _step(more, ranges)
        if found and step:
            return found[0] + step[0], found[1] + step[1]
    return None


def _step(value: Value, ranges: Mapping[Value, Range]) -> tuple[int, int] | None:
    """The range of an increment: a constant, or a zero-extended narrower value."""
    number = constant(value)
    if number is not None:
        return (signed(number, value.type.bits),) * 2
    if value.op is None or value.op.opcode != "zext":
        return None
    if value in ranges:
        return ranges[value].umin, ranges[value].umax
    return 0, (1 << value.op.operands[0].type.bits) - 1
