"""Prints the results of predicate analyses as text."""

from collections.abc import Iterator
from itertools import combinations

from hls.analysis.predicates.facts import Facts
from hls.analysis.predicates.guarded_values import GuardedValues
from hls.analysis.predicates.implication import implied, never_both
from hls.analysis.predicates.relevance import Relevance
from hls.analysis.predicates.value_sets import ValueSet, ValueSets
from hls.ir import Function, IntType, walk
from tests.ir.names import Names
from tests.ir.walks import conditions_of, integers

__all__ = ["PRINTERS"]


def _implications(function: Function, names: Names) -> Iterator[str]:
    conditions = conditions_of(names)
    for value in conditions:
        for truth in (True, False):
            facts = {v: holds for v, holds in implied(value, truth).items() if v is not value}
            if facts:
                found = ", ".join(names(v) if holds else f"not {names(v)}" for v, holds in facts.items())
                yield f"{'' if truth else 'not '}{names(value)} implies {found}"
    for one, other in combinations(conditions, 2):
        if never_both(one, other):
            yield f"{names(one)} and {names(other)} exclude each other"


def _facts(function: Function, names: Names) -> Iterator[str]:
    conditions, sets = conditions_of(names), ValueSets()
    for value in conditions:
        for truth in (True, False):
            known = Facts(sets).where(value, truth)
            decided = [(v, known.decided(v)) for v in conditions if v is not value]
            found = ", ".join(names(v) if holds else f"not {names(v)}" for v, holds in decided if holds is not None)
            if found:
                yield f"where {'' if truth else 'not '}{names(value)}: {found}"


def _guarded(function: Function, names: Names) -> Iterator[str]:
    for op in walk(function.body):
        if op.opcode == "select" and isinstance(op.result.type, IntType):
            for one in GuardedValues().of(op):
                facts = ", ".join(names(v) if truth else f"not {names(v)}" for v, truth in one.facts.items())
                near = ", ".join(f"{names(value)} + {number}" for value, number in one.near)
                yield f"{names(op.result)} is {names(one.value)} where {facts}" + (f"; near {near}" if near else "")


def _sets(function: Function, names: Names) -> Iterator[str]:
    sets = ValueSets()
    for value in integers(names):
        if value.type.bits == 1 and value.op is not None:
            for truth in (True, False):
                found = {v: one for v, one in sets.of(value, truth).items() if v is not value}
                if found:
                    facts = "; ".join(f"{names(v)} is {_set(one)}" for v, one in found.items())
                    yield f"where {names(value)} is {'true' if truth else 'false'}: {facts}"


def _set(one: ValueSet) -> str:
    numbers = ", ".join(map(str, sorted(one.numbers)))
    return f"none of {numbers}" if one.others else f"one of {numbers}" if numbers else "nothing"


def _relevance(function: Function, names: Names) -> Iterator[str]:
    found, conditions = Relevance(function.body), conditions_of(names)
    for value in integers(names):
        for condition in conditions:
            uses = found.uses_under(value, condition) if value.type.bits > 1 else []
            if uses:
                users = ", ".join(f"operand {k} of {op.opcode}" for op, k in uses)
                yield f"{names(value)} as {users} only matters where {names(condition)}"


PRINTERS = {
    "facts": _facts,
    "guarded_values": _guarded,
    "implication": _implications,
    "relevance": _relevance,
    "value_sets": _sets,
}
