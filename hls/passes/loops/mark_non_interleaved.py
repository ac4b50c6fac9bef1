"""Marks loops whose invocations cannot interleave, because the loop around them waits for their results."""

from dataclasses import dataclass

from ...analysis.loops.forward_slice import computed_from, taken
from ...ir import Attr, Function, InterleaveReason, Op, Region, TokenType, Value
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["MarkNonInterleaved", "from_the_one_before"]


@dataclass(frozen=True)
class MarkNonInterleaved(FunctionPass):
    """Invocation serialization analysis. Before: flat; if there are memory tokens, waiting for them counts as well.
    After: the attribute ``interleave`` = False is on each loop whose results the next iteration of the loop around it
    needs, for its exit condition or for the same inner loop, where that outer loop is entered once or has one
    invocation at a time. No other invocation could fill the cycles in which one waits, so such a loop may issue before
    a late exit condition is known, and needs no slots for others. Outer loops that have the attribute for another
    reason, such as the order of their accesses, count as well.
    """

    name = "mark-non-interleaved"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which loops are marked whose invocations must not overlap; none in an NDRange kernel."""
        result = clone_function(function)
        if not function.attrs.get(Attr.NDRANGE):
            for loop in _loops(result.body):
                _inside(loop, True)
        return result


def _loops(region: Region) -> list[Op]:
    return [op for op in region.ops if op.opcode == "loop"]


def _inside(loop: Op, alone: bool) -> None:
    """Mark the inner loops whose results ``loop`` waits for, at all depths; ``alone``: it has one invocation at a
    time."""
    (body,) = loop.regions
    for child in _loops(body):
        if alone and _is_waited_for(child, body):
            child.attrs |= {Attr.INTERLEAVE: False, Attr.INTERLEAVE_REASON: InterleaveReason.AWAITED}
        _inside(child, child.attrs.get(Attr.INTERLEAVE, True) is False)


def _is_waited_for(child: Op, body: Region) -> bool:
    """Whether the next iteration needs the results of ``child`` for its exit condition, or for ``child`` itself."""
    given = computed_from(body, set(child.results))
    again, *nexts = body.terminator.operands
    carried = {arg for arg, value in zip(body.args, nexts, strict=True) if value in given and from_the_one_before(arg)}
    return again in given or not taken(child).isdisjoint(computed_from(body, carried))


def from_the_one_before(arg: Value) -> bool:
    """Whether every iteration waits for this value of the previous iteration, in every run."""
    return not isinstance(arg.type, TokenType) or not (arg.type.overlap or arg.type.between or arg.type.distance > 1)
