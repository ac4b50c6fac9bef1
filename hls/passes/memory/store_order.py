"""The dependences among accesses while stores are merged: found by pair and by source, updated where they change."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from ...analysis.dependence.dependence import Dependence
from ...ir import Op

__all__ = ["StoreOrder"]


class StoreOrder:
    """Dependences that change as stores are merged or moved. No question and no change looks at more of them than those
    of the accesses it is about, so that merging many stores takes time in proportion to their dependences."""

    def __init__(self, facts: Iterable[Dependence]):
        self._between: dict[frozenset[Op], dict[Dependence, None]] = {}
        self._partners: dict[Op, set[Op]] = {}  #: the accesses that an access has dependences with
        for fact in facts:
            self._add(fact)

    def between(self, first: Op, second: Op) -> Collection[Dependence]:
        """The dependences between two accesses, in either order."""
        return self._between.get(frozenset((first, second)), {}).keys()

    def within(self, first: Op, second: Op) -> bool:
        """Whether the second must follow the first in one iteration of the loops around both."""
        return any(fact.loop is None and fact.src is first for fact in self.between(first, second))

    def followers(self, first: Op) -> set[Op]:
        """The accesses that must follow this one in one iteration."""
        return {other for other in self._partners.get(first, ()) if self.within(first, other)}

    def all_followers(self) -> dict[Op, set[Op]]:
        """The same for every access that has any."""
        return {access: found for access in self._partners if (found := self.followers(access))}

    def merge(self, first: Op, second: Op) -> None:
        """The first store becomes part of the second, with its dependences; of those between the two, only the ones
        across iterations remain."""
        for other in tuple(self._partners.pop(first, ())):
            facts = self._between.pop(frozenset((first, other)))
            if other is not first:
                self._partners[other].discard(first)
            for fact in facts:
                src, dst = (second if end is first else end for end in (fact.src, fact.dst))
                if src is not dst or fact.loop is not None:
                    self._add(replace(fact, src=src, dst=dst))

    def release(self, first: Op, second: Op) -> None:
        """The two need no order within one iteration any more."""
        pair = frozenset((first, second))
        if pair in self._between:
            self._between[pair] = {fact: None for fact in self._between[pair] if fact.loop is not None}

    def _add(self, fact: Dependence) -> None:
        self._between.setdefault(frozenset((fact.src, fact.dst)), {})[fact] = None
        self._partners.setdefault(fact.src, set()).add(fact.dst)
        self._partners.setdefault(fact.dst, set()).add(fact.src)
