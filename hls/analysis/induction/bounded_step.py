"""Monotonic variables with bounded step: ``w`` in ``if (keep[i]) a[w++] = a[i];`` never exceeds ``i``."""

from collections.abc import Mapping

from ...ir import IntType, Value
from ...ir.rewrite import constant
from ...ir.values import signed
from ..bits.ranges import Range
from ..loops.loop_tree import Loop

__all__ = ["pace"]

#: most selects and sums between a value and its next value
MOST_STEPS = 32


def pace(arg: Value, loop: Loop, ranges: Mapping[Value, Range]) -> tuple[int, int] | None:
    """The least and the greatest increase of a signed carried value in each iteration; None if unknown.

    Only for values of 32 bits or more, whose overflow C leaves undefined.
    """
    if not isinstance(arg.type, IntType) or arg.type.bits < 32:
        return None
    return _grown(arg, loop.following(arg), ranges, MOST_STEPS)


def _grown(start: Value, value: Value, ranges: Mapping[Value, Range], left: int) -> tuple[int, int] | None:
    if value is start:
        return 0, 0
    op = value.op
    if op is None or left == 0 or op.opcode not in ("add", "select"):
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
    narrow = value.op is not None and value.op.opcode == "zext"
    return (ranges[value].umin, ranges[value].umax) if narrow else None
