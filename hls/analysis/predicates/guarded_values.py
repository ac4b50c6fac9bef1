"""Guarded values: the leaves of a select tree with their path conditions (gated SSA)."""

import itertools
from collections import deque
from dataclasses import dataclass

from ...ir import IntType, Op, Value
from ...ir.rewrite import constant, literal
from .implication import implied

__all__ = ["COMPARISONS", "GuardedValue", "GuardedValues", "compared"]

COMPARISONS = frozenset({"slt", "sle", "ult", "ule", "eq", "ne"})

#: most leaves of one tree, conditions that are examined, and operations of a sum
_MOST_ARMS, _MOST_FACTS, _MOST_TERMS = 6, 12, 8


@dataclass(frozen=True)
class GuardedValue:
    """The value of a ``select`` under ``facts``. ``near``: values that the facts compare, each with a number; their sum
    is the guarded value, or has it as its low bits."""

    value: Value
    facts: dict[Value, bool]
    near: tuple[tuple[Value, int], ...]


class GuardedValues:
    """Finds the guarded values of ``select`` operations. What their conditions imply, and values as sums, is computed
    once for all selects, as long chains of them share both; operations must not change in between."""

    def __init__(self) -> None:
        self._implied: dict[tuple[Value, bool], dict[Value, bool]] = {}
        self._compared: dict[Value, tuple[Value, ...]] = {}
        self._sums: dict[Value, tuple[dict[Value, int], int]] = {}

    def of(self, op: Op) -> tuple[GuardedValue, ...]:
        """The leaves of a ``select`` of integers, including those of selects that are its arms."""
        whole: list[GuardedValue] = []
        work: deque[tuple[Value, dict[Value, bool]]] = deque([(op.result, {})])
        while work:
            value, facts = work.popleft()
            if value.op is None or value.op.opcode != "select" or len(whole) + len(work) + 2 > _MOST_ARMS:
                whole.append(GuardedValue(value, facts, self._near(value, facts)))
                continue
            for truth in (True, False):
                more = self._facts(value.op.operands[0], truth)
                if all(facts.get(condition, known) == known for condition, known in more.items()):
                    work.append((value.op.operands[1 if truth else 2], facts | more))
        return tuple(whole)

    def _facts(self, condition: Value, truth: bool) -> dict[Value, bool]:
        key = condition, truth
        if key not in self._implied:
            self._implied[key] = implied(condition, truth)
        return self._implied[key]

    def _near(self, value: Value, facts: dict[Value, bool]) -> tuple[tuple[Value, int], ...]:
        whole = value.op.operands[0] if value.op is not None and value.op.opcode == "trunc" else value
        others = {
            v: None
            for condition in itertools.islice(facts, _MOST_FACTS)
            for v in self._unknowns(condition)
            if v.type == whole.type
        }
        if not others:
            return ()
        terms, number = self._sum(whole)
        sums = ((v, *self._sum(v)) for v in others)
        return tuple((v, number - less) for v, parts, less in sums if parts == terms)

    def _unknowns(self, condition: Value) -> tuple[Value, ...]:
        """The integers compared by a condition that are no constants."""
        if condition not in self._compared:
            self._compared[condition] = tuple(v for v in compared({condition: True}) if literal(v) is None)
        return self._compared[condition]

    def _sum(self, value: Value) -> tuple[dict[Value, int], int]:
        if value not in self._sums:
            self._sums[value] = _sum(value)
        return self._sums[value]


def compared(*facts: dict[Value, bool]) -> dict[Value, None]:
    """The integers compared by the conditions of facts, in order."""
    return {
        value: None
        for known in facts
        for condition in known
        if type(op := condition.owner) is Op and op.opcode in COMPARISONS
        for value in op.operands
        if isinstance(value.type, IntType)
    }


def _sum(value: Value) -> tuple[dict[Value, int], int]:
    """A value as a sum, modulo its type: terms with their factors, and a constant."""
    terms: dict[Value, int] = {}
    number, work = 0, [(value, 1)]
    for _ in range(_MOST_TERMS):
        if not work:
            break
        part, factor = work.pop()
        if (known := constant(part)) is not None:
            number += factor * known
        elif part.op is not None and part.op.opcode in ("add", "sub"):
            left, right = part.op.operands
            work += [(left, factor), (right, factor if part.op.opcode == "add" else -factor)]
        else:
            terms[part] = terms.get(part, 0) + factor
    for part, factor in work:
        terms[part] = terms.get(part, 0) + factor
    return {part: factor for part, factor in terms.items() if factor}, number
