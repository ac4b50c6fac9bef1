"""Iteration domains: the condition under which an access executes, as non-negative affine forms of loop counters."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...ir import BOOL, Op, Value, predicate
from ...ir.rewrite import constant
from ..loops.loop_tree import Loop, LoopTree
from ..predicates.implication import implied
from .affine import Affine, AffineForms
from .form import compared_facts

__all__ = ["Condition", "Domains"]


@dataclass(frozen=True)
class Condition:
    """All of ``forms`` are at least 0; with ``unless_first`` only if that loop's counter is not 0."""

    forms: tuple[Affine, ...]
    unless_first: Loop | None = None


class Domains:
    """The iteration domain of each access. Conditions that are not affine are left out: the domain may be too large."""

    def __init__(self, forms: AffineForms) -> None:
        self.forms, self.tree = forms, forms.tree
        self._of_loop: dict[Loop, tuple[Condition, ...]] = {}
        self._of_predicate: dict[Value, Condition] = {}
        self._empty: dict[Value, bool] = {}  #: by predicate

    def of(self, access: Op) -> Iterable[Condition]:
        """The conditions of the loops around the access, and its own predicate."""
        for loop in self.tree.around(access):
            if loop not in self._of_loop:
                self._of_loop[loop] = tuple(self._loop(loop))
            yield from self._of_loop[loop]
        condition = predicate(access)
        if condition not in self._of_predicate:
            self._of_predicate[condition] = Condition(tuple(_tightest(self.facts(condition))))
        yield self._of_predicate[condition]

    def is_empty(self, access: Op) -> bool:
        """Whether two conditions on one sum contradict each other: the access never executes."""
        condition = predicate(access)
        if condition not in self._empty:
            tuple(self.of(access))
            self._empty[condition] = _contradict(self._of_predicate[condition].forms)
        return self._empty[condition]

    def _loop(self, loop: Loop) -> Iterable[Condition]:
        enabled = list(self.facts(loop.op.operands[0]))
        yield Condition((Affine(0, {loop: 1}), *enabled))
        if loop.most_trips is not None:
            yield Condition((Affine(loop.most_trips - 1, {loop: -1}),))
        always: list[Affine] = []
        later: list[Affine] = []
        for fact in self.facts(loop.again):
            if any(self._changes(s.value, loop) for s in fact.symbols()):
                continue
            # it held at the end of the previous iteration
            shifted = fact + Affine(-fact.terms.get(loop, 0))
            (always if self._holds_at_first(shifted, loop, enabled) else later).append(shifted)
        yield Condition(tuple(always))
        yield Condition(tuple(later), unless_first=loop)

    def _changes(self, value: Value, loop: Loop) -> bool:
        """Whether the value may differ between iterations of the loop."""
        home = self.tree.changing(value)
        return home is not None and loop in home.path

    def _holds_at_first(self, fact: Affine, loop: Loop, enabled: list[Affine]) -> bool:
        first = Affine(fact.const, {u: f for u, f in fact.terms.items() if u is not loop})
        surpluses = [first, *(first - known for known in enabled)]
        return any(self.forms.bounds(surplus)[0] >= 0 for surplus in surpluses)

    def facts(self, condition: Value) -> Iterable[Affine]:
        """Affine forms that are not negative if the condition is true."""
        for value, truth in implied(condition).items():
            behind = _behind(value, self.tree) if value.op is None and value.type == BOOL else None
            if behind is not None:
                loop, count = behind
                yield Affine(-count, {loop: 1}) if truth else Affine(count - 1, {loop: -1})
            else:
                yield from compared_facts(self.forms.exact, value, truth)


def _tightest(facts: Iterable[Affine]) -> Iterable[Affine]:
    """The forms without those that follow from another one: of forms with equal terms, the one with the least
    constant. A chain of `else if`s that compare one number has two of them however long it is."""
    least: dict[frozenset[Any], Affine] = {}
    for fact in facts:
        terms = frozenset(fact.terms.items())
        if terms not in least or fact.const < least[terms].const:
            least[terms] = fact
    return least.values()


def _contradict(facts: Iterable[Affine]) -> bool:
    """Whether no values of the unknowns make all of the forms at least 0, as a sum would be above its upper bound."""
    lower = {frozenset(fact.terms.items()): fact.const for fact in facts}
    return any(
        const + lower.get(frozenset((unknown, -factor) for unknown, factor in terms), -const) < 0
        for terms, const in lower.items()
    )


def _behind(value: Value, tree: LoopTree) -> tuple[Loop, int] | None:
    """(loop, n) for a carried bit that is true from iteration n of the loop on, and false before."""
    loop, count = tree.holder(value), 0
    while loop is not None and value.owner is loop.body and constant(loop.op.operands[1 + value.index]) == 0:
        value, count = loop.following(value), count + 1
        if constant(value) == 1:
            return loop, count
        if count > len(loop.body.args):
            break
    return None
