"""Where the work-items of a group may part on their way to a barrier: what OpenCL has the program promise not to
happen.

All work-items of a group come by a barrier equally often if they decide alike, one decision after the other, at every
`if` and loop with a barrier inside, and at every barrier under a condition. Nothing else can part them, and who decides
otherwise is found at that very place, before anybody waits.
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
    """Every operation whose condition decides who comes to a barrier, with the first barrier that it decides about;
    helper functions are followed. A loop decides when it is entered, and at the end of each iteration."""
    barriers: dict[str, Op | None] = {}

    def first(region: Region) -> Op | None:
        return next((found for op in walk(region) if (found := reached(op)) is not None), None)

    def reached(op: Op) -> Op | None:
        """The barrier that an operation is or, as a call, leads to."""
        if op.opcode != "call":
            return op if op.opcode == "barrier" else None
        callee = op.attrs[Attr.CALLEE]
        if callee not in barriers:
            barriers[callee] = None  # one that calls itself is refused elsewhere
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
    """Where the program says a condition. What jumps leave behind in a variable of the compiler's is said at the jump,
    where there is only one."""
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
    """The variable of one bit that an operation reads or writes."""
    if access.opcode not in ("load", "store") or (place := access.operands[0].op) is None or not has(place, "pointer"):
        return None
    memory = function.memories.get(place.attrs.get(Attr.MEM, ""))
    return (
        memory
        if memory is not None and memory.space == "private" and memory.element == BOOL and memory.length == 1
        else None
    )
