"""Conditional value sets: the numbers that values can have if a condition is true or false."""

from dataclasses import dataclass
from itertools import islice

from ...ir import BOOL, Value
from ...ir.rewrite import constant

__all__ = ["ValueSet", "ValueSets", "both"]

_NOTHING: dict[Value, "ValueSet"] = {}
#: most values that a condition has facts about; for conjunctions with more, the operands with fewer facts come first.
#: Each guard of an unrolled loop contains those of all earlier copies: its facts would be as many as the copies.
_MOST_VALUES = 32


@dataclass(frozen=True)
class ValueSet:
    """One of ``numbers``; with ``others``, any number except these."""

    numbers: frozenset[int]
    others: bool = False

    def __invert__(self) -> "ValueSet":
        return ValueSet(self.numbers, not self.others)

    def __and__(self, other: "ValueSet") -> "ValueSet":
        if self.others and other.others:
            return ValueSet(self.numbers | other.numbers, True)
        if self.others:
            return ValueSet(other.numbers - self.numbers)
        return ValueSet(self.numbers - other.numbers if other.others else self.numbers & other.numbers)

    def __or__(self, other: "ValueSet") -> "ValueSet":
        return ~(~self & ~other)

    @property
    def none(self) -> bool:
        """Whether the set is empty."""
        return not self.numbers and not self.others


def both(one: dict[Value, ValueSet], other: dict[Value, ValueSet]) -> dict[Value, ValueSet]:
    """The facts of both."""
    return one | {value: among & one[value] if value in one else among for value, among in other.items()}


class ValueSets:
    """The value sets implied by conditions, each computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Value, bool], dict[Value, ValueSet]] = {}

    def of(self, condition: Value, truth: bool) -> dict[Value, ValueSet]:
        """For each value that a condition constrains, its possible numbers if the condition has that truth value."""
        work = [(condition, truth)]
        while work:
            missing = [part for part in self._parts(*work[-1]) if part not in self._known]
            if missing:
                work += missing
            else:
                top = work.pop()
                self._known.setdefault(top, self._found(*top))
        return self._known[condition, truth]

    def decided(self, condition: Value, facts: dict[Value, ValueSet]) -> bool | None:
        """The truth value of a condition under the facts, if they decide it."""
        for truth in (False, True):
            if any((facts[value] & among).none for value, among in self.of(condition, truth).items() if value in facts):
                return not truth
        return None

    def _parts(self, condition: Value, truth: bool) -> list[tuple[Value, bool]]:
        """The operands that this condition is composed of, with their truth values."""
        op = condition.op
        if op is None or condition.type != BOOL or op.opcode not in ("and", "or", "xor"):
            return []
        if op.opcode == "xor":
            return [
                (v, truth != bool(constant(other)))
                for v, other in (op.operands, op.operands[::-1])
                if constant(other) is not None
            ]
        return [(v, truth) for v in op.operands]

    def _found(self, condition: Value, truth: bool) -> dict[Value, ValueSet]:
        parts = [self._known[part] for part in self._parts(condition, truth)]
        if len(parts) < 2:
            return parts[0] if parts else _plain(condition, truth)
        one, other = sorted(parts, key=len)
        if (condition.defining_op.opcode == "and") == truth:
            found = both(one, other)
            return found if len(found) <= _MOST_VALUES else dict(islice(found.items(), _MOST_VALUES))
        return {value: among | other[value] for value, among in one.items() if value in other}


def _plain(condition: Value, truth: bool) -> dict[Value, ValueSet]:
    """The set implied by a comparison with a constant, or by a condition about itself."""
    op = condition.op
    if op is not None and op.opcode in ("eq", "ne"):
        for value, number in (op.operands, op.operands[::-1]):
            if (known := constant(number)) is not None:
                same = ValueSet(frozenset((known,)))
                return {value: same if truth == (op.opcode == "eq") else ~same}
    return {condition: ValueSet(frozenset((int(truth),)))} if constant(condition) is None else _NOTHING
