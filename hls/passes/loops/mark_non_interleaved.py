"""Loops of which there is only one invocation at a time, as the loop around them waits for what they give."""

from dataclasses import dataclass

from ...analysis.loops.forward_slice import computed_from, taken
from ...ir import Attr, Function, Op, Region, TokenType, Value
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["WAITED_FOR", "MarkNonInterleaved"]

#: the ``interleave_reason`` of what this pass marks
WAITED_FOR = "the outer loop waits for its result"


@dataclass(frozen=True)
class MarkNonInterleaved(FunctionPass):
    """Before: flat; where there are tokens, what waits for their sake counts as well. After: a loop whose results
    decide of, or are taken by, the next iteration of the loop around it, which is entered once or has one invocation at
    a time, has the attribute ``interleave`` = False: no other invocations could fill the time in which one waits, so it
    may issue ahead of a condition that is known late, and needs no room for others. Loops that have it for another
    reason, such as the order of their accesses, count as loops around.
    """

    name = "mark-non-interleaved"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        if not function.attrs.get(Attr.NDRANGE):
            for loop in _loops(result.body):
                _inside(loop, True)
        return result


def _loops(region: Region) -> list[Op]:
    return [op for op in region.ops if op.opcode == "loop"]


def _inside(loop: Op, alone: bool):
    """Mark what the loop, of which there is one invocation at a time if it is ``alone``, waits for; and what loops
    inside wait for."""
    (body,) = loop.regions
    for child in _loops(body):
        if alone and _is_waited_for(child, body):
            child.attrs |= {Attr.INTERLEAVE: False, Attr.INTERLEAVE_REASON: WAITED_FOR}
        _inside(child, child.attrs.get(Attr.INTERLEAVE, True) is False)


def _is_waited_for(child: Op, body: Region) -> bool:
    """Whether the next iteration decides, or gives to the loop inside, what that has given in this one."""
    given = computed_from(body, set(child.results))
    again, *nexts = body.terminator.operands
    carried = {arg for arg, value in zip(body.args, nexts, strict=True) if value in given and _from_the_one_before(arg)}
    return again in given or not taken(child).isdisjoint(computed_from(body, carried))


def _from_the_one_before(arg: Value) -> bool:
    """Whether an iteration waits for the one before it, in every run."""
    return not isinstance(arg.type, TokenType) or not (arg.type.overlap or arg.type.between or arg.type.distance > 1)
