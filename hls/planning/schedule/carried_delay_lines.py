"""Carried values that only move on, as in a shift register: what was computed some iterations ago.

If the next value of ``a`` is ``b``, that of ``b`` is ``c``, and that of ``c`` is computed, then ``c``, ``b`` and ``a``
hold the value of one, two and three iterations ago. With a state register for each, a value moves one register on per
iteration, so each register adds a cycle to the recurrence and the distance gained by the chain is lost. With a delay
line (history) of the computed value, a tap can be read as soon as the value exists.
"""

from collections.abc import Mapping

from ...ir import Op, Region, TokenType, Value
from .levels import Levels
from .queues import may_take_turns

__all__ = ["histories"]


def histories(
    region: Region, loop: Op, levels: Levels, fixed: frozenset[Value], repeated: bool
) -> dict[int, tuple[int, int]]:
    """For each such carried value, by index: the index of the computed one, and how many iterations ago that was.

    Only chains of two or more values that are read and written in one level qualify. Where invocations are
    interleaved, their initial values must be the same in every one: each token would have to bring its own, which is
    worth its registers only in loops that one invocation after the other enters.
    """
    index = {arg: k for k, arg in enumerate(region.args)}
    before = [index.get(value) for value in region.terminator.operands[1:]]
    behind: dict[int, int] = {}
    for k, source in enumerate(before):
        if source is not None and source != k:
            behind.setdefault(source, k)  # a second value that moves on from the same one keeps a register of its own
    found: dict[int, tuple[int, int]] = {}
    for root in (k for k, source in enumerate(before) if source is None and k in behind):
        chain = _chain(root, behind)
        # the rest may be a delay line where the first of them begins with something else
        while len(chain) > 1 and not _suits(chain, region, loop, levels, fixed, repeated):
            chain = chain[1:]
        if len(chain) > 1:
            found |= {k: (chain[0], steps + 1) for steps, k in enumerate(chain)}
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
    known = not may_take_turns(loop, repeated) or all(value in fixed for value in start)
    return here and known and len(types) == 1 and not isinstance(region.args[chain[0]].type, TokenType)
