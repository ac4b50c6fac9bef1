"""Trees of choices, and the way to choose one of their leaves last: what it waits for passes one choice then."""

from collections.abc import Callable, Container
from dataclasses import dataclass

from ...ir import Builder, Op, Value

__all__ = ["MuxLeaf", "choose_last", "leaves_of"]

Condition = tuple[Value, bool]
#: builds the opposite of a truth value
Negation = Callable[[Value, Builder], Value]


@dataclass(frozen=True)
class MuxLeaf:
    """What is chosen where all ``conditions`` have the truth beside them."""

    value: Value
    conditions: tuple[Condition, ...]


def leaves_of(value: Value, inside: Container[Op], conditions: tuple[Condition, ...] = ()) -> list[MuxLeaf]:
    """What a value is chosen from by operations ``inside`` a loop."""
    if value.op not in inside or value.op.opcode != "select":
        return [MuxLeaf(value, conditions)]
    condition, yes, no = value.op.operands
    return [
        *leaves_of(yes, inside, (*conditions, (condition, True))),
        *leaves_of(no, inside, (*conditions, (condition, False))),
    ]


def choose_last(op: Op, leaf: MuxLeaf, b: Builder, negate: Negation) -> list[Value]:
    """The operands of a choice that says the same as ``op`` and decides about ``leaf``, one of its leaves, last: where
    its conditions hold it is that leaf, else what the others come to."""
    rest = _without(op, leaf.conditions, b)
    terms = [condition if truth else negate(condition, b) for condition, truth in reversed(leaf.conditions)]
    both = terms[0]
    for term in terms[1:]:
        both = b.value("and", both, term)
    return [both, leaf.value, rest]


def _without(op: Op, path: tuple[Condition, ...], b: Builder) -> Value:
    """The choice where that is not taken to which these conditions lead: one between it and another value is the other
    one."""
    (condition, truth), *rest = path
    _, *sides = op.operands
    taken = 0 if truth else 1
    if not rest:
        return sides[1 - taken]
    sides[taken] = _without(sides[taken].op, tuple(rest), b)
    return sides[0] if sides[0] is sides[1] else b.value("select", condition, *sides, name=op.result.name)
