"""Producers and consumers of a memory token: the accesses themselves, also if they are in inner loops."""

from ..analysis.channels.endpoints import is_call
from ..ir import Op, Region, TokenType, Value, is_access, memory_name, walk
from ..ir.accesses import reaches_memory

__all__ = ["giver", "taker", "waited_for"]


def taker(region: Region, token: Value) -> Op | None:
    """The first access or call in the region, or in its inner loops, that consumes the token; None if nothing does."""
    for op in region.ops:
        if token in op.operands:
            found = _taken_by(op, token, region)
        else:
            found = next((inner for part in op.regions if (inner := taker(part, token)) is not None), None)
        if found is not None:
            return found
    return None


def _taken_by(op: Op, token: Value, region: Region) -> Op | None:
    if reaches_memory(op) or is_call(op):
        return op
    if op.opcode == "loop":
        (body,) = op.regions
        inside = [body.args[k] for k, value in enumerate(op.operands[1:]) if value is token]
        return next((found for arg in inside if (found := taker(body, arg)) is not None), None)
    if op.opcode in ("fence", "token", "hazard"):
        return next((found for result in op.results if (found := taker(region, result)) is not None), None)
    return None


def giver(token: Value) -> Op | None:
    """The access, or call, that produces the token; None if it comes from before the region."""
    op = token.op
    if op is None or reaches_memory(op) or is_call(op):
        return op
    if op.opcode == "loop":
        (body,) = op.regions  # passes on its initial token if only its end is waited for
        return giver(body.terminator.operands[1 + token.index]) or taker(body, body.args[token.index])
    given = [value for value in op.operands if isinstance(value.type, TokenType)]  # not the condition of a fence
    return next((found for value in given if (found := giver(value)) is not None), None)


def waited_for(token: Value, memory: str) -> Op | None:
    """The access, or call, that the token stands for: the one that produces it, or else, where the token is that of a
    loop's end, an access of the loop to ``memory``. Loads that only have to be over before a later store take no token
    themselves."""
    return giver(token) or _in_ended_loop(token, memory)


def _in_ended_loop(token: Value, memory: str) -> Op | None:
    op = token.op
    if op is None:
        return None
    if op.opcode == "loop":
        return next((one for one in walk(op.regions[0]) if is_access(one) and memory_name(one) == memory), None)
    given = (value for value in op.operands if isinstance(value.type, TokenType))
    return next((found for value in given if (found := _in_ended_loop(value, memory)) is not None), None)
