"""The words of an account, the same in counters, profiles and estimates."""

from ...ir import Attr, Op

__all__ = ["NOT_PIPELINED", "awaited_access", "awaited_stores", "recurrence", "unacknowledged"]

NOT_PIPELINED = f" is not pipelined ({Attr.DISABLE_LOOP_PIPELINING})"


def awaited_access(direction: str, memory: str) -> str:
    """What is waited for at a load or an atomic operation."""
    return f"{'load of' if direction == 'load' else 'an atomic operation on'} {memory}"


def unacknowledged(memory: str) -> str:
    """The account of stores that were made and are not in memory."""
    return f"store to {memory} not yet in memory"


def awaited_stores(hazard: Op) -> str:
    """What a comparison of addresses with those of earlier stores waits for."""
    memory = hazard.attrs[Attr.MEM]
    if hazard.attrs.get(Attr.FINDS):
        return f"room among the stores to {memory} in flight"
    if hazard.attrs.get(Attr.UNTIL_PUSHED):
        return f"the value of an earlier store to {memory} to the same address"
    return f"earlier stores to {memory} that may be to the same address"


def recurrence(loop: Op | None, name: str) -> str:
    """The account of iterations that wait for values of those before."""
    paused = loop is not None and loop.attrs.get(Attr.DISABLE_LOOP_PIPELINING)
    return f"recurrence of loop {name}{NOT_PIPELINED if paused else ''}"
