"""Loads and stores: what they move, at which address, and under which conditions.

An access that moves an array moves it from or to consecutive addresses: element k is ``k`` elements after the pointer.
An access with one more operand, an array of i1 (the mask), is one of lanes, integers of whole bytes: lanes whose mask
bit is false are neither read (they give 0) nor written. If the predicate is false, no lane is. Its address is a
multiple of a lane's size; that of any other access is a multiple of its whole size.

A load with a pointer as one more operand belongs to a run: each time it executes again, its address is in the same
memory word as before or in the next one, up to the word of that pointer. Memory units may fetch those words ahead; the
meaning of a program does not change.
"""

from collections.abc import Collection, Sequence

from ..narrow import present
from ..options import MOST_CACHE_BYTES
from .attributes import Attr
from .nodes import Function, MemoryObject, Op, Value
from .optable import ATOMIC_OPERANDS, OPS, has
from .rtl_ports import RtlPorts
from .types import PTR, ArrayType, Type

__all__ = [
    "BURST",
    "CACHED",
    "MOST_CACHE_BYTES",
    "PIPELINED",
    "PREDICATES",
    "PREFETCHING",
    "copied_by",
    "fixed_operands",
    "is_access",
    "is_early",
    "is_fenced",
    "lane_mask",
    "last_of_run",
    "location",
    "may_share",
    "memory_name",
    "moved_type",
    "orders_accesses",
    "predicate",
    "reaches_memory",
    "reads_anew",
    "stands_for",
    "word_bytes",
]

#: by opcode, the operand that is the predicate of the operation; other operations are unconditional
PREDICATES: dict[str, int] = {
    "load": 1,
    "store": 2,
    "atomic": 1,
    "loop": 0,
    "fence": 0,
    "barrier": 0,
    "meet": 0,
    "channel_read": 1,
    "channel_write": 1,
}


#: the units that a program may request for a load or store (see ``Attr.UNIT``)
BURST, CACHED, PREFETCHING, PIPELINED = "burst-coalesced", "burst-coalesced cached", "prefetching", "pipelined"


def is_access(op: Op) -> bool:
    """Whether the operation is a load or a store."""
    return op.opcode in ("load", "store")


def reaches_memory(op: Op) -> bool:
    """Whether the operation is a load, a store or an atomic operation."""
    return is_access(op) or op.opcode == "atomic"


def moved_value(access: Op) -> Value:
    """The value that is loaded, stored or exchanged."""
    return access.operands[1] if access.opcode == "store" else access.results[0]


def moved_type(access: Op) -> Type:
    """The type of the data that is loaded, stored or exchanged."""
    return moved_value(access).type


def fixed_operands(access: Op) -> int:
    """The number of operands before the tokens."""
    if access.opcode == "atomic":
        return 2 + ATOMIC_OPERANDS.get(access.attrs[Attr.FN], 1)
    if access.opcode in ("rtl", "rtl_wait"):
        return len(RtlPorts.of(access.attrs[Attr.RTL_PORTS]).inputs)
    return present(OPS[access.opcode].arity) + (lane_mask(access) is not None) + (last_of_run(access) is not None)


def predicate(access: Op) -> Value:
    """The condition under which a load, store or atomic operation is made (i1)."""
    return access.operands[2 if access.opcode == "store" else 1]


def is_early(op: Op) -> bool:
    """Whether the operation is a load that is made before it is known whether the program makes it."""
    return op.opcode == "load" and Attr.EARLY in op.attrs


def orders_accesses(op: Op) -> bool:
    """Whether accesses may not move across the operation, which is none itself. A ``check`` only says that one counts
    that was made before, and the parts of a kernel store nothing that another part loads."""
    if op.opcode == "check" or Attr.BETWEEN_PARTS in op.attrs:
        return False
    return has(op, "effect") and not is_access(op)


def lane_mask(access: Op) -> Value | None:
    """The mask of an access's lanes; None for an access without lanes."""
    if access.opcode == "atomic":
        return None
    arity = present(OPS[access.opcode].arity)
    has_mask = len(access.operands) > arity and isinstance(access.operands[arity].type, ArrayType)
    return access.operands[arity] if has_mask else None


def last_of_run(access: Op) -> Value | None:
    """The last address of the run that a load belongs to; None if no run is known."""
    arity = present(OPS["load"].arity)
    known = access.opcode == "load" and len(access.operands) > arity and access.operands[arity].type == PTR
    return access.operands[arity] if known else None


def memory_name(access: Op) -> str:
    """The memory of an access of a flat kernel."""
    return access.operands[0].defining_op.attrs[Attr.MEM]


def is_fenced(memory: MemoryObject) -> bool:
    """Whether a memory is volatile only because the kernel has fences."""
    return Attr.FENCED in dict(memory.attrs)


def reads_anew(load: Op, function: Function) -> bool:
    """Whether a load must read memory each time, because others may write there at any time: words that it read before
    are not reused."""
    memory = function.memories[memory_name(load)]
    return bool(load.attrs.get(Attr.FRESH)) or memory.volatile and not is_fenced(memory)


def location(memory: MemoryObject) -> str | None:
    """The board's memory that holds a buffer; None for the default one."""
    return dict(memory.attrs).get(Attr.BUFFER_LOCATION)


def word_bytes(memory: MemoryObject, usual: int) -> int:
    """The word width of the board's memory that holds a buffer; ``usual`` is that of the default one."""
    return dict(memory.attrs).get(Attr.WORD_BYTES, usual)


def stands_for(members: Sequence[Op]) -> dict[str, object]:
    """The attributes of an access that replaces these: how many accesses of the source it is, and their lines."""
    own = [op.attrs.get(Attr.LINES) or ((op.span.line,) if op.span else ()) for op in members]
    lines = tuple(dict.fromkeys(line for each in own for line in each))
    return {Attr.MEMBERS: sum(op.attrs.get(Attr.MEMBERS, 1) for op in members), Attr.LINES: lines}


def copied_by(loop: Op, names: Collection[str]) -> tuple[str, int]:
    """The buffer, one of those ``names``, that a loop copies, and the bytes of it that an iteration moves. The loop
    must access one of them, as one with ``Copying.MOVES`` does."""
    moved = [op for op in loop.regions[0].ops if is_access(op) and memory_name(op) in names]
    return memory_name(moved[0]), sum(moved_type(op).bytes for op in moved)


def may_share(one: MemoryObject, other: MemoryObject) -> bool:
    """Whether two memories may hold the same bytes: they are the same memory, or buffers that the host may have made
    overlap."""
    if one is other:
        return True
    return (
        one.space == other.space == "global"
        and not (one.restrict or other.restrict)
        and location(one) == location(other)
    )
