"""Loops of which there is only one invocation at a time, as the loop around them waits for what they give."""

from dataclasses import dataclass

from ..analysis.recurrences import components
from ..ir import Function, Op, Region, Value, walk
from ..ir.clone import clone_function

__all__ = ["OneAtATime"]


@dataclass(frozen=True)
class OneAtATime:
    """Before: flat, without tokens. After: a loop whose results the loop around it needs before it can enter it again, and that is
    entered once itself or has one invocation at a time, has the attribute ``interleave`` = False: no other invocations could fill the time
    in which one waits, so it may issue ahead of a condition that is known late, and needs no room for others.
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
    children = [op for op in body.ops if op.opcode == "loop"]
    together = components(body) if children else {}
    for child in children:
        if _comes_back(child, together) or _decides(child, body):
            child.attrs |= {"interleave": False, "interleave_reason": "the loop around it waits for what it gives"}
            _inside(child)


def _comes_back(child: Op, together: dict[Value, int]) -> bool:
    """Whether an invocation needs what the one before gave."""
    taken = {*child.operands, *(value for region in child.regions for op in walk(region) for value in op.operands)}
    needed = {together[value] for value in taken if value in together}
    return any(together.get(value) in needed for value in child.results)


def _decides(child: Op, body: Region) -> bool:
    """Whether there is a next iteration is known only when the child has ended."""
    wanted = {body.terminator.operands[0]}
    for op in reversed(body.ops):
        if wanted.intersection(op.results):
            if op is child:
                return True
            wanted.update(op.operands)
            wanted.update(value for region in op.regions for inner in walk(region) for value in inner.operands)
    return False
