"""What a loop carries is computed for the next iteration only, so it may assume that there is one."""

from dataclasses import dataclass

from ..analysis.trips import decided, implied
from ..ir import Function, Value, uses, walk
from ..ir.clone import clone_function

__all__ = ["AssumeContinue"]


@dataclass(frozen=True)
class AssumeContinue:
    """Before: flat loops whose next values contain selects on conditions that continuing implies (from `break`, guards of
    unrolled copies, wheels that come round). After: those selects are bypassed where the loop's result is not used.

    This takes the conditions out of the recurrence: a counter of a loop with `break` is ``i + 1`` again.
    """

    name = "assume-continue"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        used = uses(result.body)
        for op in walk(result.body):
            if op.opcode == "loop":
                end = op.regions[0].terminator
                facts = implied(end.operands[0])
                end.operands[1:] = [after if value in used else _chosen(after, facts)
                                    for value, after in zip(op.results, end.operands[1:])]
        return result


def _chosen(value: Value, facts: dict[Value, bool]) -> Value:
    """The value, or what a select on a known condition makes of it."""
    while value.op is not None and value.op.opcode == "select":
        condition, yes, no = value.op.operands
        truth = decided(condition, facts)
        if truth is None:
            break
        value = yes if truth else no
    return value
