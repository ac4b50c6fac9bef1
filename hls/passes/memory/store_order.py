"""The dependences among accesses while stores are merged: found when they are asked for, by pair."""

from collections.abc import Callable, Iterable

from ...analysis.dependence.dependence import Dependence
from ...ir import Op

__all__ = ["StoreOrder"]

#: the dependences between two accesses, given in program order; if the last argument is false, only those
#: within one iteration
Asked = Callable[[Op, Op, bool], Iterable[Dependence]]


class StoreOrder:
    """Dependences among ``accesses``, which are in program order, as stores are merged or moved. A test of two accesses
    takes long, and most pairs of a long body never matter: each is tested when a question is about it, as it was before
    any change. A store that others were merged into has their dependences. Other accesses have none."""

    def __init__(self, accesses: Iterable[Op], asked: Asked) -> None:
        self._asked = asked
        self._place = {access: k for k, access in enumerate(accesses)}
        self._parts = {access: [access] for access in self._place}  #: the accesses that one stands for
        self._found: dict[tuple[Op, Op, bool], tuple[Dependence, ...]] = {}
        self._released: set[frozenset[Op]] = set()  #: pairs that need no order within an iteration any more

    def between(self, first: Op, second: Op) -> list[Dependence]:
        """The dependences between two accesses, in either order; their ends are those of the accesses that were
        merged."""
        return self._facts(first, second, True)

    def within(self, first: Op, second: Op) -> bool:
        """Whether the second must follow the first in one iteration of the loops around both."""
        mine = self._parts.get(first, ())
        return first is not second and any(
            fact.loop is None and fact.src in mine for fact in self._facts(first, second, False)
        )

    def followers(self, first: Op, others: Iterable[Op]) -> set[Op]:
        """Those of the others that must follow this one in one iteration; operations that are no accesses to its memory
        need not."""
        return {other for other in others if other in self._parts and self.within(first, other)}

    def all_followers(self) -> dict[Op, set[Op]]:
        """For every access that has any, those that must follow it in one iteration."""
        return {access: found for access in self._parts if (found := self.followers(access, self._parts))}

    def merge(self, first: Op, second: Op) -> None:
        """The first store becomes part of the second, with its dependences; of those between the two, only the ones
        across iterations remain."""
        self._parts.get(second, []).extend(self._parts.pop(first, ()))

    def release(self, first: Op, second: Op) -> None:
        """The two need no order within one iteration any more."""
        mine, others = (self._parts.get(access, ()) for access in (first, second))
        self._released |= {frozenset((one, other)) for one in mine for other in others}

    def _facts(self, first: Op, second: Op, carried: bool) -> list[Dependence]:
        merged = first is second
        return [
            fact
            for one in self._parts.get(first, ())
            for other in self._parts.get(second, ())
            if not merged or self._place[one] <= self._place[other]
            for fact in self._pair(one, other, carried)
            if fact.loop is not None or not merged and frozenset((one, other)) not in self._released
        ]

    def _pair(self, one: Op, other: Op, carried: bool) -> tuple[Dependence, ...]:
        first, second = (one, other) if self._place[one] <= self._place[other] else (other, one)
        key = first, second, carried
        if key not in self._found:
            self._found[key] = tuple(self._asked(*key))
        return self._found[key]
