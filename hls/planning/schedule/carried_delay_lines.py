"""Carried values that only move on: what was computed some iterations ago, as in a shift register.

``a`` with next value ``b``, ``b`` with ``c``, and ``c`` with something computed: that is the value of one, two and
three iterations ago. As registers of their own they move in the cycle in which an iteration reads the one before, so
that each takes a cycle of an iteration and the recurrence through all of them gains nothing. As a history of the
computed value a tap may read it as soon as it is there.
"""

from collections.abc import Mapping

from ...ir import Op, Region, TokenType, Value
from .levels import Levels

__all__ = ["histories"]


def histories(
    region: Region, loop: Op, levels: Levels, fixed: frozenset[Value], repeated: bool
) -> dict[int, tuple[int, int]]:
    """For carried values by index: the index of the one that is computed, and how many iterations ago that was.

    Only chains of two and more that are read and written in one level. Initial values must be the same in every
    invocation, if the loop is entered more than once: those of the next are asked for while the last still runs.
    """
    index = {arg: k for k, arg in enumerate(region.args)}
    before = [index.get(value) for value in region.terminator.operands[1:]]
    behind: dict[int, int] = {}
    for k, source in enumerate(before):
        if source is not None and source != k:
            behind.setdefault(source, k)  # a second one that moves on from the same place keeps a register of its own
    found = {}
    for root in (k for k, source in enumerate(before) if source is None and k in behind):
        chain = _chain(root, behind)
        if _suits(chain, region, loop, levels, fixed, repeated):
            found |= {k: (root, steps + 1) for steps, k in enumerate(chain)}
    return found


def _chain(root: int, behind: Mapping[int, int]) -> list[int]:
    chain = [root]
    while chain[-1] in behind:
        chain.append(behind[chain[-1]])
    return chain


def _suits(chain, region, loop, levels, fixed, repeated) -> bool:
    types = {region.args[k].type for k in chain}
    places = {(levels.read[k], levels.write[k]) for k in chain}
    start = [loop.operands[1 + k] for k in chain]
    here = all(read == write for read, write in places) and len(places) == 1
    known = not repeated or all(value in fixed for value in start)
    return here and known and len(types) == 1 and not isinstance(region.args[chain[0]].type, TokenType)
