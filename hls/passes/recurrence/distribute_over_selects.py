"""Distribution of operations over selects: an operation on a late select is computed on both of its sides instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ...analysis.timing import Arrivals, Recurrence, TimingModel, carried_arrivals, longest_recurrence, recurrences_of
from ...ir import Builder, Function, Op, Region, Value, has, innermost_first
from ...ir.clone import clone_function, clone_ops
from ..manager import Form, FunctionPass
from .retime_adders import retimed

__all__ = ["DistributeOverSelects", "retimed_length"]

#: most operations that are computed for both sides of one condition
MOST_OPS = 12
#: most conditions of a recurrence that are tried in one round, the latest first
MOST_CONDITIONS = 16
#: most conditions whose sides are computed apart: each may double what follows
MOST_ROUNDS = 6
#: bits of the largest array that is read at two places at once: each read takes about as many LUTs as a third of them
MOST_ARRAY_BITS = 1024
#: longer bodies are left alone, as each attempt times all of one
MOST_IN_BODY = 300

#: the cycles of the longest recurrence, and the ns of all
_Length: TypeAlias = tuple[int, float]


@dataclass(frozen=True)
class DistributeOverSelects(FunctionPass):
    """Distribution of operations over selects (Shannon expansion). Before: flat and narrow. After: if a recurrence
    takes fewer cycles of ``timing`` by it (None: nothing is done), ``f(p ? x : y)`` is ``p ? f(x) : f(y)``, where ``p``
    is on the recurrence: ``f`` is computed in parallel with ``p``, not after it.

    In ``best = min(min(best, above) + 1, corner)`` the sum and the comparison with ``corner`` are computed for ``best``
    and for ``above``. The sum with ``best`` is then one that :func:`retimed` moves to the previous iteration,
    which counts here. Likewise ``next[match ? q : q - 1]`` in registers is read at both places. No form of the
    operations is assumed, so it is exact for every operand, also where sums wrap.
    """

    timing: TimingModel | None = None

    name = "distribute-over-selects"
    requires = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which recurrences of more than a cycle compute both sides of selects; an equal copy without
        ``timing``."""
        result = clone_function(function)
        if self.timing is None:
            return result
        timing = self.timing.unplanned(function)
        for number, _ in enumerate(innermost_first(result)):
            result = _improved(result, number, timing)
        return result


def _improved(function: Function, number: int, timing: TimingModel) -> Function:
    """The function with one condition of a loop after the other distributed, as long as recurrences become shorter; the
    function itself if that saves no cycle."""
    latest, found = function, function
    cycles: int | None = None  # of the function as it was: most loops have nothing to distribute, and need no look
    for _ in range(MOST_ROUNDS):
        better = _best(latest, number, timing)
        if better is None:
            break
        latest, before, now = better
        cycles = before[0] if cycles is None else cycles
        if now[0] < cycles:
            cycles, found = now[0], latest
    return found


def _best(function: Function, number: int, timing: TimingModel) -> tuple[Function, _Length, _Length] | None:
    """The function with what follows one condition of a loop computed for both sides, the condition for which
    recurrences become shortest, and their length before and after; None if they become no shorter. Only the loop is
    copied for an attempt."""
    loop = innermost_first(function)[number]
    (body,) = loop.regions
    if len(body.ops) > MOST_IN_BODY:
        return None
    long = [one for one in recurrences_of(loop, timing) if one.cycles() > 1]
    places = [
        place
        for place, op in enumerate(body.ops)
        if len(op.results) == 1 and any(_selects_by(user, op, one) for one in long for user in one.ops)
    ]
    if not places:
        return None
    before = least = retimed_length(loop, timing)
    best: tuple[int, bool] | None = None
    for place in places[-MOST_CONDITIONS:]:
        tried = list[int]()
        for whole in (False, True):
            (attempt,) = clone_ops([loop], {})
            done = _distribute(attempt, place, whole, timing)
            if done and done != tried and (length := retimed_length(attempt, timing)) < least:
                least, best = length, (place, whole)
            tried = done
    if best is None:
        return None
    found = clone_function(function)
    _distribute(innermost_first(found)[number], *best, timing)
    return found, before, least


def _selects_by(user: Op, condition: Op, one: Recurrence) -> bool:
    """Whether an operation on the recurrence selects by the result of the other one, which is on it, too."""
    return user.opcode == "select" and user.operands[0].op is condition and user.operands[0] in one.values


def retimed_length(loop: Op, timing: TimingModel) -> _Length:
    """The cycles of the longest recurrence of a loop, and the ns of all of them together, with adders retimed."""
    loop = retimed(loop, timing)
    (body,) = loop.regions
    arrivals, late = carried_arrivals(body, timing)
    ends = [
        arrivals.at(value)
        for value, arg in zip(body.terminator.operands[1:], body.args, strict=True)
        if arg in late and value in late
    ]
    return (longest_recurrence(loop, timing), round(sum(end.cycle * timing.room + end.ns for end in ends), 3))


def _distribute(loop: Op, place: int, whole: bool, timing: TimingModel) -> list[int]:
    """Compute for both sides what follows selects by the operation at that place, as long as they are the latest
    operands; with ``whole`` further selects as well. The places of what is computed so; none where that is too much."""
    (body,) = loop.regions
    condition = body.ops[place]
    arrivals, late = carried_arrivals(body, timing)
    sides: dict[Value, list[Value]] = {
        op.result: op.operands[1:]
        for op in body.ops
        if op.opcode == "select" and op.operands[0] is condition.result and op.result in late
    }
    done = list[int]()
    for at, op in enumerate(list(body.ops)):
        if op.results and op.results[0] not in sides and op.results[0] in late and _follows(op, sides, arrivals, whole):
            sides[op.result] = _on_both_sides(body, op, condition.result, sides)
            done.append(at)
    return done if len(done) <= MOST_OPS else []


def _follows(op: Op, sides: Mapping[Value, list[Value]], arrivals: Arrivals, whole: bool) -> bool:
    """Whether the operation is logic, or reads an element of a small array at an index, and its latest operand has two
    sides."""
    chosen = [arrivals.at(value) for value in op.operands if value in sides]
    return (
        bool(chosen)
        and (has(op, "logic") or _is_read(op, sides))
        and (whole or op.opcode != "select")
        and max(chosen) >= max(arrivals.at(value) for value in op.operands)
    )


def _is_read(op: Op, sides: Mapping[Value, list[Value]]) -> bool:
    """Whether the operation reads an element, at an index with two sides, of an array that is one and small."""
    return op.opcode == "extract" and op.operands[0] not in sides and op.operands[0].type.bits <= MOST_ARRAY_BITS


def _on_both_sides(body: Region, op: Op, condition: Value, sides: Mapping[Value, list[Value]]) -> list[Value]:
    """Let the operation select between two copies of it; their results."""
    b = Builder(Region(), op.span)
    copies = [
        b.value(
            op.opcode,
            *(sides[value][side] if value in sides else value for value in op.operands),
            result=op.result.type,
            attrs=dict(op.attrs),
        )
        for side in (0, 1)
    ]
    place = body.ops.index(op)
    body.ops[place:place] = b.region.ops
    op.opcode, op.operands, op.attrs = "select", [condition, *copies], {}
    return copies
