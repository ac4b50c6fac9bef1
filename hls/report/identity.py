"""Names that identify the parts of a report; they stay the same where lines are added to the source or removed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from ..ir import Op
from .facts.loops import Loop

__all__ = ["LoopIds", "numbered"]


def numbered(stems: Iterable[str]) -> list[str]:
    """Each stem, with ``#2``, ``#3`` and so on behind repeated ones."""
    seen: Counter[str] = Counter()
    found = []
    for stem in stems:
        seen[stem] += 1
        found.append(stem if seen[stem] == 1 else f"{stem}#{seen[stem]}")
    return found


@dataclass(frozen=True)
class LoopIds:
    """The loops of a kernel with their ids, and the id for each loop in hardware."""

    loops: tuple[Loop, ...]
    ids: dict[Op, str]

    @cached_property
    def by_id(self) -> dict[str, Loop]:
        """Every loop, inner ones included."""
        found, left = {}, list(self.loops)
        while left:
            loop = left.pop()
            found[loop.id] = loop
            left += loop.children
        return found

    @classmethod
    def of(cls, loops: tuple[Loop, ...], kernel: str, members: dict[str, Iterable[Op]]) -> "LoopIds":
        """``members``: the loops in hardware by the provisional id of their entry."""
        ids: dict[Op, str] = {}
        return cls(_identified(loops, kernel, members, ids), ids)


def _identified(loops: tuple[Loop, ...], around: str, members: dict, ids: dict[Op, str]) -> tuple[Loop, ...]:
    # "@line" of a label would change with the lines
    names = numbered(f"{around}/{loop.label.partition('@')[0] or loop.kind}" for loop in loops)
    found = []
    for loop, name in zip(loops, names, strict=True):
        ids |= dict.fromkeys(members.get(loop.id, ()), name)
        found.append(replace(loop, id=name, children=_identified(loop.children, name, members, ids)))
    return tuple(found)
