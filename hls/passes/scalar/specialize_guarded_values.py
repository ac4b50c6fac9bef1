"""What a loop carries is computed for the case that somebody looks at it."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...analysis.predicates.implication import chosen, implied
from ...ir import BOOL, Function, Op, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["SpecializeGuardedValues"]


@dataclass(frozen=True)
class SpecializeGuardedValues(FunctionPass):
    """Before: flat. After: where every iteration looks at a carried value only if a carried bit beside it says so
    (``select bit, value, other``), the next value is that of the case in which the next bit does: selects that this
    decides are bypassed.

    Elements that are handed on from iteration to iteration come with a bit that tells whether they were stored:
    ``stored ? x : 0`` is x then, and the choice is no part of the recurrence.
    """

    name = "specialize-guarded-values"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        used = uses(result.body)
        for _, loop in loops_inside_out(result.body):
            _loop(loop, used)
        return result


def _loop(loop: Op, used: dict[Value, list[tuple[Op, int]]]):
    (body,) = loop.regions
    end = body.terminator
    for arg, result in zip(body.args, loop.results, strict=True):
        facts: dict[Value, bool] = {}
        for bit, truth in () if result in used else _bits(arg, used):
            facts |= implied(end.operands[1 + bit.index], truth)
        after = end.operands[1 + arg.index]
        found = chosen(after, facts)
        if found is not after:
            end.operands[1 + arg.index] = found
            used.setdefault(found, []).append((end, 1 + arg.index))


def _bits(arg: Value, used: Mapping[Value, list[tuple[Op, int]]]) -> list[tuple[Value, bool]]:
    """Carried bits of the same loop, each with what it is wherever the value counts."""
    found = [_deciding(op, index) for op, index in used.get(arg, ())]
    return [
        one
        for one in dict.fromkeys(found)
        if found.count(one) == len(found) and one is not None and one[0].owner is arg.owner and one[0].type == BOOL
    ]


def _deciding(op: Op, index: int) -> tuple[Value, bool] | None:
    """The condition under which an operand counts, and what it has to be."""
    return (op.operands[0], index == 1) if op.opcode == "select" and index > 0 else None
