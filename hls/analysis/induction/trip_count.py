"""Trip counts by evaluation of the operations that decide the exit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...ir import Op, Region, Value, evaluate
from ...ir.rewrite import literal
from ...narrow import present
from ..predicates.implication import implied
from .compiled_step import ABSORBING, Step, compiled_step, operands_of
from .counted import trips_of_counter

__all__ = ["Trips", "count_trips", "knowable", "known", "leaves", "value_where"]

#: iterations that are evaluated one operation at a time before they are compiled, which takes as long as some tens
_FEW = 32

#: iterations that are evaluated where the caller has no limit
MOST_EVALUATED = 4096


@dataclass(frozen=True)
class Trips:
    """The body runs ``count`` times (if the loop is enabled), or at most ``count`` times if not ``exact``."""

    count: int
    exact: bool


def count_trips(loop: Op, limit: int | None = None) -> Trips | None:
    """The trip count of a loop if it depends on constants only and is at most ``limit``, else None. Without a limit, a
    loop that only a counter ends may have any number of iterations, and others are evaluated for 4,096 of them.

    For an exit that depends on data (`break`) it is an upper bound, if there is one.
    """
    (body,) = loop.regions
    again = body.terminator.operands[0]
    if not _evaluate(again, dict.fromkeys(body.args, True), _knowable):
        return None
    carried = _deciding(loop)
    if len(carried) == 1 and (counted := trips_of_counter(loop, again, carried[0])) is not None:
        return Trips(counted, True) if limit is None or counted <= limit else None
    limit = MOST_EVALUATED if limit is None else limit
    facts = {value: int(truth) for value, truth in implied(again).items() if value is not again}
    if not _evaluate(again, _known_late(body, carried, facts), _knowable):
        limit = min(limit, len(carried) + 1)  # facts about the first iterations are lost after that
    state = {body.args[k]: _evaluate(loop.operands[1 + k], {}) for k in carried}
    exact = True
    for trip in range(1, limit + 1):
        if trip > _FEW:
            step = compiled_step(body, carried, facts, {k for k in carried if state[body.args[k]] is None})
            return _counted_by(step, [state[body.args[k]] for k in carried], range(trip, limit + 1), exact)
        known = _evaluate(again, dict(state))
        if known == 0:
            return Trips(trip, exact)
        exact &= known is not None
        if all(number is None for number in state.values()):
            return None
        # another iteration runs only if everything that the continue condition implies is true
        numbers = {**state, **facts}
        state = {body.args[k]: _evaluate(body.terminator.operands[1 + k], numbers) for k in carried}
    return None


def _counted_by(step: Step, numbers: list[Any], trips: range, exact: bool) -> Trips | None:
    """The trip count, with the numbers of the carried values that decide in the first of ``trips``; None if it is
    none of them. ``exact``: the condition was known in all trips before."""
    for trip in trips:
        forgotten = numbers.count(None) == len(numbers)
        again, numbers = step(numbers)
        if again == 0:
            return Trips(trip, exact)
        if forgotten:
            return None
        exact &= again is not None
    return None


def _known_late(body: Region, carried: list[int], facts: Iterable[Value]) -> dict[Value, bool]:
    """For each carried value whether it might be known in late iterations, if those of ``facts`` are known while the
    loop continues."""
    might = {arg: arg.index in carried for arg in body.args}
    while True:
        given = {**might, **dict.fromkeys(facts, True)}
        forgotten = [
            body.args[k]
            for k in carried
            if might[body.args[k]] and not _evaluate(body.terminator.operands[1 + k], dict(given), _knowable)
        ]
        if not forgotten:
            return might
        might |= dict.fromkeys(forgotten, False)


def value_where(value: Value, numbers: dict[Value, int]) -> Any:
    """The number that a value has, given those of others; None if they do not determine it. Pure operations only."""
    return _evaluate(value, dict(numbers))


def known(value: Value, numbers: dict[Value, Any]) -> Any:
    """As :func:`value_where`; ``numbers`` also caches intermediate results."""
    return _evaluate(value, numbers)


def knowable(value: Value, args: dict[Value, bool]) -> bool:
    """Whether a value might be known at some time; ``args`` says which region arguments are, others are not."""
    return bool(_evaluate(value, dict(args), _knowable))


def leaves(value: Value) -> set[Value]:
    """The values without operands of their own that a value depends on."""
    found, seen, work = set(), set(), [value]
    while work:
        one = work.pop()
        if one not in seen:
            seen.add(one)
            needs = operands_of(one)
            work += needs
            found |= set() if needs else {one}
    return found


def _deciding(loop: Op) -> list[int]:
    """The carried values that the condition depends on, directly or through others."""
    (body,) = loop.regions
    nexts, found, work, seen = body.terminator.operands[1:], set(), [body.terminator.operands[0]], set()
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.owner is body:
            found.add(value.index)
            work.append(nexts[value.index])
        elif value.op is not None and value.op.opcode != "loop":
            work += value.op.operands
            work += [region.terminator.operands[value.index] for region in value.op.regions]
    return sorted(found)


def _knowable(value: Value, knowable: dict[Value, object]) -> bool:
    """Whether a value might be known in some iteration; most conditions that compare with an argument never are."""
    if value.op is None or not operands_of(value):
        return literal(value) is not None
    given = [knowable[v] for v in operands_of(value)]
    if value.op.opcode in ("if", "select"):
        condition, *arms = given
        if condition:
            return any(arms)
        different = {literal(arm) for arm in operands_of(value)[1:]} - {None}
        return all(arms) and len(different) < 2  # both arms may be equal
    if value.op.opcode not in ABSORBING:
        return all(given)
    absorbing = ABSORBING[value.op.opcode](value.type.bits)  # `x & 7` is as unknown as x
    return all(given) or any(
        might and literal(v) in (None, absorbing) for v, might in zip(operands_of(value), given, strict=True)
    )


def _evaluate(value: Value, numbers: dict[Value, Any], apply=None):
    """The number of a value, given those of others; None if unknown. ``numbers`` caches results. ``apply`` computes a
    value from its operands.

    Iterative, as unrolled bodies contain long chains of operations.
    """
    work = [value]
    while work:
        top = work[-1]
        if top in numbers:
            work.pop()
            continue
        missing = [v for v in operands_of(top) if v not in numbers]
        if missing:
            work += missing
        else:
            numbers[top] = (apply or _apply)(top, numbers)
            work.pop()
    return numbers[value]


def _apply(value: Value, numbers: dict):
    """Evaluate one operation, some of whose operands may be unknown."""
    op = value.op
    needs = operands_of(value)
    if not needs:
        return literal(value)
    given = [numbers[v] for v in needs]
    if present(op).opcode in ("if", "select"):
        condition, *arms = given
        if condition is None:
            return arms[0] if arms[0] == arms[1] else None
        return arms[0] if condition else arms[1]
    if None not in given:
        return evaluate(
            present(op).opcode, given, [v.type for v in present(op).operands], value.type, present(op).attrs
        )
    absorbing = ABSORBING.get(present(op).opcode)
    return absorbing(value.type.bits) if absorbing is not None and absorbing(value.type.bits) in given else None
