"""Producers and consumers of a memory token: the accesses themselves, also if they are in inner loops."""

from collections.abc import Iterator

from ..analysis.channels.endpoints import is_call
from ..ir import Op, Region, TokenType, Value, is_access, memory_name, walk
from ..ir.accesses import reaches_memory

__all__ = ["taker", "waited_for"]


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


def waited_for(token: Value, memory: str, held: Op | None) -> Op | None:
    """The access, or call, that ``held`` waits for by this token: one that produces it, or else, where the token is
    that of a loop's end, an access of the loop to ``memory``. Loads that only have to be over before a later store
    take no token themselves. Of several, one that conflicts with ``held``: a load does not wait for another load, but
    for a store whose token that load passes on or is joined with."""
    found = list(_givers(token, set()))
    found += () if any(_conflict(one, held) for one in found) else _in_ended_loops(token, memory)
    return next((one for one in found if _conflict(one, held)), found[0] if found else None)


def _conflict(gave: Op, held: Op | None) -> bool:
    return held is None or not (gave.opcode == held.opcode == "load")


def _givers(token: Value, seen: set[Value]) -> Iterator[Op]:
    """The accesses and calls that produce the token, but those of tokens ``seen`` before; none if it comes from before
    the region."""
    op = token.op
    if op is None or token in seen:
        return
    seen.add(token)
    if reaches_memory(op) or is_call(op):
        yield op
        if op.opcode != "load":
            return
    if op.opcode == "loop":
        (body,) = op.regions  # passes on its initial token if only its end is waited for
        yield from _givers(body.terminator.operands[1 + token.index], seen)
        first = taker(body, body.args[token.index])
        yield from () if first is None else (first,)
        return
    for value in op.operands:
        if isinstance(value.type, TokenType) or op.opcode == "token":
            yield from _givers(value, seen)


def _in_ended_loops(token: Value, memory: str) -> Iterator[Op]:
    op = token.op
    if op is None:
        return
    if op.opcode == "loop":
        yield from (one for one in walk(op.regions[0]) if is_access(one) and memory_name(one) == memory)
        return
    for value in op.operands:
        if isinstance(value.type, TokenType):
            yield from _in_ended_loops(value, memory)
