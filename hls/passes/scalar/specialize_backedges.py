"""What a loop carries is computed for the next iteration only, so it may assume that there is one."""

from dataclasses import dataclass

from ...analysis.predicates.implication import chosen, implied
from ...ir import Function, Op, Value, loops_inside_out, uses, walk
from ...ir.clone import clone_function
from ...ir.loops import add_carried
from ..manager import Form, FunctionPass

__all__ = ["SpecializeBackedges"]


@dataclass(frozen=True)
class SpecializeBackedges(FunctionPass):
    """Before: flat loops whose next values contain selects on conditions that continuing decides (from `break`, guards
    of unrolled copies, wheels that come round). After: those selects are bypassed; where the loop's result is used, a
    carried value of its own, which no iteration reads, keeps what the variable is in the end.

    This takes the conditions out of the recurrence: a counter of a loop with `break` is ``i + 1`` again.
    """

    name = "specialize-backedges"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        used = uses(result.body)
        # what a loop carries may become the result of one inside, whose users must be known by then
        for _, op in loops_inside_out(result.body):
            _assume(op, used)
        return result


def _assume(loop: Op, used):
    region = loop.regions[0]
    end = region.terminator
    facts = implied(end.operands[0])
    read = {v for op in walk(region) for v in op.operands if op is not end} | {end.operands[0]}
    for k, after in enumerate(end.operands[1:]):
        found = chosen(after, facts)
        if found is after:
            continue
        if loop.results[k] in used:
            if region.args[k] not in read:
                continue  # nobody waits for it: it is such an exit value already
            _keep_result(loop, k, after, used)
        end.operands[1 + k] = found


def _keep_result(loop: Op, k: int, value: Value, used):
    """Give the users of a result a carried value that is ``value`` when the loop ends."""
    region, old = loop.regions[0], loop.results[k]
    name, result = region.args[k].name, Value(old.type, old.name)
    add_carried(loop, loop.operands[1 + k], name, following=value, result=result)
    for user, index in used.pop(old):
        user.operands[index] = result
    used[result] = [(loop, k)]
