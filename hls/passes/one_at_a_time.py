"""Loops of which there is only one invocation at a time, as the loop around them waits for what they give."""

from dataclasses import dataclass

from ..analysis.behind import computed_from, taken
from ..ir import Function, Op, TokenType, Value
from ..ir.clone import clone_function

__all__ = ["OneAtATime"]


@dataclass(frozen=True)
class OneAtATime:
    """Before: flat; where there are tokens, what waits for their sake counts as well. After: a loop whose results decide of, or are taken by,
    the next iteration of the loop around it, which is entered once itself or has one invocation at a time, has the attribute ``interleave`` =
    False: no other invocations could fill the time in which one waits, so it may issue ahead of a condition that is known late, and needs no
    room for others.
    """

    name = "one-at-a-time"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        if not function.attrs.get("ndrange"):
            for loop in [op for op in result.body.ops if op.opcode == "loop"]:
                _inside(loop)
        return result


def _inside(loop: Op):
    """Mark what the loop, of which there is one invocation at a time, waits for."""
    (body,) = loop.regions
    for child in [op for op in body.ops if op.opcode == "loop"]:
        given = computed_from(body, set(child.results))
        again, *nexts = body.terminator.operands
        carried = {arg for arg, value in zip(body.args, nexts, strict=True) if value in given and _from_the_one_before(arg)}
        if again in given or not taken(child).isdisjoint(computed_from(body, carried)):
            child.attrs |= {"interleave": False, "interleave_reason": "the loop around it waits for what it gives"}
            _inside(child)


def _from_the_one_before(arg: Value) -> bool:
    """Whether an iteration waits for the one before it, in every run."""
    return not isinstance(arg.type, TokenType) or not (arg.type.overlap or arg.type.between or arg.type.distance > 1)
