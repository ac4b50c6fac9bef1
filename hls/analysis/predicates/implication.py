"""What follows from a condition being true or false, and what it decides: implication between predicates."""

from collections import deque
from collections.abc import Iterator

from ...ir import Op, Value
from ...ir.rewrite import constant

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

#: not (a . b) is (a, or swapped b) . the other
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

#: operations of which :func:`_imply` knows something
_IMPLYING = frozenset({"and", "or", "xor", "if", "select"})

#: facts that are looked for; what a condition implies beyond that is not used
MOST_FACTS = 512


def implied(condition: Value, truth: bool = True) -> dict[Value, bool]:
    """Truth values that follow from ``condition`` being true (or false), the nearest ones of many."""
    facts: dict[Value, bool] = {condition: truth}
    open_ = deque(facts)
    while open_ and len(facts) < MOST_FACTS:
        value = open_.popleft()
        if value.op is None or value.op.opcode not in _IMPLYING:  # most are comparisons
            continue
        for further, holds in _imply(value, facts[value]):
            # conditions share parts: each is looked at once, or time would double with each of them
            if further not in facts:
                facts[further] = holds
                open_.append(further)
    return facts


def decided(condition: Value, facts: dict[Value, bool]) -> bool | None:
    """The truth of a condition by the facts: it is one of them, or the opposite comparison is; None if neither."""
    if condition in facts or condition.op is None:
        return facts.get(condition)
    opposite, swapped = INVERSE.get(condition.op.opcode, (None, False))
    operands = condition.op.operands[::-1] if swapped else condition.op.operands
    for other, truth in facts.items():
        if other.op is not None and other.op.opcode == opposite and other.op.operands == operands:
            return not truth
    return None


def follows(condition: Value, facts: dict[Value, bool]) -> bool:
    """Whether a condition is true by the facts: it is one of them, or a conjunction of such."""
    if constant(condition) == 1 or decided(condition, facts):
        return True
    return (
        condition.op is not None
        and condition.op.opcode == "and"
        and all(follows(v, facts) for v in condition.op.operands)
    )


class Exclusions:
    """Answers which conditions exclude each other: what one implies, the other one denies. What each implies is kept,
    as long as nobody changes the operations."""

    def __init__(self):
        self._facts: dict[Value, tuple[set, set, dict[Value, int]]] = {}

    def never_both(self, one: Value, other: Value) -> bool:
        for either, rest in ((one, other), (other, one)):
            if either.op is not None and either.op.opcode == "or":
                return all(self.never_both(part, rest) for part in either.op.operands)
        (true, false, number), (also, denied, equal) = self._implied(one), self._implied(other)
        # one number is not two: at once what a long chain of comparisons says in the end
        if any(equal.get(value, n) != n for value, n in number.items()):
            return True
        return not (true.isdisjoint(denied) and false.isdisjoint(also))

    def _implied(self, condition: Value) -> tuple[set, set, dict[Value, int]]:
        """(what is true, what is false, what is which number) where the condition is true."""
        if condition not in self._facts:
            sides: tuple[set, set] = (set(), set())
            equal: dict[Value, int] = {}
            for value, truth in implied(condition).items():
                key, same = comparison_key(value)
                sides[truth != same].add(key)
                if value.op is not None and value.op.opcode == ("eq" if truth else "ne"):
                    left, right = value.op.operands
                    if constant(right) is not None:
                        equal[left] = constant(right)
            self._facts[condition] = *sides, equal
        return self._facts[condition]


def comparison_key(condition: Value) -> tuple[object, bool]:
    """The condition by what it compares, and whether it is that or its opposite: a comparison and its inverse have one
    key."""
    opcode = condition.op.opcode if condition.op is not None else None
    if opcode not in INVERSE:
        return condition, True
    opposite, swapped = INVERSE[opcode]
    operands = tuple(condition.op.operands)
    if opcode < opposite:
        return (opcode, operands), True
    return (opposite, operands[::-1] if swapped else operands), False


def never_both(one: Value, other: Value) -> bool:
    """Whether two conditions exclude each other: what one implies, the other one denies."""
    return Exclusions().never_both(one, other)


def _imply(value: Value, truth: bool) -> Iterator[tuple[Value, bool]]:
    """What follows at once from a value being true or false."""
    op = value.op
    if op.opcode == ("and" if truth else "or"):
        for operand in op.operands:
            yield operand, truth
    elif op.opcode == "xor" and constant(op.operands[1]) == 1:
        yield op.operands[0], not truth
    elif op.opcode in ("if", "select"):
        arms = arms_of(op, value)
        for k, arm in enumerate(arms):
            if constant(arm) is not None and bool(constant(arm)) != truth:  # not this one, so the other
                yield op.operands[0], k == 1
                yield arms[1 - k], truth


def arms_of(op: Op, value: Value) -> list[Value]:
    """What the value is when the condition holds, and when it does not."""
    if op.opcode == "select":
        return op.operands[1:]
    return [region.terminator.operands[value.index] for region in op.regions]
