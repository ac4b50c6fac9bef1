"""The memories of an interpreted kernel: bytes with checked accesses."""

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..diag import Span
from ..narrow import present
from .attributes import Attr
from .nodes import MemoryObject
from .types import ArrayType, FloatType, IntType, PointerType, Type
from .values import Constant, bits_to_float, float_to_bits

__all__ = [
    "OUTSIDE",
    "BoundMemory",
    "ExecutionError",
    "accessors",
    "address_arithmetic",
    "bind_buffer",
    "clear",
    "failed_early",
    "fails",
    "moved",
    "new_memory",
    "read_early",
    "same_place",
    "shift",
    "zero",
]

#: The byte offset that stands for all with more than 64 bits: the least number, far from every memory.
OUTSIDE = 1 << 63
_INT_FORMAT = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
_FLOAT_FORMAT = {2: "<e", 4: "<f", 8: "<d"}


class ExecutionError(Exception):
    """A run that failed at ``span``; ``memory`` and byte ``offset`` are set for an access outside its memory, the
    latter as far as it is known."""

    def __init__(
        self, message: str, span: Span | None = None, memory: str | None = None, offset: int | None = None
    ) -> None:
        self.span, self.memory, self.offset = span, memory, offset
        super().__init__(f"{span}: {message}" if span else message)


@dataclass(slots=True)
class BoundMemory:
    """A memory object's bytes in one run; a list of pointers instead if the elements are pointers."""

    name: str
    data: memoryview | bytearray | list
    size: int  #: bytes


#: a pointer in a run: a memory and a byte offset in it; None for null
Pointer = tuple[BoundMemory, int] | None


def new_memory(memory: MemoryObject) -> BoundMemory:
    """A private memory, zeroed."""
    length = present(memory.length)
    size = length * memory.element.bytes
    pointers = isinstance(memory.element, PointerType)
    return BoundMemory(memory.name, [None] * length if pointers else bytearray(size), size)


def clear(bound: BoundMemory) -> None:
    """Set the memory to 0 (pointers to null)."""
    if isinstance(bound.data, list):
        bound.data[:] = [None] * len(bound.data)
    else:
        bound.data[:] = bytes(len(bound.data))


def shift(bound: BoundMemory, attrs: Mapping[str, int], size: int) -> None:
    """Execute the operation `shift` with these attributes on elements of ``size`` bytes."""
    low, high, by = attrs[Attr.LOW] * size, attrs[Attr.HIGH] * size, attrs[Attr.BY] * size
    if by > 0:
        bound.data[low + by : high] = bytes(bound.data[low : high - by])
    else:
        bound.data[low : high + by] = bytes(bound.data[low - by : high])


def bind_buffer(memory: MemoryObject, buffers: Mapping[str, Any]) -> BoundMemory:
    """The host's buffer for a global memory, with no bytes if that is None; ValueError if it is missing or not
    contiguous."""
    if memory.name not in buffers:
        raise ValueError(f"buffer argument {memory.name} is missing")
    given = buffers[memory.name]
    view = memoryview(bytearray() if given is None else given)
    if not view.c_contiguous:
        raise ValueError(f"buffer argument {memory.name} is not contiguous")
    view = view.cast("B") if view.nbytes else memoryview(bytearray())
    return BoundMemory(memory.name, view, view.nbytes)


def zero(type: Type) -> Constant | None:
    """The result of an access with a false predicate, by type; None is the null pointer."""
    if isinstance(type, ArrayType):
        return (0.0 if isinstance(type.element, FloatType) else 0,) * type.length
    if isinstance(type, PointerType):
        return None
    return 0.0 if isinstance(type, FloatType) else 0


def same_place(one: Pointer, other: Pointer) -> int:
    """1 if two pointers are the same address, or both are null."""
    if _is_null(one) or _is_null(other):
        return int(_is_null(one) and _is_null(other))
    (memory, place), (other_memory, other_place) = present(one), present(other)
    return int(memory is other_memory and place == other_place)


def first_address(number: int) -> int:
    """The address at which the memory object of this number begins, for a program that converts pointers to numbers:
    objects are far apart, none at 0, and each begins at a multiple of 64 KiB, also in the lower 32 bits."""
    return (number + 1) * ((1 << 36) + (1 << 16))


def address(pointer: Pointer, names: list[str]) -> int:
    """The pointer as a number; ``names`` are the memory objects of the function."""
    if _is_null(pointer):
        return 0
    memory, offset = present(pointer)
    number = names.index(memory.name) if memory.name in names else len(names)
    return first_address(number) + offset & (1 << 64) - 1


def address_arithmetic(opcode: str, one: int, other: int) -> int:
    """A sum, difference or product of signed byte offsets; OUTSIDE if it has more than 64 bits, or if an operand is
    OUTSIDE."""
    one, other = (one ^ OUTSIDE) - OUTSIDE, (other ^ OUTSIDE) - OUTSIDE
    result = one * other if opcode == "mul" else one + other if opcode == "add" else one - other
    lost = opcode != "mul" and -OUTSIDE in (one, other)
    return OUTSIDE if lost or not -OUTSIDE <= result < OUTSIDE else result & (1 << 64) - 1


def moved(pointer: Pointer, offset: int) -> Pointer:
    """The pointer moved by so many bytes; null stays null."""
    return pointer and (pointer[0], address_arithmetic("add", pointer[1], offset))


def read_early(load: Callable, type: Type, pointer: Pointer, span: object) -> object:
    """What ``load(pointer, span)`` reads; outside its memory some value on which nothing must depend, here one whose
    bits are all set, as far as the type has it."""
    try:
        return load(pointer, span)
    except ExecutionError:
        return _anything(type)


def fails(load: Callable, pointer: Pointer) -> int:
    """1 if ``load(pointer, span)`` reads outside its memory."""
    try:
        load(pointer, None)
    except ExecutionError:
        return 1
    return 0


def failed_early(memory: str, span: Span | None) -> None:
    """The end of a run in which the program makes an early load that failed: it is not known which address it had."""
    raise ExecutionError(f"read outside of {memory}", span, memory)


def _anything(type: Type) -> object:
    if isinstance(type, ArrayType):
        return (_anything(type.element),) * type.length
    return math.nan if isinstance(type, FloatType) else (1 << type.bits) - 1


def _is_null(pointer) -> bool:
    """Whether it was never set, or is an argument for which the host passed no buffer."""
    return pointer is None or pointer[0].size == 0


def _place(pointer, size, span, verb):
    """Check an access of ``size`` bytes; returns its (data, offset)."""
    if pointer is None:
        raise ExecutionError(f"{verb} through a pointer that is null or was never set", span)
    memory, offset = pointer
    if offset > memory.size - size:
        signed = offset - (1 << 64) if offset >> 63 else offset
        where = "a byte offset of more than 64 bits" if offset == OUTSIDE else f"byte offset {signed}"
        raise ExecutionError(
            f"{verb} of {size} bytes at {where} of {memory.name}, which has {memory.size} bytes",
            span,
            memory.name,
            signed,
        )
    return memory.data, offset


@cache
def accessors(type: Type, masked: bool = False) -> tuple[Callable, Callable]:
    """(load(pointer, span) -> value, store(pointer, value, span)) for values of the type; for an array with a mask of
    its lanes, the mask comes before the span."""
    if isinstance(type, PointerType):
        return _load_pointer, _store_pointer
    if isinstance(type, ArrayType):
        return _lane_accessors(type) if masked else _array_accessors(type)
    size = type.bytes
    if isinstance(type, FloatType):
        return _float_accessors(type)
    if isinstance(type, IntType):
        layout, mask = struct.Struct(_INT_FORMAT[size]), (1 << type.bits) - 1
        decode, encode = mask.__and__, int
    else:
        raise TypeError(f"no memory access has type {type}")

    def load(pointer, span):
        data, offset = _place(pointer, size, span, "read")
        return decode(layout.unpack_from(data, offset)[0])

    def store(pointer, value, span) -> None:
        data, offset = _place(pointer, size, span, "write")
        layout.pack_into(data, offset, encode(value))

    return load, store


def _float_accessors(type: FloatType):
    """A NaN is moved as bits: a C conversion could change them."""
    size, bits, layout, whole = (
        type.bytes,
        type.bits,
        struct.Struct(_FLOAT_FORMAT[type.bytes]),
        struct.Struct(_INT_FORMAT[type.bytes]),
    )

    def load(pointer, span):
        data, offset = _place(pointer, size, span, "read")
        value = layout.unpack_from(data, offset)[0]
        return bits_to_float(whole.unpack_from(data, offset)[0], bits) if math.isnan(value) else value

    def store(pointer, value, span) -> None:
        data, offset = _place(pointer, size, span, "write")
        if math.isnan(value):
            whole.pack_into(data, offset, float_to_bits(value, bits))
        else:
            layout.pack_into(data, offset, value)

    return load, store


def _array_accessors(type: ArrayType):
    size, count = type.element.bytes, type.length
    load_one, store_one = accessors(type.element)

    def load(pointer, span):
        data, offset = _place(pointer, size * count, span, "read")
        memory = BoundMemory("", data, offset + size * count)
        return tuple(load_one((memory, offset + k * size), span) for k in range(count))

    def store(pointer, value, span) -> None:
        data, offset = _place(pointer, size * count, span, "write")
        memory = BoundMemory("", data, offset + size * count)
        for k in range(count):
            store_one((memory, offset + k * size), value[k], span)

    return load, store


def _lane_accessors(type: ArrayType):
    load_lane, store_lane = accessors(type.element)
    nothing = zero(type.element)

    def places(pointer, mask):
        memory, offset = pointer
        return [(memory, (offset + k * type.element.bytes) % (1 << 64)) if on else None for k, on in enumerate(mask)]

    def load(pointer, mask, span):
        return tuple(load_lane(place, span) if place else nothing for place in places(pointer, mask))

    def store(pointer, values, mask, span) -> None:
        for place, value in zip(places(pointer, mask), values, strict=True):
            if place:
                store_lane(place, value, span)

    return load, store


def _load_pointer(pointer, span):
    data, offset = _place(pointer, 8, span, "read")
    return data[offset // 8]


def _store_pointer(pointer, value, span) -> None:
    data, offset = _place(pointer, 8, span, "write")
    data[offset // 8] = value
