"""Final value replacement: counters of loops of constant trip count are computed in closed form after the loop."""

from dataclasses import dataclass

from ...analysis.loops.loop_tree import Induction, Loop
from ...ir import Attr, Builder, Function, IntType, Op, Region, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ...ir.rewrite import constant, resolve
from ...ir.wrapping import has_wrapping
from ..manager import Form, FunctionPass

__all__ = ["FinalValueReplacement"]


@dataclass(frozen=True)
class FinalValueReplacement(FunctionPass):
    """Final value replacement (LLVM: rewriteLoopExitValues). Before: a flat kernel without tokens; loops of constant
    trip count have the attribute ``trip_count``. After: the final value of a counter of such a loop is computed from
    its initial value, not taken from the loop.

    In ``for (int j = 0; j < 4; j++) out[w++] = x;`` the operations after the loop get ``w + 4`` when the loop begins
    rather than after its last iteration; and analyses understand that sum, but not a loop result.
    """

    name = "final-value-replacement"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which used final values of integer counters are computed after the loops."""
        result = clone_function(function)
        for region, op in list(loops_inside_out(result.body)):
            if Attr.TRIP_COUNT in op.attrs:
                used = uses(result.body)
                left = [
                    i
                    for arg, i in Loop(op, None).inductions.items()
                    if isinstance(arg.type, IntType) and op.results[arg.index] in used
                ]
                resolve(result.body, _left(region, op, left))
        return result


def _left(region: Region, op: Op, left: list[Induction]) -> dict[Value, Value]:
    """The replacement of each result."""
    b, values, entered = Builder(Region(), op.span), {}, op.operands[0]
    for counter in left:
        type = counter.arg.type
        following = op.regions[0].terminator.operands[1 + counter.arg.index]
        wraps = {Attr.WRAPS: True} if following.op is not None and has_wrapping(following.op) else {}
        steps = b.const(op.attrs[Attr.TRIP_COUNT] * counter.step, type)
        last = b.value("add", counter.init, steps, result=type, attrs=wraps)
        if constant(entered) != 1:
            last = b.value("select", entered, last, counter.init, result=type)
        values[op.results[counter.arg.index]] = last
    at = region.ops.index(op)
    region.ops[at:at] = b.region.ops
    return values
