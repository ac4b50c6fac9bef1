"""Distribution of operations over selects: what is computed from a late choice is computed from both sides instead."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...analysis.timing import Recurrence, TimingModel, recurrences_of
from ...ir import Builder, Function, Op, Region, Value, has, loops_inside_out
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .recurrence_edits import insert_before
from .retime_adders import RetimeAdders

__all__ = ["DistributeOverSelects"]

#: most operations of a recurrence that are computed for both sides
MOST_OPS = 8


@dataclass(frozen=True)
class DistributeOverSelects(FunctionPass):
    """Distribution of operations over selects (Shannon expansion). Before: flat and narrow. After: if a recurrence
    takes fewer cycles of ``timing`` by it (None: nothing is done), ``f(p ? x : y)`` is ``p ? f(x) : f(y)``, where ``p``
    is on the recurrence: ``f`` is computed in parallel with ``p``, not after it.

    In ``best = min(min(best, above) + 1, corner)`` the sum and the comparison with ``corner`` are computed for ``best``
    and for ``above``. The sum with ``best`` is then one that :class:`RetimeAdders` moves to the previous iteration,
    which counts here. No form of the operations is assumed, so it is exact for every operand, also where sums wrap.
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
        for number, _ in enumerate(_loops(result)):
            candidate = clone_function(result)
            loop = _loops(candidate)[number]
            changed = [_distribute(one) for one in recurrences_of(loop, timing) if one.cycles() > 1]
            if any(changed) and _cycles(candidate, number, timing) < _cycles(result, number, timing):
                result = candidate
        return result


def _loops(function: Function) -> list[Op]:
    return [loop for _, loop in loops_inside_out(function.body)]


def _cycles(function: Function, number: int, timing: TimingModel) -> int:
    """The cycles of the longest recurrence of a loop, with adders retimed."""
    loop = _loops(RetimeAdders(timing).run(function))[number]
    return max((one.cycles() for one in recurrences_of(loop, timing)), default=1)


def _distribute(one: Recurrence) -> bool:
    """Compute what follows selects of the recurrence for both of their sides; whether there is such an operation."""
    late, done = set(one.values), 0
    for op in one.ops:
        if done < MOST_OPS and (choice := _chosen(op, late)) is not None:
            late.update(_on_both_sides(one, op, choice))
            done += 1
    return bool(done)


def _chosen(op: Op, late: set[Value]) -> Op | None:
    """The select that the operation follows, if that is its only operand on the recurrence."""
    operands = [value for value in op.operands if value in late]
    if len(operands) != 1 or op.opcode == "select" or not has(op, "logic") or len(op.results) != 1:
        return None
    choice = operands[0].op
    return choice if choice is not None and choice.opcode == "select" and choice.operands[0] in late else None


def _on_both_sides(one: Recurrence, op: Op, choice: Op) -> Iterator[Value]:
    """Let the operation select between two copies of it; their results."""
    b = Builder(Region(), op.span)
    condition, *sides = choice.operands
    copies = [
        b.value(
            op.opcode,
            *(side if value is choice.result else value for value in op.operands),
            result=op.result.type,
            attrs=dict(op.attrs),
        )
        for side in sides
    ]
    insert_before(one, op, b.region.ops)
    op.opcode, op.operands, op.attrs = "select", [condition, *copies], {}
    return iter(copies)
