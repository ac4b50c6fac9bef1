"""Implication between predicates: what a condition implies, and which conditions it decides."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ...ir import Op, Value
from ...ir.rewrite import constant
from ...narrow import present

__all__ = [
    "INVERSE",
    "MOST_FACTS",
    "Exclusions",
    "arms_of",
    "comparison_key",
    "decided",
    "follows",
    "implied",
    "never_both",
]

#: comparisons as the negation of others, possibly with swapped operands
INVERSE = {
    "eq": ("ne", False),
    "ne": ("eq", False),
    "slt": ("sle", True),
    "sle": ("slt", True),
    "ult": ("ule", True),
    "ule": ("ult", True),
    "feq": ("fne", False),
    "fne": ("feq", False),
}

#: operations whose result has consequences for their operands
_IMPLYING = frozenset({"and", "or", "xor", "if", "select"})

#: most facts that are derived from one condition
MOST_FACTS = 512


def implied(condition: Value, truth: bool = True) -> dict[Value, bool]:
    """Truth values implied by ``condition`` being true (or false); of many, the nearest ones."""
    facts: dict[Value, bool] = {condition: truth}
    open_ = [condition]
    for value in open_:  # which grows: a queue, as the nearest consequences are found first
        if len(facts) >= MOST_FACTS:
            break
        op = value.owner
        if type(op) is not Op or op.opcode not in _IMPLYING:  # most conditions are comparisons
            continue
        holds = facts[value]
        # conditions share operands: visit each once, to avoid exponential time
        if op.opcode == ("and" if holds else "or"):  # chains of these are long, and pass every select
            for operand in op.operands:
                if operand not in facts:
                    facts[operand] = holds
                    of = operand.owner
                    if type(of) is Op and of.opcode in _IMPLYING:  # the others need no place in the queue
                        open_.append(operand)
            continue
        for further, true in _imply(op, value, holds):
            if further not in facts:
                facts[further] = true
                open_.append(further)
    return facts


def decided(condition: Value, facts: dict[Value, bool]) -> bool | None:
    """The truth value of a condition by the facts: it, its negation, or its inverse comparison, is one of them; None if
    none of these is."""
    if condition in facts or condition.op is None:
        return facts.get(condition)
    if condition.op.opcode == "xor":
        for value, other in (condition.op.operands, condition.op.operands[::-1]):
            if value in facts and constant(other) == 1:
                return not facts[value]
    opposite, swapped = INVERSE.get(condition.op.opcode, (None, False))
    operands = condition.op.operands[::-1] if swapped else condition.op.operands
    for other, truth in facts.items():
        if other.op is not None and other.op.opcode == opposite and other.op.operands == operands:
            return not truth
    return None


def follows(condition: Value, facts: dict[Value, bool]) -> bool:
    """Whether a condition is true by the facts: it is one of them, or a conjunction of them."""
    if constant(condition) == 1 or decided(condition, facts):
        return True
    return (
        condition.op is not None
        and condition.op.opcode == "and"
        and all(follows(v, facts) for v in condition.op.operands)
    )


class Exclusions:
    """Tests which conditions are mutually exclusive: one implies a fact that the other contradicts. The implications of
    each are cached while operations do not change."""

    def __init__(self) -> None:
        self._facts: dict[Value, tuple[set[Any], set[Any], dict[Value, int]]] = {}
        self._alternatives: dict[Value, tuple[Value, ...]] = {}
        self._known: dict[tuple[Value, Value], bool] = {}

    def never_both(self, one: Value, other: Value) -> bool:
        """Whether the two conditions are proven to be never true at the same time; False proves nothing."""
        return all(self._apart(*pair) for pair in product(self.alternatives(one), self.alternatives(other)))

    def alternatives(self, condition: Value) -> tuple[Value, ...]:
        """The conditions of which at least one is true if that one is: the operands of its disjunctions, each once
        however many of these share it."""
        if condition not in self._alternatives:
            found, seen, open_ = [], {condition}, [condition]
            while open_:
                value = open_.pop()
                if value.op is None or value.op.opcode != "or":
                    found.append(value)
                    continue
                for part in reversed(value.op.operands):
                    if part not in seen:
                        seen.add(part)
                        open_.append(part)
            self._alternatives[condition] = tuple(found)
        return self._alternatives[condition]

    def _apart(self, one: Value, other: Value) -> bool:
        """The same for conditions that are no disjunctions."""
        if (one, other) not in self._known:
            self._known[one, other] = self._contradict(one, other)
        return self._known[one, other]

    def _contradict(self, one: Value, other: Value) -> bool:
        (true, false, number), (also, denied, equal) = self._implied(one), self._implied(other)
        # a value cannot equal two numbers: found at once, instead of at the end of a long chain of comparisons
        if any(equal.get(value, n) != n for value, n in number.items()):
            return True
        return not (true.isdisjoint(denied) and false.isdisjoint(also))

    def _implied(self, condition: Value) -> tuple[set[Any], set[Any], dict[Value, int]]:
        """(true conditions, false conditions, values equal to a number) if the condition is true."""
        if condition not in self._facts:
            sides: tuple[set[Any], set[Any]] = (set(), set())
            equal: dict[Value, int] = {}
            for value, truth in implied(condition).items():
                key, same = comparison_key(value)
                sides[truth != same].add(key)
                op = value.op
                if op is not None and op.opcode == ("eq" if truth else "ne"):
                    left, right = op.operands
                    if (number := constant(right)) is not None:
                        equal[left] = number
            self._facts[condition] = *sides, equal
        return self._facts[condition]


def comparison_key(condition: Value) -> tuple[object, bool]:
    """The condition by what it compares, and whether it is that comparison or its negation: a comparison and its
    inverse have the same key."""
    op = condition.op
    opcode = op.opcode if op is not None else None
    if opcode not in INVERSE:
        return condition, True
    opposite, swapped = INVERSE[opcode]
    operands = tuple(present(op).operands)
    if opcode < opposite:
        return (opcode, operands), True
    return (opposite, operands[::-1] if swapped else operands), False


def never_both(one: Value, other: Value) -> bool:
    """Whether two conditions are mutually exclusive: one implies a fact that the other contradicts."""
    return Exclusions().never_both(one, other)


def _imply(op: Op, value: Value, truth: bool) -> Iterator[tuple[Value, bool]]:
    """The direct consequences of a value, which the operation computes, being true or false: those of exclusive or's
    with 1 and of selects."""
    if op.opcode == "xor" and constant(op.operands[1]) == 1:
        yield op.operands[0], not truth
    elif op.opcode in ("if", "select"):
        arms = arms_of(op, value)
        for k, arm in enumerate(arms):
            if constant(arm) is not None and bool(constant(arm)) != truth:  # so the other arm is selected
                yield op.operands[0], k == 1
                yield arms[1 - k], truth


def arms_of(op: Op, value: Value) -> list[Value]:
    """The value's simplified forms for a true and for a false condition of the select."""
    if op.opcode == "select":
        return op.operands[1:]
    return [region.terminator.operands[value.index] for region in op.regions]
