"""Assigns the memories of one function to variables and arrays of the C++ text."""

from ..ir import Attr, Function, MemoryObject, Op, PointerType, Type, Value, uses, walk

__all__ = ["POINTER_BYTES", "Storage", "kind_of"]

#: Bytes of a pointer variable in the text; for the kernel a pointer has 8.
POINTER_BYTES = 40
KINDS = {"global": "argument", "constant": "table", "local": "local memory"}


class Storage:
    """Which private memories are plain variables, and how the others are stored.

    A memory is a plain variable if every access is to its single element and its address is not used otherwise. All
    other private memories are arrays of bytes with checked accesses; a flag for each byte says whether it was ever
    written. ``watched`` variables have one such flag: those declared without an initial value.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.uses = uses(function.body)
        escaping = {op.attrs[Attr.MEM] for op in walk(function.body) if op.opcode == "addr" and not self._is_plain(op)}
        self.variables = {
            m.name
            for m in function.memories.values()
            if m.space == "private" and m.length == 1 and m.name not in escaping
        }
        arrays = [m for m in function.memories.values() if m.space == "private" and m.name not in self.variables]
        self.bytes = sum(_bytes(m) for m in arrays)
        declared = {op.attrs[Attr.MEM] for op in walk(function.body) if op.opcode == "fresh" and not op.attrs[Attr.SET]}
        self.watched = {
            name for name in self.variables & declared if not isinstance(function.memories[name].element, PointerType)
        }

    def variable(self, pointer: Value) -> str | None:
        """The name of the plain variable that a pointer points to, or None."""
        op = pointer.op
        return (
            op.attrs[Attr.MEM]
            if op is not None and op.opcode == "addr" and op.attrs[Attr.MEM] in self.variables
            else None
        )

    def is_copied(self, load: Op) -> bool:
        """Whether the value of a load is only used by stores."""
        return all(op.opcode == "store" and k == 1 for op, k in self.uses.get(load.results[0], ()))

    def may_be_unset(self, load: Op) -> bool:
        """Whether a load may read bytes that were never written."""
        variable = self.variable(load.operands[0])
        return variable in self.watched if variable is not None else not isinstance(load.result.type, PointerType)

    def _is_plain(self, addr: Op) -> bool:
        memory, offset = self.function.memories[addr.attrs[Attr.MEM]], addr.operands[0].op
        at_start = offset is not None and offset.opcode == "const" and offset.attrs[Attr.VALUE] == 0
        return at_start and all(_moves(op, k) == memory.element for op, k in self.uses.get(addr.result, ()))


def kind_of(memory: MemoryObject) -> str:
    """The kind of memory, in the user's terms."""
    return KINDS.get(memory.space) or ("private array" if memory.elements > 1 else "variable")


def _moves(op: Op, operand: int) -> Type | None:
    """The type that an operation reads or writes through the pointer at this operand; None if it does neither."""
    if operand != 0 or op.opcode not in ("load", "store"):
        return None
    return op.results[0].type if op.opcode == "load" else op.operands[1].type


def _bytes(memory: MemoryObject) -> int:
    per_element = POINTER_BYTES if isinstance(memory.element, PointerType) else 2 * memory.element.bytes
    return memory.elements * per_element
