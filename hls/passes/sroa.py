"""Private arrays that are indexed by constants become one variable for each element."""

from dataclasses import dataclass, replace

from ..ir import Builder, Function, MemoryObject, Op, PointerType, uses, walk
from ..ir.clone import clone_function
from ..ir.rewrite import constant, rewrite

__all__ = ["SplitArrays"]


@dataclass(frozen=True)
class SplitArrays:
    """Before: private arrays (after pointers). After: those of which every access is one whole element at a constant
    place are scalar variables named ``array.k``, which mem2reg makes values."""

    name = "split-arrays"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        table = uses(result.body)
        places: dict[str, list[Op]] = {}
        for op in walk(result.body):
            if op.opcode == "addr" and result.memories[op.attrs["mem"]].space == "private":
                places.setdefault(op.attrs["mem"], []).append(op)
        for name, addrs in places.items():
            memory = result.memories[name]
            if memory.length > 1 and all(_is_element(op, memory, table.get(op.result, [])) for op in addrs):
                _split(result, memory)
        return result


def _is_element(addr: Op, memory, users) -> bool:
    """Whether the address is a constant element of the memory, used by accesses of the element's type only."""
    offset = constant(addr.operands[0])
    if offset is None or offset % memory.element.bytes or offset >= memory.length * memory.element.bytes:
        return False
    if isinstance(memory.element, PointerType):
        return False
    return all(user.opcode in ("load", "store") and index == 0 and _type(user) == memory.element
               for user, index in users)


def _type(access: Op):
    return access.result.type if access.opcode == "load" else access.operands[1].type


def _split(function: Function, memory: MemoryObject):
    """Replace the memory by scalars, and its addresses by theirs."""
    del function.memories[memory.name]
    names: dict[int, str] = {}

    def visit(op: Op, b: Builder):
        if op.opcode != "addr" or op.attrs["mem"] != memory.name:
            return None
        element = constant(op.operands[0]) // memory.element.bytes
        if element not in names:
            names[element] = _fresh(f"{memory.name}.{element}", function)
            function.memories[names[element]] = replace(memory, name=names[element], length=1)
        return [b.addr(names[element])]

    rewrite(function.body, visit)


def _fresh(name: str, function: Function) -> str:
    while name in function.memories:
        name += "_"
    return name
