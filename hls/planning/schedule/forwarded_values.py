"""Carried values that an iteration reads without a choice in front of the register, or past it.

In a loop that a run enters once, and without issuing ahead, the register of a carried value that begins with a constant
has that when the run begins: its reader need not select between initial value and register.

A state register between two iterations costs a recurrence one cycle. Where an operation with registers inside computes
the next value, as a load from a block RAM or a floating-point sum, the value comes from a register already, with a
part of the cycle left. So the next iteration may read it in that cycle: the state register keeps it for a token that
comes later. ``state = table[state]`` then takes the cycle of the RAM alone.
"""

from ...ir import Op, Region, TokenType, Value
from ...ir.rewrite import is_constant
from .levels import Levels
from .timing import OperatorTiming

__all__ = ["forwarded_values", "preset_values"]

_WIRES = frozenset({"trunc", "zext", "sext", "bitcast"})


def forwarded_values(region: Region, levels: Levels, timing: OperatorTiming) -> dict[int, Op]:
    """For each carried value that may be read so, by index: the operation whose result it is, which is in the level
    that reads and writes the value."""
    found: dict[int, Op] = {}
    if levels.ring or region.terminator.opcode != "yield":
        return found
    for c, (arg, following) in enumerate(zip(region.args, region.terminator.operands[1:], strict=True)):
        level, op = levels.write[c], _source(following)
        if levels.read[c] != level or isinstance(arg.type, TokenType) or op is None:
            continue
        here = levels.op.get(op) == level and op not in levels.variable and timing.latency(op)
        if here and not timing.exceeds(timing.carried(forwards=op)):
            found[c] = op
    return found


def preset_values(loop: Op | None, repeated: bool, speculative: bool) -> frozenset[int]:
    """The carried values, by index, whose register has the initial value when a run begins. None where a run may enter
    the loop again, or where tokens issued ahead write registers after its end."""
    if loop is None or repeated or speculative:
        return frozenset()
    return frozenset(c for c, initial in enumerate(loop.operands[1:]) if is_constant(initial))


def _source(value: Value) -> Op | None:
    """The operation that computes a value, wires aside."""
    while value.op is not None and value.op.opcode in _WIRES:
        value = value.op.operands[0]
    return value.op
