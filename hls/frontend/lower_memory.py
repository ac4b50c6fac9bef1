"""Locations and accesses: variables, members, elements, and targets of pointers.

The value of a scalar is one IR value; that of a vector, a struct or an array is a tuple of its scalars in memory order
(``hls.frontend.layout.leaves``). A vector or struct in global or local memory is moved by one wide access if its size
is a power of two; see docs/rationale/vectors.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import gcd
from typing import Any

from ..diag import Span
from ..ir import I64, ArrayType, Attr, Builder, IntType, Op, Region, Type, Value
from ..ir.storage import OUTSIDE
from . import tree as tt
from . import types as ct
from .bits import Chunks
from .layout import has_pointer, leaves, several, split_pointer, splits, steps, stored_type
from .storage import Storage

__all__ = ["Address", "MemoryLowering", "Part"]

_MOST_WIDE_BYTES = 128


@dataclass(frozen=True)
class Address:
    """A location: in the memory ``memory``, or at the pointer value ``base``; plus ``offset`` bytes (i64).

    ``wide``: accesses of many scalars may be combined into one. ``align``: the known alignment in bytes, if it is less
    than that of the access type. ``unit``: the load-store unit that the program chose.
    """

    memory: str | None = None
    base: Value | None = None
    offset: Value | None = None
    name: str = ""  #: of the variable, for the names of loaded values
    wide: bool = False
    align: int | None = None
    unit: tuple[str, int] | None = None


@dataclass(frozen=True)
class Part:
    """A location in a variable that is split: the member ``path``, and the element ``index`` (i64) over all array
    dimensions. ``coarse``: what holds no pointer is not split. The variable may be known by ``pointers`` to its parts
    only, in the order of :func:`splits`; it then has the type ``struct``."""

    variable: tt.Variable | None
    path: tuple[int, ...] = ()
    index: Value | None = None
    coarse: bool = False
    pointers: tuple[Value, ...] = ()
    struct: ct.CType | None = None


class MemoryLowering:
    """Appends operations to ``self.builder``, whose region changes as branches are entered."""

    def __init__(self, storage: Storage, body: Region) -> None:
        self.storage = storage
        self.builder = Builder(body)
        self.always = self.builder.true()  #: the predicate of every access

    # -- regions and operations

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """Temporarily append to ``region``."""
        outer, self.builder.region = self.builder.region, region
        try:
            yield
        finally:
            self.builder.region = outer

    def op(self, span: Span, opcode: str, *operands: Value, **options: Any) -> Op:
        """Append an operation with the location ``span``, and return it."""
        self.builder.span = span
        return self.builder.op(opcode, *operands, **options)

    def emit(self, span: Span, opcode: str, *operands: Value, **options: Any) -> Value:
        """Append an operation of one result, and return that result."""
        return self.op(span, opcode, *operands, **options).result

    def offset(self, span: Span, opcode: str, one: Value, other: Value) -> Value:
        """A sum, difference or product in an address computation."""
        return self.emit(span, opcode, one, other, attrs={Attr.INBOUNDS: True})

    def const(self, span: Span, value: float | bool, type: Type) -> Value:
        """Append a constant of an IR type."""
        self.builder.span = span
        return self.builder.const(value, type)

    def zero(self, t: ct.CType, span: Span) -> Value:
        """0 of a scalar type."""
        return self.const(span, 0.0 if isinstance(t, ct.Float) else 0, ct.ir_type(t))

    # -- locations

    def address(self, e: tt.LValue, accessed: bool = True) -> Address | Part:
        """The location of the lvalue. ``accessed``: a load or a store follows, so that each subscript is within its
        array; otherwise it may also be that of the place behind the last element."""
        if isinstance(e, tt.VariableRef):
            if e.variable.kind == "program":
                name, pointer = self.storage.program_variable(e.variable)
                return Address(name if pointer is None else None, pointer, name=e.variable.name, wide=True)
            if self.storage.apart(e.variable):
                return Part(e.variable, coarse=self.storage.coarse(e.variable))
            return Address(self.storage.memory(e.variable), name=e.variable.name, wide=e.variable.kind == "shared")
        if isinstance(e, tt.Member):
            return self._member_place(self.address(e.base, accessed), e)
        if isinstance(e, tt.Lanes):
            return self.lane(self.address(e.base, accessed), e.lanes[0], e.base.type, e.span)
        place = self.target(e.pointer, accessed)
        if isinstance(e, tt.Packed):
            return replace(place, align=e.type.element.size)
        return replace(place, unit=e.unit) if e.unit and isinstance(place, Address) else place

    def _member_place(self, place, e: tt.Member) -> Address | Part:
        struct, member = e.base.type, e.base.type.members[e.index]
        if isinstance(place, Part) and not struct.union:
            return self._step_into(place, e.index, member.type, e.span)
        place = self._settled(place, struct, e.span)
        if struct.align < ct.alignment(member.type):
            place = replace(place, align=min(struct.align, place.align or struct.align))
        return self.moved(place, self.const(e.span, member.offset, I64), e.span) if member.offset else place

    def _step_into(self, place: Part, step: int, t: ct.CType, span: Span) -> Address | Part:
        """The location of a part of the type ``t``."""
        place = replace(place, path=(*place.path, step))
        return place if not place.coarse or has_pointer(t) else self._settled(place, t, span)

    def lane(self, place: Address | Part, lane: int, t: ct.Vector, span: Span) -> Address | Part:
        """The location of one component of the vector at a location."""
        if isinstance(place, Part):
            return replace(place, path=(*place.path, lane))
        return self.moved(place, self.const(span, lane * t.element.size, I64), span) if lane else place

    def moved(self, place: Address, distance: Value, span: Span) -> Address:
        """The location so many bytes further on."""
        offset = distance if place.offset is None else self.offset(span, "add", place.offset, distance)
        return replace(place, offset=offset)

    def _settled(self, place, t: ct.CType, span: Span) -> Address:
        """The location of something that is not split as an address."""
        if isinstance(place, Address):
            return place
        offset = place.index
        if offset is not None and t.size > 1:
            offset = self.offset(span, "mul", offset, self.const(span, t.size, I64))
        if place.struct is not None:
            paths = [path for path, _, _ in splits(place.struct)]
            return Address(base=place.pointers[paths.index(place.path)], offset=offset)
        memory = self.storage.part(place.variable, place.path)
        return Address(memory, offset=offset, name=memory)

    def target(self, e: tt.Expr, accessed: bool = False) -> Address | Part:
        """The location that the pointer expression points to; ``accessed``: that location itself."""
        if isinstance(e, tt.AddressOf):
            inside = accessed and isinstance(e.target.type, ct.Array)
            place = self.address(e.target, inside)
            whole = e.type.pointee == e.target.type  # a pointer to the array, not to its first element
            return place if whole else self._first(place, e.target.type, e.span)
        if isinstance(e, tt.PointerAdd):
            return self._moved(e, accessed)
        if isinstance(e, tt.VariableRef) and (buffer := self.storage.buffer(e.variable)):
            return Address(buffer, name=e.variable.name, wide=True)
        if isinstance(e, tt.Convert):
            place = self.target(e.operand)
            kept = isinstance(place, Address) or split_pointer(e.type)
            return place if kept else Address(base=self.value(e.operand))
        if split_pointer(e.type):
            return Part(None, coarse=True, pointers=self.value(e), struct=e.type.pointee)
        name = e.variable.name if isinstance(e, tt.VariableRef) else ""
        return Address(base=self.value(e), name=name, wide=e.type.space in ("global", "local"))

    def _first(self, place, t: ct.CType, span: Span):
        """The location of the first element, if the location is that of an array."""
        if isinstance(place, Part) and isinstance(t, ct.Array) and place.index is not None:
            return replace(place, index=self.offset(span, "mul", place.index, self.const(span, t.length, I64)))
        return place

    def _moved(self, e: tt.PointerAdd, accessed: bool):
        array = e.pointer.target.type if isinstance(e.pointer, tt.AddressOf) else None
        inside = accessed and isinstance(array, ct.Array) and not e.subtract and e.step == 1
        start = self.target(e.pointer, inside)
        apart = isinstance(start, Part)
        extent = array.length if inside else None
        step = self.distance(e.index, e.step * (1 if apart else e.pointer.type.pointee.size), e.span, extent)
        before = start.index if apart else start.offset
        if e.subtract:
            place = self.offset(e.span, "sub", self.const(e.span, 0, I64) if before is None else before, step)
        else:
            place = step if before is None else self.offset(e.span, "add", before, step)
        return replace(start, **{"index" if apart else "offset": place})

    def distance(self, index: tt.Expr, size: int, span: Span, extent: int | None = None) -> Value:
        """``index`` elements of ``size`` bytes, as an i64; ``extent``: of how many the index is one."""
        if isinstance(index, tt.Const):
            count = index.value - (
                1 << index.type.bits if index.type.signed and index.value >> index.type.bits - 1 else 0
            )
            bytes = count * size
            return self.const(span, bytes if -OUTSIDE <= bytes < OUTSIDE else OUTSIDE, I64)
        wide = ct.LONG if index.type.signed else ct.ULONG
        count = self.converted(index.span, self.value(index), index.type, wide)
        if extent:
            attrs = {Attr.INBOUNDS: True, Attr.EXTENT: extent}
            return self.emit(span, "mul", count, self.const(span, size, I64), attrs=attrs)
        return count if size == 1 else self.offset(span, "mul", count, self.const(span, size, I64))

    def pointer(self, a: Address, span: Span) -> Value:
        """The address as one pointer value."""
        if a.memory is not None:
            offset = a.offset if a.offset is not None else self.const(span, 0, I64)
            return self.emit(span, "addr", offset, attrs={Attr.MEM: a.memory})
        return a.base if a.offset is None else self.emit(span, "ptradd", a.base, a.offset)

    def pointer_to(self, place: Address | Part, t: ct.Pointer, span: Span) -> Value | tuple[Value, ...]:
        """The location as a value of the pointer type: one pointer to each part if that is split."""
        if not split_pointer(t):
            return self.pointer(self._settled(place, t.pointee, span), span)
        return tuple(self.pointer(part, span) for part in self._parts(place, t.pointee, span))

    def _parts(self, place: Address | Part, t: ct.CType, span: Span) -> list[Address]:
        """The first bytes of each part, in the order of :func:`splits`."""
        if isinstance(place, Part) and isinstance(t, ct.Array):
            return self._parts(self._first(place, t, span), t.element, span)
        if isinstance(place, Part) and has_pointer(t) and steps(t):
            return [part for inner, type in self._inner(place, t, span) for part in self._parts(inner, type, span)]
        return [self._settled(place, t, span)]

    def scalars(self, place: Address | Part, t: ct.CType, span: Span) -> list[tuple[Address, ct.CType]]:
        """The location of every scalar of a value at a location, in the order of ``leaves``."""
        if isinstance(place, Part) and several(t) and not (isinstance(t, ct.Struct) and t.union):
            return [one for inner, type in self._inner(place, t, span) for one in self.scalars(inner, type, span)]
        place = self._settled(place, t, span)
        return [
            (self.moved(place, self.const(span, offset, I64), span) if offset else place, scalar)
            for offset, scalar in leaves(t)
        ]

    def _inner(self, place: Part, t: ct.CType, span: Span):
        if isinstance(t, ct.Vector):
            return [(self.lane(place, k, t, span), t.element) for k in range(t.length)]
        if not isinstance(t, ct.Array):
            return [(self._step_into(place, k, type, span), type) for k, type in enumerate(steps(t))]
        first = self._first(place, t, span)
        return [
            (first if not k else replace(first, index=self._plus(first.index, k, span)), t.element)
            for k in range(t.length)
        ]

    def _plus(self, index: Value | None, k: int, span: Span) -> Value:
        number = self.const(span, k, I64)
        return number if index is None else self.offset(span, "add", index, number)

    # -- accesses

    def load(self, place: Address | Part, t: ct.CType, span: Span) -> Value | tuple[Value, ...]:
        """Load the value at a location: a tuple for a vector, struct or array."""
        if not several(t):
            return self._read(self._settled(place, t, span), t, span)
        wide = self._wide(place, t)
        if wide is None:
            return tuple(self._read(inner, scalar, span) for inner, scalar in self.scalars(place, t, span))
        whole = self.emit(
            span,
            "load",
            self.pointer(place, span),
            self.always,
            result=wide,
            name=place.name,
            attrs=_attributes(place, t, wide.bytes),
        )
        return self.chunks(span).unpacked(whole, leaves(t))

    def _read(self, place: Address, t: ct.CType, span: Span) -> Value:
        stored = ct.container(t)
        value = self.emit(
            span,
            "load",
            self.pointer(place, span),
            self.always,
            result=ct.ir_type(stored),
            name=place.name,
            attrs=_attributes(place, t, t.size),
        )
        return self.converted(span, value, stored, t)

    def store(self, place: Address | Part, value: Value | tuple[Value, ...], t: ct.CType, span: Span) -> None:
        """Store a value of the type to the location."""
        if not several(t):
            self._write(self._settled(place, t, span), value, t, span)
            return
        wide = self._wide(place, t)
        if wide is None:
            for (inner, scalar), one in zip(self.scalars(place, t, span), value, strict=True):
                self._write(inner, one, scalar, span)
            return
        whole = self.chunks(span).packed(value, leaves(t), wide)
        self.op(span, "store", self.pointer(place, span), whole, self.always, attrs=_attributes(place, t, wide.bytes))

    def _write(self, place: Address, value: Value, t: ct.CType, span: Span) -> None:
        value = self.converted(span, value, t, ct.container(t))
        self.op(span, "store", self.pointer(place, span), value, self.always, attrs=_attributes(place, t, t.size))

    def chunks(self, span: Span) -> Chunks:
        """A view of the builder that appends accesses in pieces, all with the location ``span``."""
        self.builder.span = span
        return Chunks(self.builder)

    def _wide(self, place, t: ct.CType) -> ArrayType | None:
        """The type of the single access that moves the whole value; None if each scalar is accessed separately."""
        if not isinstance(place, Address) or not place.wide or isinstance(t, ct.Array):
            return None
        if isinstance(t, ct.Vector):
            packed = place.align is not None and t.length == 3
            return None if packed else ArrayType(ct.ir_type(t.element), t.size // t.element.size)
        if t.size & t.size - 1 or not 1 < t.size <= _MOST_WIDE_BYTES or len(leaves(t)) < 2:
            return None
        chunk = gcd(8, *(n for offset, scalar in leaves(t) for n in (offset, scalar.size)))
        kinds = {stored_type(scalar) for _, scalar in leaves(t)}
        same = len(kinds) == 1 and min(kinds, key=str).bytes == chunk
        return ArrayType(kinds.pop() if same else IntType(8 * chunk), t.size // chunk)

    def set(self, memory: str, value: Value, span: Span) -> None:
        """Assign a scalar private memory by name."""
        self.op(span, "store", self.pointer(Address(memory), span), value, self.always)

    def get(self, memory: str, type: Type, span: Span) -> Value:
        """Append a load of the whole variable ``memory``, and return its value."""
        return self.emit(span, "load", self.pointer(Address(memory), span), self.always, result=type, name=memory)


def _attributes(place: Address, t: ct.CType, size: int) -> dict:
    """Attributes of an access whose alignment is less than its size, or whose unit the program chose."""
    known = min(ct.alignment(t), place.align or size)
    return ({Attr.ALIGN: known} if known < size else {}) | ({Attr.UNIT: place.unit} if place.unit else {})
