"""An autorun kernel restarts when it ends."""

from ...ir import Attr, Builder, Function, Op, Region, walk
from ...ir.loop_names import RESTART
from ...ir.rewrite import constant
from ..scalar.constant_folding import ConstantFolding

__all__ = ["never_ends", "repeat_for_ever"]


def repeat_for_ever(function: Function) -> None:
    """Wrap the kernel's body in an endless loop, in place, unless it never ends: it restarts as soon as possible, with
    fresh variables."""
    if never_ends(function):
        return
    body, inside = function.body, Region()
    b = Builder(inside, function.span)
    used = {op.attrs[Attr.MEM] for op in walk(body) if op.opcode == "addr"}
    for memory in function.memories.values():
        if memory.space == "private" and memory.name in used:
            b.op("fresh", attrs={Attr.MEM: memory.name, Attr.SET: False})
    inside.ops += body.ops[:-1]
    b.op("yield", b.true())
    end = body.ops[-1]
    body.ops = []
    outside = Builder(body, function.span)
    outside.op(
        "loop", outside.true(), regions=[inside], attrs={Attr.LABEL: "restart", Attr.FORM: RESTART, Attr.UNROLL: 1}
    )
    body.ops.append(end)


def never_ends(function: Function) -> bool:
    """Whether the kernel's body is known never to end."""
    return any(_endless(op) for op in ConstantFolding().run(function).body.ops)


def _endless(op: Op) -> bool:
    """Whether the operation is a loop that is always entered and never ends."""
    return op.opcode == "loop" and constant(op.operands[0]) == 1 == constant(op.regions[0].terminator.operands[0])
