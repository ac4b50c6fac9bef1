"""What the program asks the storage of an array to be."""

from collections.abc import Iterable
from dataclasses import replace

from ...diag import Code, CompileError
from ...ir import Attr, Function, MemoryObject
from ...ir.clone import clone_function

__all__ = ["OF_MEMORIES", "in_memory", "wants_memory", "wants_registers"]


#: attributes that only a memory can have: an array with one of them stays one
OF_MEMORIES = frozenset(
    {
        Attr.RAM_KIND,
        Attr.NUMBANKS,
        Attr.BANKWIDTH,
        Attr.BANK_BITS,
        Attr.SINGLEPUMP,
        Attr.DOUBLEPUMP,
        Attr.NUMREADPORTS,
        Attr.NUMWRITEPORTS,
        Attr.SIMPLE_DUAL_PORT,
        Attr.MAX_REPLICATES,
        Attr.MERGE,
        Attr.HOLDS_UP,
    }
)
#: bits beyond which nobody means registers and multiplexers
MOST_REGISTER_BITS = 32_768


def wants_memory(memory: MemoryObject) -> bool:
    """Whether the array is to stay a memory, however small it is."""
    return (memory.length or 1) > 1 and not OF_MEMORIES.isdisjoint(name for name, _ in memory.attrs)


def wants_registers(memory: MemoryObject) -> bool:
    """Whether the array is to be kept in registers, however large it is. Raises CompileError for one that is too large
    for that."""
    if Attr.REGISTER not in dict(memory.attrs):
        return False
    bits = (memory.length or 1) * memory.element.bits
    if bits > MOST_REGISTER_BITS:
        raise CompileError.at(
            memory.asked_at(Attr.REGISTER),
            f"'register' asks for {bits:,} bits of {memory.name} in registers; {MOST_REGISTER_BITS:,} are the most",
            "remove the attribute, or make the array smaller",
            code=Code.MEMORY_ATTRIBUTES,
        )
    return True


def in_memory(function: Function, names: Iterable[str]) -> Function:
    """The function with the arrays of these names kept in memories, but for those that the program asks to have in
    registers."""
    result = clone_function(function)
    for name in names:
        # a column of an array has a number behind it
        memory = result.memories.get(name) or result.memories.get(name.rpartition(".")[0])
        if memory is not None and memory.space == "private" and not wants_registers(memory):
            result.memories[memory.name] = replace(memory, attrs=(*memory.attrs, (Attr.HOLDS_UP, True)))
    return result
