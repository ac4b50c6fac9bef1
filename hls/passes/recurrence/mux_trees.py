"""Mux trees, and how to select one of their leaves last, so that a late leaf passes one select only."""

from collections.abc import Callable, Container, Iterator
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


def leaves_of(value: Value, inside: Container[Op], conditions: tuple[Condition, ...] = ()) -> Iterator[MuxLeaf]:
    """The leaves of the select tree of a value, through operations ``inside`` a loop. Selects that share their operands
    have many: take no more than are needed."""
    if value.op not in inside or value.defining_op.opcode != "select":
        yield MuxLeaf(value, conditions)
        return
    condition, yes, no = value.defining_op.operands
    yield from leaves_of(yes, inside, (*conditions, (condition, True)))
    yield from leaves_of(no, inside, (*conditions, (condition, False)))


def choose_last(op: Op, leaf: MuxLeaf, b: Builder, negate: Negation, merge: bool = False) -> list[Value]:
    """The operands of a select equivalent to ``op`` that selects ``leaf``, one of its leaves, last: the leaf if its
    conditions hold, else the rest of the tree. With ``merge``, two selects of the rest become one under the conjunction
    of their conditions if the other arm of both is the same value."""
    rest = _without(op, leaf.conditions, b, negate if merge else None)
    terms = [condition if truth else negate(condition, b) for condition, truth in reversed(leaf.conditions)]
    both = terms[0]
    for term in terms[1:]:
        both = b.value("and", both, term)
    return [both, leaf.value, rest]


def _without(op: Op, path: tuple[Condition, ...], b: Builder, negate: Negation | None) -> Value:
    """The tree without the leaf to which these conditions lead: a select between it and another value is replaced by
    the other value. With ``negate``, selects are merged."""
    (condition, truth), *rest = path
    _, *sides = op.operands
    taken = 0 if truth else 1
    if not rest:
        return sides[1 - taken]
    sides[taken] = _without(sides[taken].defining_op, tuple(rest), b, negate)
    if sides[0] is sides[1]:
        return sides[0]
    other, inner = sides[1 - taken], sides[taken].op
    if negate is not None and inner is not None and inner.opcode == "select" and other in inner.operands[1:]:
        kept = inner.operands[1:].index(other)  # the arm of the inner select that is the other value as well
        both = b.value(
            "and",
            condition if truth else negate(condition, b),
            inner.operands[0] if kept else negate(inner.operands[0], b),
        )
        return b.value("select", both, inner.operands[2 - kept], other, name=op.result.name)
    return b.value("select", condition, *sides, name=op.result.name)
