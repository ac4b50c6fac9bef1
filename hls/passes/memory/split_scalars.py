"""SROA of dynamically indexed scalars: a scalar accessed by parts becomes an array of its smallest part."""

from dataclasses import dataclass, replace

from ...ir import Attr, Builder, Function, IntType, MemoryObject, Op, PointerType, Type, Value, uses, walk
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ...narrow import present
from ..manager import Form, FunctionPass
from .legalize_accesses import split_load, split_store

__all__ = ["SplitScalars"]


@dataclass(frozen=True)
class SplitScalars(FunctionPass):
    """SROA of dynamically indexed scalars. Before: private memories (after LowerPointers), those with constant offsets
    only already split. After: a scalar of which a part is accessed at an offset known at run time only, as in a union
    of a word and its bytes, is an array of parts of one size, and larger accesses are split. (Arrays with such accesses
    are left alone: memories serve accesses of any size.)
    """

    name = "split-scalars"
    requires = frozenset({Form.POINTERS_LOWERED})

    def run(self, function: Function) -> Function:
        """A copy in which scalars accessed in parts are arrays of their parts; the function itself if there are
        none."""
        sizes = {
            name: size
            for name, accesses in _accesses(function).items()
            if (size := _granule(function.memories[name], accesses))
        }
        if not sizes:
            return function
        result = clone_function(function)
        for name, size in sizes.items():
            memory = result.memories[name]
            result.memories[name] = replace(memory, element=IntType(8 * size), length=memory.element.bytes // size)
        rewrite(result.body, lambda op, b: _split(op, sizes, b))
        return result


def _accesses(function: Function) -> dict[str, list[Op | None]]:
    """The loads and stores of each private variable; None among them stands for any other use of its address."""
    found: dict[str, list[Op | None]] = {}
    table = uses(function.body)
    for op in walk(function.body):
        if (
            op.opcode == "addr"
            and (memory := function.memories[op.attrs[Attr.MEM]]).space == "private"
            and memory.length == 1
        ):
            found.setdefault(memory.name, []).extend(
                user if user.opcode in ("load", "store") and index == 0 else None
                for user, index in table.get(op.result, [])
            )
    return found


def _granule(memory: MemoryObject, accesses: list[Op | None]) -> int:
    """Bytes that divide the size and the offset of every access; 0 if the variable is to be left alone."""
    if isinstance(memory.element, PointerType) or None in accesses:
        return 0
    types = [_type(present(op)) for op in accesses]
    if all(type.bits == memory.element.bits for type in types) or any(type.bits != 8 * type.bytes for type in types):
        return 0
    together = memory.element.bytes
    for op, type in zip(accesses, types):  # an offset is a multiple of the size, or of ``align``
        together |= type.bytes | present(op).attrs.get(Attr.ALIGN, type.bytes)
    return together & -together


def _type(access: Op) -> Type:
    return access.result.type if access.opcode == "load" else access.operands[1].type


def _split(op: Op, sizes: dict[str, int], b: Builder) -> list[Value] | None:
    if op.opcode not in ("load", "store"):
        return None
    addr = op.operands[0].op
    size = sizes.get(addr.attrs[Attr.MEM]) if addr is not None and addr.opcode == "addr" else None
    if size is None:
        return None
    op.attrs = {name: value for name, value in op.attrs.items() if name != Attr.ALIGN}
    if _type(op).bytes == size:
        return None
    return [split_load(op, size, b)] if op.opcode == "load" else split_store(op, size, b)
