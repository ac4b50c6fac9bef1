"""Multi-buffering: copies of memories that iterations or groups use in rotation, once their number is known."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from ...ir import BOOL, Attr, Builder, Function, IntType, MemoryObject, Op, Region, Value
from ...ir.loops import add_carried
from ...ir.rewrite import rewrite

__all__ = ["MOST_COPIES", "SHORT_WAY", "Rotation", "copy_stride", "counted", "power_of_two", "rotate"]

MOST_COPIES = 16
#: cycles of an invocation of a loop in addition to its iterations, if it does not wait for global memory
SHORT_WAY = 32


@dataclass(frozen=True, eq=False)
class Rotation:
    """Memories that get ``copies``, a power of two; an iteration of ``loop`` accesses copy number ``slot``, of as many
    bits."""

    loop: Op
    names: tuple[str, ...]
    copies: int
    slot: Value


def power_of_two(number: int) -> int:
    """The least power of two that is not less than ``number``."""
    return 1 << (number - 1).bit_length()


def copy_stride(memory: MemoryObject) -> int:
    """Bytes from one copy of a memory to the next: a power of two, so that the copy number forms the bits above those
    of an offset."""
    return power_of_two(memory.elements * memory.element.bytes)


def counted(outside: Region, loop: Op, copies: int, name: str, group: Op | None = None) -> Value:
    """A carried value of ``loop``, an operation of ``outside``, that counts its iterations modulo the copies; with
    ``group``, an operation of its body, it counts the groups whose last work-item has passed it."""
    (body,), type = loop.regions, IntType((copies - 1).bit_length())
    start, step = Builder(Region(), loop.span), Builder(Region(), group.span if group else loop.span)
    slot = add_carried(loop, start.const(0, type), name)
    if group is None:
        one = step.const(1, type)
    else:
        last = group.operands[1]
        one = last if type == BOOL else step.value("zext", last, result=type)
    slot.set_next(step.value("add", slot.arg, one))
    at, first = outside.ops.index(loop), body.ops.index(group) if group else 0
    outside.ops[at:at], body.ops[first:first] = start.region.ops, step.region.ops
    return slot.arg


def rotate(function: Function, rotations: Iterable[Rotation]) -> None:
    """Enlarge the memories to all copies, and add the copy number to every address."""
    for each in rotations:
        strides = {name: copy_stride(function.memories[name]) for name in each.names}
        for name in each.names:
            function.memories[name] = _with_copies(function.memories[name], each.copies)
        rewrite(each.loop.regions[0], partial(_in_copy, strides=strides, slot=each.slot))


def _with_copies(memory: MemoryObject, copies: int) -> MemoryObject:
    length = copies * copy_stride(memory) // memory.element.bytes
    return replace(memory, length=length, attrs=(*memory.attrs, (Attr.COPIES, copies)))


def _in_copy(op: Op, b: Builder, strides: dict[str, int], slot: Value) -> list[Value] | None:
    """The address in the owner's copy: the copy number forms the bits above the offset."""
    if op.opcode != "addr" or op.attrs[Attr.MEM] not in strides:
        return None
    inside = (strides[op.attrs[Attr.MEM]] - 1).bit_length()
    type = IntType(inside + slot.type.bits)
    offset = op.operands[0]
    if offset.type.bits > inside:
        offset = b.value("trunc", offset, result=IntType(inside)) if inside else b.const(0, type)
    if offset.type != type:
        offset = b.value("zext", offset, result=type)
    copy = slot if not inside else b.value("shl", b.value("zext", slot, result=type), b.const(inside, type))
    return [b.value("addr", b.value("or", copy, offset), attrs={Attr.MEM: op.attrs[Attr.MEM]})]
