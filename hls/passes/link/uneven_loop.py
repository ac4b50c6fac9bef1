"""Into how many pieces the iterations of a loop are dealt to copies of their kernel, so that all have as much to do."""

from ...ir import FloatType, Op, Region, Value, has, walk
from .carried_reductions import Reduction
from .divided_loop import DividedLoop

__all__ = ["rounds_of"]

#: pieces of each copy where they follow each other in the pipeline, and where each waits for what the one before it
#: accumulates: two are even where the work grows by the same amount from iteration to iteration
FOLLOWING, WAITING = 16, 2


def rounds_of(divided: DividedLoop) -> int:
    """How many pieces of the iterations each copy executes: 1 where all iterations do the same.

    Of minima and maxima of floats the first of equal numbers wins, so they are joined in the order of the iterations:
    each copy then executes one piece.
    """
    if not _is_uneven(divided.loop):
        return 1
    reductions = [
        (step, arg.type)
        for step, arg in zip(divided.steps, divided.loop.regions[0].args, strict=True)
        if isinstance(step, Reduction)
    ]
    if any(isinstance(type, FloatType) and step.opcode != "fadd" for step, type in reductions):
        return 1
    return WAITING if reductions else FOLLOWING


def _is_uneven(loop: Op) -> bool:
    """Whether a loop inside may run more often in some iterations of this one than in others."""
    (body,) = loop.regions
    inner = [op for op in walk(body) if op.opcode == "loop"]
    inits = {
        arg: (init, following)
        for op in inner
        for arg, init, following in zip(
            op.regions[0].args, op.operands[1:], op.regions[0].terminator.operands[1:], strict=True
        )
    }
    return _varies([one for op in inner for one in (op.operands[0], op.regions[0].terminator.operands[0])], body, inits)


def _varies(values: list[Value], body: Region, inits: dict[Value, tuple[Value, Value]]) -> bool:
    """Whether one of the values may be another one in another iteration of the loop with this ``body``. ``inits``: of
    what loops inside carry, the first value and the one of the next iteration."""
    inside, work, seen = set(walk(body)), [*values], set[Value]()
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in inits:
            work += inits[value]
        elif value in body.args or value.op in inside and not has(value.op, "pure") and not has(value.op, "constant"):
            return True
        elif value.op in inside:
            work += value.op.operands
    return False
