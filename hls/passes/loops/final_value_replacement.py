"""What a loop of a constant number of iterations leaves of its counters is computed beside it."""

from dataclasses import dataclass

from ...analysis.loops.loop_tree import Induction, Loop
from ...ir import Attr, Builder, Function, IntType, Op, Region, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ...ir.rewrite import constant, resolve
from ..manager import Form, FunctionPass

__all__ = ["FinalValueReplacement"]


@dataclass(frozen=True)
class FinalValueReplacement(FunctionPass):
    """Before: a flat kernel without tokens; loops that always run equally often say so (``trip_count``). After: nobody
    asks such a loop for what its counters are in the end.

    Of ``for (int j = 0; j < 4; j++) out[w++] = x;`` what comes behind knows ``w + 4`` when the loop begins, rather than
    when it has made its last iteration; and that sum can be reckoned with, which a result of a loop cannot.
    """

    name = "final-value-replacement"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
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
    """What takes the place of each result."""
    b, values, entered = Builder(Region(), op.span), {}, op.operands[0]
    for counter in left:
        type = counter.arg.type
        last = b.value("add", counter.init, b.const(op.attrs[Attr.TRIP_COUNT] * counter.step, type), result=type)
        if constant(entered) != 1:
            last = b.value("select", entered, last, counter.init, result=type)
        values[op.results[counter.arg.index]] = last
    at = region.ops.index(op)
    region.ops[at:at] = b.region.ops
    return values
