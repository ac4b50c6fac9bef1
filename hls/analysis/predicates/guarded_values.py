"""Guarded values: the leaves of a select tree with their path conditions (gated SSA)."""

import itertools
from collections import deque
from dataclasses import dataclass

from ...ir import IntType, Op, Value
from ...ir.rewrite import constant, literal
from .implication import implied

__all__ = ["COMPARISONS", "GuardedValue", "compared", "guarded_values_of"]

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


def guarded_values_of(op: Op) -> tuple[GuardedValue, ...]:
    """The leaves of a ``select`` of integers, including those of selects that are its arms."""
    whole: list[GuardedValue] = []
    work: deque[tuple[Value, dict[Value, bool]]] = deque([(op.result, {})])
    while work:
        value, facts = work.popleft()
        if value.op is None or value.op.opcode != "select" or len(whole) + len(work) + 2 > _MOST_ARMS:
            whole.append(GuardedValue(value, facts, _near(value, facts)))
            continue
        for truth in (True, False):
            more = implied(value.op.operands[0], truth)
            if all(facts.get(condition, known) == known for condition, known in more.items()):
                work.append((value.op.operands[1 if truth else 2], facts | more))
    return tuple(whole)


def compared(*facts: dict[Value, bool]) -> dict[Value, None]:
    """The integers compared by the conditions of facts, in order."""
    return {
        value: None
        for known in facts
        for condition in known
        if condition.op is not None and condition.op.opcode in COMPARISONS
        for value in condition.op.operands
        if isinstance(value.type, IntType)
    }


def _near(value: Value, facts: dict[Value, bool]) -> tuple[tuple[Value, int], ...]:
    whole = value.op.operands[0] if value.op is not None and value.op.opcode == "trunc" else value
    others = [
        v
        for v in compared(dict(itertools.islice(facts.items(), _MOST_FACTS)))
        if v.type == whole.type and literal(v) is None
    ]
    if not others:
        return ()
    terms, number = _sum(whole)
    sums = ((v, *_sum(v)) for v in others)
    return tuple((v, number - less) for v, parts, less in sums if parts == terms)


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
