"""Float values that the addition of a zero leaves as they are, bit by bit."""

import math

from ...ir import Attr, Op, Value, has
from ...ir.rewrite import constant

__all__ = ["is_canonical"]

#: the smallest positive normal number by width
_LEAST_NORMAL = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}


def is_canonical(value: Value, flush: bool, loops: dict[Value, Op], seen: set[Value] | None = None) -> bool:
    """Whether ``value`` is never a NaN other than the one that arithmetic produces, nor, with ``flush``, a subnormal
    number: so it equals its sum with -0.0, or its difference with +0.0.

    Numbers in memory and arguments may be any. ``loops`` has the loop of each carried value, which is canonical if its
    first value is, and its next one, given that it is.
    """
    seen = seen if seen is not None else set()
    if value in seen:
        return True
    seen.add(value)
    if value in loops:
        loop, k = loops[value], value.index
        sources = [loop.operands[1 + k], loop.regions[0].terminator.operands[1 + k]]
    elif value.op is None:
        return False
    elif value.op.opcode == "const":
        number = constant(value)
        return not math.isnan(number) and not (flush and 0 < abs(number) < _LEAST_NORMAL[value.type.bits])
    elif value.op.opcode == "select":
        sources = value.op.operands[1:]
    elif value.op.opcode == "loop":
        k = value.op.results.index(value)
        sources = [value.op.operands[1 + k], value.op.regions[0].terminator.operands[1 + k]]
    else:
        return has(value.op, "flushes") and (not flush or bool(value.op.attrs.get(Attr.FLUSH_DENORMALS)))
    return all(is_canonical(source, flush, loops, seen) for source in sources)
