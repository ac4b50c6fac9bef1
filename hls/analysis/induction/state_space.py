"""Trip-count bound by state space: the number of states of the carried values that decide the exit."""

from ...ir import Op, Value, walk
from ..loops.loop_tree import Loop
from .trip_count import leaves

__all__ = ["most_iterations"]


def most_iterations(loop: Op) -> int | None:
    """A bound on the iterations of one invocation that ends; None if its end depends on memory, a channel or an inner
    loop.

    If the exit depends on carried values alone, the loop never ends once these have been in the same state twice, so it
    has at most as many iterations as they have states.
    """
    known = Loop(loop, None).most_trips
    if known is not None:
        return known
    bits = _deciding_bits(loop)
    return None if bits is None else 1 << bits


def _deciding_bits(loop: Op) -> int | None:
    """The total bits of all carried values that the condition depends on, directly or through others."""
    (body,) = loop.regions
    inside = set(walk(body))
    found: set[Value] = set()
    work = [body.terminator.operands[0]]
    while work:
        for leaf in leaves(work.pop()):
            if leaf.owner is body:
                if leaf not in found:
                    found.add(leaf)
                    work.append(body.terminator.operands[1 + leaf.index])
            elif leaf.op in inside and leaf.op.opcode != "const":
                return None
    return sum(arg.type.bits for arg in found)
