"""Decomposes a value of a type into scalars, and gives their layout in memory."""

from functools import cache
from math import gcd

from ..ir import ArrayType, IntType
from ..ir import Type as IRType
from ..ir.types import scalar_type
from ..ir.values import float_to_bits
from ..narrow import present
from . import types as ct

__all__ = [
    "CHUNKS",
    "Leaf",
    "encoded",
    "has_event",
    "has_pointer",
    "leaf_count",
    "leaves",
    "memory_element",
    "settled_count",
    "several",
    "split_pointer",
    "splits",
    "steps",
    "stored_type",
    "value_type",
]

#: (byte offset, scalar or pointer type) of one scalar of a value
Leaf = tuple[int, ct.CType]
#: unsigned integers by their size in bytes
CHUNKS = {1: ct.UCHAR, 2: ct.USHORT, 4: ct.UINT, 8: ct.ULONG}


def leaves(t: ct.CType) -> tuple[Leaf, ...]:
    """The scalars of a value of the type, in memory order, without padding; for a union, its bytes as words."""
    if isinstance(t, ct.Pointer):  # not remembered: what it points to may not be complete yet
        return tuple((8 * k, pointer) for k, pointer in enumerate(steps(t))) or ((0, t),)
    return _leaves(t)


@cache
def _leaves(t: ct.CType) -> tuple[Leaf, ...]:
    if isinstance(t, ct.Array):
        return _repeated(_settled(t.element), t.element.size, t.length)
    if isinstance(t, ct.Vector):
        return _repeated(((0, t.element),), t.element.size, t.length)
    if not isinstance(t, ct.Struct):
        return ((0, t),)
    if t.union:
        word = min(8, gcd(t.align, t.size))
        return _repeated(((0, CHUNKS[word]),), word, t.size // word)
    return tuple((m.offset + offset, scalar) for m in present(t.members) for offset, scalar in _settled(m.type))


def _settled(t: ct.CType) -> tuple[Leaf, ...]:
    """The scalars of a part of a value, whose number is the same from here on."""
    if isinstance(t, ct.Pointer) and isinstance(t.pointee, ct.Struct) and t.pointee.members is None:
        t.pointee.opaque = True
    return leaves(t)


def _repeated(inner: tuple[Leaf, ...], size: int, count: int) -> tuple[Leaf, ...]:
    return tuple((k * size + offset, scalar) for k in range(count) for offset, scalar in inner)


def leaf_count(t: ct.CType) -> int:
    """``len(leaves(t))`` without building the tuple."""
    return len(leaves(t)) if isinstance(t, ct.Pointer) else _leaf_count(t)


@cache
def _leaf_count(t: ct.CType) -> int:
    if isinstance(t, ct.Array):
        return t.length * settled_count(t.element)
    if isinstance(t, ct.Vector):
        return t.length
    if isinstance(t, ct.Struct) and not t.union:
        return sum(settled_count(m.type) for m in present(t.members))
    return len(leaves(t))


def settled_count(t: ct.CType) -> int:
    """The number of scalars of a part of a value, which is the same from here on."""
    return len(_settled(t)) if isinstance(t, ct.Pointer) else leaf_count(t)


def several(t: ct.CType) -> bool:
    """Whether a value of the type is several scalars: a vector, a struct, an array, or a split pointer."""
    return ct.aggregate(t) or split_pointer(t)


def split_pointer(t: ct.CType) -> bool:
    """Whether the type points to private structs that hold pointers, or to arrays of them. Such a struct has no bytes:
    each of its parts (see :func:`splits`) has a memory of its own, so its address is one pointer to each. The pointee
    must not lead back to itself, as the nodes of a list do."""
    struct = _unarrayed(t.pointee) if isinstance(t, ct.Pointer) and t.space == "private" else None
    if not isinstance(struct, ct.Struct):
        return False
    return not (struct.union or struct.opaque) and has_pointer(struct) and not _leads_to(struct, struct, set())


def _leads_to(t: ct.CType, goal: ct.Struct, seen: set[ct.Struct]) -> bool:
    """Whether ``goal`` is the type of something that is reached through the pointers of a value of the type."""
    if isinstance(t, ct.Array):
        return _leads_to(t.element, goal, seen)
    if isinstance(t, ct.Pointer):
        inner = _unarrayed(t.pointee)
        return inner is goal or _leads_to(inner, goal, seen)
    if not isinstance(t, ct.Struct) or t in seen:
        return False
    seen.add(t)
    return any(_leads_to(m.type, goal, seen) for m in t.members or ())


def _unarrayed(t: ct.CType) -> ct.CType:
    while isinstance(t, ct.Array):
        t = t.element
    return t


def steps(t: ct.CType) -> tuple[ct.CType, ...]:
    """The types of the parts into which a variable of the type is divided: the components of a vector, the members of
    a struct, the pointers of a split pointer. None for other types."""
    if isinstance(t, ct.Vector):
        return (t.element,) * t.length
    if isinstance(t, ct.Struct):
        return () if t.union else tuple(m.type for m in present(t.members))
    if not isinstance(t, ct.Pointer) or not split_pointer(t):
        return ()
    return tuple(ct.Pointer(_unarrayed(part), "private", t.const, t.volatile) for _, part, _ in splits(t.pointee))


def splits(
    t: ct.CType, path: tuple[int, ...] = (), count: int = 1
) -> tuple[tuple[tuple[int, ...], ct.CType, int], ...]:
    """The parts of a type that holds pointers, as split pointers need them: (path, type, bytes of it in one value of
    ``t``). Only what holds pointers is divided, so that every part without them has an address."""
    element = _unarrayed(t)
    inner = steps(element) if has_pointer(element) else ()
    if not inner:
        return ((path, t, count * t.size),)
    count *= t.size // element.size
    return tuple(part for k, step in enumerate(inner) for part in splits(step, (*path, k), count))


def value_type(t: ct.CType) -> IRType:
    """The single IR type of a value as passed by a host or a channel: for several scalars, an array of elements of a
    size that fits them all."""
    if not ct.aggregate(t):
        return ct.ir_type(t)
    size = gcd(8, t.size, *(n for offset, scalar in leaves(t) for n in (offset, scalar.size)))
    kinds = {stored_type(scalar) for _, scalar in leaves(t)}
    element = kinds.pop() if len(kinds) == 1 and leaves(t)[0][1].size == size else IntType(8 * size)
    return ArrayType(scalar_type(element), t.size // size)


def stored_type(t: ct.CType) -> IRType:
    """The IR type of the bytes of a scalar in memory."""
    return ct.ir_type(ct.UCHAR if t == ct.BOOL_T else ct.container(t))


def has_pointer(t: ct.CType) -> bool:
    """Whether the type contains a pointer."""
    if isinstance(t, ct.Struct):
        return any(has_pointer(m.type) for m in t.members or ())
    return has_pointer(t.element) if isinstance(t, ct.Array) else isinstance(t, ct.Pointer)


def has_event(t: ct.CType) -> bool:
    """Whether the type is that of events, or of pointers to them or arrays of them."""
    if isinstance(t, ct.Pointer):
        return has_event(t.pointee)
    return has_event(t.element) if isinstance(t, ct.Array) else t == ct.EVENT


@cache
def memory_element(t: ct.CType) -> IRType:
    """The element type of a memory that holds values of the type: their scalar, a word if all scalars have its size, or
    bytes."""
    if isinstance(t, ct.Array):
        return memory_element(t.element)
    if not isinstance(t, ct.Struct):
        return ct.ir_type(ct.container(ct.element_of(t)))
    kinds = {ct.ir_type(ct.container(scalar)) for _, scalar in leaves(t)}
    if len(kinds) == 1 and not t.union and all(offset % scalar.size == 0 for offset, scalar in leaves(t)):
        (kind,) = kinds
        return kind if t.size % kind.bytes == 0 else IntType(8)
    word = gcd(t.size, *(n for offset, scalar in leaves(t) for n in (offset, scalar.size)))
    return IntType(8 * word) if all(scalar.size == word for _, scalar in leaves(t)) else IntType(8)


def encoded(value: float, t: ct.CType) -> bytes:
    """The bytes of a constant scalar in memory, little endian."""
    bits = float_to_bits(value, t.bits) if isinstance(t, ct.Float) else int(value)
    return bits.to_bytes(t.size, "little")
