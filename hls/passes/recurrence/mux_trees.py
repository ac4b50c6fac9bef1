"""Mux trees, and how to select one of their leaves last, so that a late leaf passes one select only."""

from collections.abc import Callable, Container
from dataclasses import dataclass

from ...ir import Builder, Op, Value

__all__ = ["MuxLeaf", "choose_last", "leaves_of"]

Condition = tuple[Value, bool]
#: builds the negation of a truth value
Negation = Callable[[Value, Builder], Value]


@dataclass(frozen=True)
class MuxLeaf:
    """A value that is selected if each of the ``conditions`` has the truth value given with it."""

    value: Value
    conditions: tuple[Condition, ...]


def leaves_of(value: Value, inside: Container[Op], conditions: tuple[Condition, ...] = ()) -> list[MuxLeaf]:
    """The leaves of the select tree of a value, through operations ``inside`` a loop."""
    if value.op not in inside or value.defining_op.opcode != "select":
        return [MuxLeaf(value, conditions)]
    condition, yes, no = value.defining_op.operands
    return [
        *leaves_of(yes, inside, (*conditions, (condition, True))),
        *leaves_of(no, inside, (*conditions, (condition, False))),
    ]


def choose_last(op: Op, leaf: MuxLeaf, b: Builder, negate: Negation) -> list[Value]:
    """The operands of a select equivalent to ``op`` that selects ``leaf``, one of its leaves, last: the leaf if its
    conditions hold, else the rest of the tree."""
    rest = _without(op, leaf.conditions, b)
    terms = [condition if truth else negate(condition, b) for condition, truth in reversed(leaf.conditions)]
    both = terms[0]
    for term in terms[1:]:
        both = b.value("and", both, term)
    return [both, leaf.value, rest]


def _without(op: Op, path: tuple[Condition, ...], b: Builder) -> Value:
    """The tree without the leaf to which these conditions lead: a select between it and another value is replaced by
    the other value."""
    (condition, truth), *rest = path
    _, *sides = op.operands
    taken = 0 if truth else 1
    if not rest:
        return sides[1 - taken]
    sides[taken] = _without(sides[taken].defining_op, tuple(rest), b)
    return sides[0] if sides[0] is sides[1] else b.value("select", condition, *sides, name=op.result.name)
