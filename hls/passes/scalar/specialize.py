"""Simplification of values under facts: the engine of conditional specialization."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import reduce

from ...analysis.predicates.facts import Facts
from ...analysis.predicates.implication import arms_of
from ...ir import Builder, Op, Region, Value, has

__all__ = ["Specializer", "bypassed", "conjuncts", "specialized_choice"]

#: too costly to duplicate for other users
_LARGE = frozenset({"mul", "udiv", "sdiv", "urem", "srem"})


def bypassed(value: Value, facts: Facts, inside: Callable[[Region], AbstractSet[Op]] | None = None) -> Value:
    """The value behind selects whose conditions the facts decide; the value itself if there are none. Results of ``if``
    are included if ``inside``, which returns the operations of a region, is given: values that a branch computes are
    visible in that branch only."""
    choices = ("select",) if inside is None else ("select", "if")
    while value.op is not None and value.op.opcode in choices:
        truth = facts.decided(value.op.operands[0])
        if truth is None:
            return value
        arm = arms_of(value.op, value)[0 if truth else 1]
        if inside is not None and value.op.regions and arm.op in inside(value.op.regions[0 if truth else 1]):
            return value
        value = arm
    return value


def specialized_choice(choice: Op, facts: Facts, b: Builder) -> Value | None:
    """A ``select`` simplified under the facts: one of its arms, or a select by the conjuncts of its condition that they
    leave undecided. None if the facts decide nothing."""
    condition, yes, no = choice.operands
    truth = facts.decided(condition)
    if truth is not None:
        return yes if truth else no
    together = {each: facts.decided(each) for each in conjuncts(condition)}
    if False in together.values():
        return no
    still_open = [each for each, truth in together.items() if truth is None]
    if len(still_open) == len(together):
        return None
    if not still_open:
        return yes
    return b.value("select", reduce(lambda p, q: b.value("and", p, q), still_open), yes, no)


def conjuncts(condition: Value) -> list[Value]:
    """The conjuncts of a condition, each once."""
    found, open_, seen = [], [condition], set()
    while open_:
        each = open_.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.op is not None and each.op.opcode == "and":
            open_ += reversed(each.op.operands)
        else:
            found.append(each)
    return found


class Specializer:
    """Recomputes values for the case that the facts hold, by operations that ``b`` builds.

    Only results of ``own`` operations are recomputed, and only up to costly operations.
    """

    def __init__(self, facts: Facts, own: AbstractSet[Value], b: Builder) -> None:
        self.facts, self.own, self.b = facts, own, b
        self.known: dict[Value, Value] = {}

    def of(self, value: Value) -> Value:
        """The specialized value. Iterative, as unrolled bodies contain long chains of operations."""
        work = [value]
        while work:
            top = work[-1]
            needs = self._needs(top)
            missing = [v for v in needs if v not in self.known]
            if missing:
                work += missing
                continue
            work.pop()
            if top not in self.known:
                self.known[top] = self._made(top, needs)
        return self.known[value]

    def _needs(self, value: Value) -> list[Value]:
        choice = bypassed(value, self.facts)
        if choice is not value:
            return [choice]
        op = value.op
        if op is None or value not in self.own or not has(op, "pure") or has(op, "float") or op.opcode in _LARGE:
            return []
        return op.operands

    def _made(self, value: Value, needs: list[Value]) -> Value:
        operands = [self.known[v] for v in needs]
        if not needs or operands == value.defining_op.operands:
            return value
        if needs is not value.defining_op.operands:
            return operands[0]
        return self.b.value(
            value.defining_op.opcode, *operands, result=value.type, attrs=value.defining_op.attrs, name=value.name
        )
