"""Where the work-items of a group may diverge on their way to a barrier. OpenCL requires the program to prevent that.

All work-items of a group reach a barrier equally often if they decide alike, one decision after the other, at every
`if` and loop that contains a barrier, and at every barrier with a condition. Nothing else can make them diverge, so a
work-item that decides differently is detected at that decision, before any work-item waits.
"""

from collections.abc import Mapping

from ..diag import Span
from .attributes import Attr
from .build import walk
from .nodes import Function, MemoryObject, Op, Region, Value
from .optable import has
from .types import BOOL

__all__ = ["condition_place", "decisions"]


def decisions(functions: Mapping[str, Function]) -> dict[Op, Op]:
    """Every operation whose condition decides whether a barrier is reached, with the first barrier that it decides
    about; helper functions are followed. A loop decides on entry, and at the end of each iteration."""
    barriers: dict[str, Op | None] = {}

    def first(region: Region) -> Op | None:
        return next((found for op in walk(region) if (found := reached(op)) is not None), None)

    def reached(op: Op) -> Op | None:
        """The barrier that an operation is or, as a call, leads to."""
        if op.opcode != "call":
            return op if op.opcode == "barrier" else None
        callee = op.attrs[Attr.CALLEE]
        if callee not in barriers:
            barriers[callee] = None  # recursive calls are rejected elsewhere
            barriers[callee] = first(functions[callee].body)
        return barriers[callee]

    found: dict[Op, Op] = {}
    for function in functions.values():
        for op in walk(function.body):
            if op.opcode == "barrier" and op.operands:
                found[op] = op
            elif op.regions and (inside := next(filter(None, map(first, op.regions)), None)) is not None:
                found[op] = inside
    return found


def condition_place(function: Function, condition: Value, otherwise: Span | None) -> Span | None:
    """The source location of a condition. For a variable that the compiler introduced for jumps it is the location of
    the jump, if there is only one."""
    op = condition.op
    while op is not None and op.opcode == "xor":  # "not"
        op = op.operands[0].op
    if op is None:
        return otherwise
    flag = _flag(function, op)
    if flag is None:
        return op.span or otherwise
    jumps = [
        store
        for store in walk(function.body)
        if store.opcode == "store"
        and _flag(function, store) is flag
        and store.operands[1].op is not None
        and store.operands[1].op.attrs.get(Attr.VALUE) == 1
    ]
    return jumps[0].span if len(jumps) == 1 else op.span or otherwise


def _flag(function: Function, access: Op) -> MemoryObject | None:
    """The one-bit variable that an operation reads or writes."""
    if access.opcode not in ("load", "store") or (place := access.operands[0].op) is None or not has(place, "pointer"):
        return None
    memory = function.memories.get(place.attrs.get(Attr.MEM, ""))
    return (
        memory
        if memory is not None and memory.space == "private" and memory.element == BOOL and memory.length == 1
        else None
    )
