"""What values come to where facts hold: the engine of conditional specialization."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import reduce

from ...analysis.predicates.facts import Facts
from ...analysis.predicates.implication import arms_of
from ...ir import Builder, Op, Region, Value, has

__all__ = ["Specializer", "bypassed", "conjuncts", "specialized_choice"]

#: too large to be there a second time for other users
_LARGE = frozenset({"mul", "udiv", "sdiv", "urem", "srem"})


def bypassed(value: Value, facts: Facts, inside: Callable[[Region], AbstractSet[Op]] | None = None) -> Value:
    """The value, or what choices on conditions that the facts decide make of it. Choices of ``if`` count with
    ``inside``, which gives the operations of a region: values that a branch computes are known in it alone."""
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
    """What a ``select`` is where the facts hold: one of its arms, or a choice by that half of its condition which they
    leave open. None where they say nothing about it."""
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
    """The conditions that hold together where this one does, each once."""
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
    """Computes values anew for the case that the facts hold, by operations that ``b`` builds.

    Only what ``own`` operations compute is computed again, as far as the way there is short of large operations.
    """

    def __init__(self, facts: Facts, own: AbstractSet[Value], b: Builder):
        self.facts, self.own, self.b = facts, own, b
        self.known: dict[Value, Value] = {}

    def of(self, value: Value) -> Value:
        """Without recursion, as chains of operations get long when bodies are unrolled."""
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
        if not needs or operands == value.op.operands:
            return value
        if needs is not value.op.operands:
            return operands[0]
        return self.b.value(value.op.opcode, *operands, result=value.type, attrs=value.op.attrs, name=value.name)
