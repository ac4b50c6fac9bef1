"""Loads and stores: what they move, where, and under which conditions.

What moves an array moves it from neighbouring places: element k is ``k`` elements behind the pointer. An access with
one more operand, an array of i1, is one of lanes, integers of whole bytes: lanes for which that is false are neither
read (they give 0) nor written. Where the predicate is false no lane is. Its address is a multiple of a lane's size;
that of any other access is a multiple of all of its size.

A load with a pointer for one more operand is of a run: each following time that it takes place its address is in the
same word of memory, or the next one, until it comes to the word of that pointer. Memory units may fetch those words
ahead; what a program means does not change.
"""

from ..options import MOST_CACHE_BYTES
from .nodes import Function, MemoryObject, Op, Value
from .optable import ATOMIC_OPERANDS, OPS
from .types import PTR, ArrayType, Type

__all__ = [
    "BURST",
    "CACHED",
    "CONSTANT",
    "CONSTANT_MEMORY",
    "FENCED",
    "FRESH",
    "INBOUNDS",
    "LOCATION",
    "MOST_CACHE_BYTES",
    "PIPELINED",
    "PREDICATES",
    "PREFETCHING",
    "STREAMING",
    "TURNS",
    "UNIT",
    "WORD_BYTES",
    "WRITE_ACK",
    "fixed_operands",
    "is_access",
    "is_fenced",
    "lane_mask",
    "last_of_run",
    "location",
    "may_share",
    "memory_name",
    "moved_type",
    "predicate",
    "reaches_memory",
    "reads_anew",
    "word_bytes",
]

#: Attribute of a 64-bit sum, difference or product of signed numbers that is a part of an address. It does not wrap:
#: where the number has more than 64 bits it is OUTSIDE, and so is every sum or product with that.
INBOUNDS = "inbounds"

#: which operand of an operation says whether it takes place at all; others always do
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


#: attribute of a store that stands for so many of the source, which take turns
TURNS = "turns"
#: attribute of a load or store whose unit the program chooses: (one of the next four, bytes of its cache)
UNIT = "unit"
BURST, CACHED, PREFETCHING, PIPELINED = "burst-coalesced", "burst-coalesced cached", "prefetching", "pipelined"
#: a prefetching unit of work-items; a store that something waits for
STREAMING, WRITE_ACK = "streaming", "burst-coalesced write-ack"
#: the unit of loads from the constant cache, and the attribute of a buffer that the source puts into constant memory
CONSTANT, CONSTANT_MEMORY = "constant-pipelined", "constant"

#: attribute of a load: it reads memory anew each time
FRESH = "fresh"
#: attribute of a memory: it is volatile because of fences, not by its declaration
FENCED = "fenced"
#: attributes of a buffer that does not lie in the board's default memory: the name of that where it does, and the width
#: of its words
LOCATION, WORD_BYTES = "buffer_location", "word_bytes"


def is_access(op: Op) -> bool:
    return op.opcode in ("load", "store")


def reaches_memory(op: Op) -> bool:
    """Whether it is a load, a store or an atomic operation."""
    return is_access(op) or op.opcode == "atomic"


def moved_type(access: Op) -> Type:
    """The type of what is loaded, stored or exchanged."""
    return (access.operands[1] if access.opcode == "store" else access.results[0]).type


def fixed_operands(access: Op) -> int:
    """How many operands come before the tokens."""
    if access.opcode == "atomic":
        return 2 + ATOMIC_OPERANDS.get(access.attrs["fn"], 1)
    return OPS[access.opcode].arity + (lane_mask(access) is not None) + (last_of_run(access) is not None)


def predicate(access: Op) -> Value:
    return access.operands[2 if access.opcode == "store" else 1]


def lane_mask(access: Op) -> Value | None:
    """The conditions of an access's lanes; None for one that takes place as a whole."""
    if access.opcode == "atomic":
        return None
    arity = OPS[access.opcode].arity
    has_mask = len(access.operands) > arity and isinstance(access.operands[arity].type, ArrayType)
    return access.operands[arity] if has_mask else None


def last_of_run(access: Op) -> Value | None:
    """The last address of the run that a load is of; None where no run is known."""
    arity = OPS["load"].arity
    known = access.opcode == "load" and len(access.operands) > arity and access.operands[arity].type == PTR
    return access.operands[arity] if known else None


def memory_name(access: Op) -> str:
    """The memory of an access of a flat kernel."""
    return access.operands[0].op.attrs["mem"]


def is_fenced(memory: MemoryObject) -> bool:
    """Whether a memory is volatile only because the kernel has fences."""
    return FENCED in dict(memory.attrs)


def reads_anew(load: Op, function: Function) -> bool:
    """Whether a load reads memory each time, for others may write there at any time: no word that it read before is
    used again."""
    memory = function.memories[memory_name(load)]
    return bool(load.attrs.get(FRESH)) or memory.volatile and not is_fenced(memory)


def location(memory: MemoryObject) -> str | None:
    """The board's memory in which a buffer lies; None for the default one."""
    return dict(memory.attrs).get(LOCATION)


def word_bytes(memory: MemoryObject, usual: int) -> int:
    """The width of the words of the board's memory in which a buffer lies; ``usual`` is that of the default one."""
    return dict(memory.attrs).get(WORD_BYTES, usual)


def may_share(one: MemoryObject, other: MemoryObject) -> bool:
    """Whether two memories may hold the same bytes: they are one, or buffers that the host may have made overlap."""
    if one is other:
        return True
    return (
        one.space == other.space == "global"
        and not (one.restrict or other.restrict)
        and location(one) == location(other)
    )
