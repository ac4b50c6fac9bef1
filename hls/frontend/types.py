"""The types of OpenCL C that the compiler supports, and C's rules for converting between them."""

from dataclasses import dataclass, field, replace
from typing import Any

from ..ir import BOOL, PTR, FloatType, IntType
from ..ir import Type as IRType

__all__ = [
    "BOOL_T",
    "CHAR",
    "DOUBLE",
    "EVENT",
    "FLOAT",
    "HALF",
    "INT",
    "LONG",
    "SCALARS",
    "SHORT",
    "UCHAR",
    "UINT",
    "ULONG",
    "USHORT",
    "VECTORS",
    "VECTOR_LENGTHS",
    "VOID",
    "Array",
    "CType",
    "Float",
    "Int",
    "Member",
    "Pointer",
    "Qualified",
    "Struct",
    "Vector",
    "Void",
    "aggregate",
    "alignment",
    "arithmetic",
    "common",
    "container",
    "element_of",
    "exact",
    "integer",
    "ir_type",
    "mask_of",
    "number",
    "promoted",
    "signed_of",
    "truth_of",
    "unsigned_of",
    "with_element",
]


@dataclass(frozen=True)
class Int:
    """An integer type; ``bool`` has one bit of value and one byte of size.

    An ``exact`` integer, of any width, is computed in that width and not promoted to int. In memory it is the next
    wider integer of C (:func:`container`).
    """

    name: str
    bits: int
    signed: bool
    exact: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        """Bytes in memory: those of the next wider integer of C."""
        return max(1, 1 << (self.bits - 1).bit_length() >> 3)


@dataclass(frozen=True)
class Float:
    """A type of IEEE 754 numbers of 16, 32 or 64 bits."""

    name: str = "float"
    bits: int = 32

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return self.bits // 8


@dataclass(frozen=True)
class Void:
    """The type without values; only pointers to it have a size."""

    def __str__(self) -> str:
        return "void"

    @property
    def size(self) -> int:
        """TypeError: the caller knows that the type has values, so it is another one."""
        raise TypeError("void has no size")


@dataclass(frozen=True)
class Pointer:
    """A pointer; the qualifiers ``const`` and ``volatile`` are those of its target."""

    pointee: "CType"
    space: str
    const: bool = False
    volatile: bool = False
    restrict: bool = False

    size = 8

    def __str__(self) -> str:
        words = [f"__{self.space}"] if self.space != "private" else []
        words += [w for w, on in (("const", self.const), ("volatile", self.volatile)) if on]
        return " ".join([*words, str(self.pointee), "*" + ("restrict" if self.restrict else "")])


@dataclass(frozen=True)
class Array:
    """``length`` elements in a row; an element may be an array."""

    element: "CType"
    length: int

    def __str__(self) -> str:
        return f"{self.element}[{self.length}]"

    @property
    def size(self) -> int:
        """Bytes in memory of all elements."""
        return self.element.size * self.length

    @property
    def scalar(self) -> "CType":
        """The element type of the innermost dimension."""
        return self.element.scalar if isinstance(self.element, Array) else self.element


@dataclass(frozen=True)
class Vector:
    """``length`` numbers side by side; three occupy the space of four."""

    element: "Int | Float"
    length: int

    def __str__(self) -> str:
        return f"{self.element}{self.length}"

    @property
    def size(self) -> int:
        """Bytes in memory; three components occupy the space of four."""
        return self.element.size * (4 if self.length == 3 else self.length)


@dataclass(frozen=True)
class Member:
    """One member of a struct or union."""

    name: str
    type: "CType"
    offset: int  #: bytes from the beginning of the struct


@dataclass(eq=False)
class Struct:
    """A struct or union. ``members`` is None until its body has been seen. Each declaration is a type of its own."""

    name: str
    union: bool
    members: tuple[Member, ...] | None = None
    size: int = 0
    align: int = 1
    #: name of a member -> its number; for a member inside unnamed members, preceded by their numbers
    index: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    tagged: bool = True  #: the name is a tag, not that of a typedef
    opaque: bool = False  #: values with pointers to it were used before its body was seen: such a pointer is one scalar

    def __str__(self) -> str:
        if not self.tagged:
            return self.name
        return f"{'union' if self.union else 'struct'} {self.name or '<without a name>'}"

    def complete(self, members: list[tuple[str, "CType", int]], packed: bool, align: int) -> None:
        """Lay out ``members``: (name, type, least alignment). ``align`` is the least alignment of the whole."""
        laid, end = [], 0
        for name, type, least in members:
            wanted = max(1 if packed else alignment(type), least)
            offset = 0 if self.union else -(-end // wanted) * wanted
            laid.append(Member(name, type, offset))
            end = max(end, offset + type.size)
            self.align = max(self.align, wanted)
        self.align = max(self.align, align)
        self.members, self.size = tuple(laid), -(-end // self.align) * self.align
        for k, member in enumerate(laid):
            inner = {member.name: ()} if member.name else member.type.index
            self.index |= {name: (k, *path) for name, path in inner.items()}

    def same_layout(self, other: "Struct") -> bool:
        """Whether both have the same members at the same places."""
        return (self.union, self.members, self.size, self.align) == (
            other.union,
            other.members,
            other.size,
            other.align,
        )


CType = Int | Float | Void | Pointer | Array | Vector | Struct

BOOL_T = Int("bool", 1, False)
CHAR, UCHAR = Int("char", 8, True), Int("uchar", 8, False)
SHORT, USHORT = Int("short", 16, True), Int("ushort", 16, False)
INT, UINT = Int("int", 32, True), Int("uint", 32, False)
LONG, ULONG = Int("long", 64, True), Int("ulong", 64, False)
HALF, FLOAT, DOUBLE, VOID = Float("half", 16), Float(), Float("double", 64), Void()

SCALARS: dict[str, CType] = {
    t.name: t for t in (BOOL_T, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE)
}
_UNSIGNED = {CHAR: UCHAR, SHORT: USHORT, INT: UINT, LONG: ULONG}
_SIGNED = {unsigned: signed for signed, unsigned in _UNSIGNED.items()}
_SIGNED_OF_SIZE = {t.size: t for t in _UNSIGNED}

#: ``event_t``: what copies by the group return; its values are numbers, but it is declared in functions only
EVENT = Int("event_t", 32, False)

VECTOR_LENGTHS = (2, 3, 4, 8, 16)
#: name -> vector type
VECTORS: dict[str, Vector] = {
    f"{name}{n}": Vector(t, n) for name, t in SCALARS.items() if t != BOOL_T for n in VECTOR_LENGTHS
}


@dataclass(frozen=True)
class Qualified:
    """A type as written in a declaration."""

    type: CType
    const: bool = False
    volatile: bool = False
    restrict: bool = False
    space: str | None = None  #: the address space written, if any

    def pointer(self, **qualifiers: Any) -> "Qualified":
        """A pointer to this; without an address space it points to private memory."""
        pointee = Pointer(
            self.type, self.space or "private", self.const, self.volatile, qualifiers.pop("restrict", False)
        )
        return Qualified(pointee, **qualifiers)

    def array(self, length: int) -> "Qualified":
        """The type of an array of ``length`` elements of this type, with the same qualifiers."""
        return replace(self, type=Array(self.type, length))


def integer(t: CType) -> bool:
    """Whether the type is an integer type."""
    return isinstance(t, Int)


def arithmetic(t: CType) -> bool:
    """Whether it is a scalar number."""
    return isinstance(t, (Int, Float))


def number(t: CType) -> bool:
    """Whether it is a number or a vector of numbers."""
    return isinstance(t, (Int, Float, Vector))


def aggregate(t: CType) -> bool:
    """Whether a value of the type is several scalars."""
    return isinstance(t, (Vector, Struct, Array))


def element_of(t: CType) -> CType:
    """The element type of a vector; a scalar is its own element."""
    return t.element if isinstance(t, Vector) else t


def with_element(t: CType, element: CType) -> CType:
    """A type of the same shape (scalar, or vector of a length) with other elements."""
    return Vector(element, t.length) if isinstance(t, Vector) else element


def alignment(t: CType) -> int:
    """The alignment in bytes that a type requires."""
    if isinstance(t, Array):
        return alignment(t.element)
    return t.align if isinstance(t, Struct) else t.size


def promoted(t: CType) -> CType:
    """C's integer promotion: a type narrower than int becomes int, unless its width is exact."""
    return INT if isinstance(t, Int) and t.bits < 32 and not t.exact else t


def exact(bits: int, signed: bool) -> Int:
    """The integer of exactly so many bits."""
    return Int(f"{'' if signed else 'u'}int{bits}_t", bits, signed, True)


def container(t: CType) -> CType:
    """The C integer with the size and signedness of an exact one; any other type is its own container."""
    if not isinstance(t, Int) or not t.exact:
        return t
    signed = _SIGNED_OF_SIZE[t.size]
    return signed if t.signed else _UNSIGNED[signed]


def common(a: CType, b: CType) -> CType:
    """The type of an operation on the scalars ``a`` and ``b`` (C99 6.3.1.8)."""
    floats = [t for t in (a, b) if isinstance(t, Float)]
    if floats:
        return max(floats, key=lambda t: t.bits)
    a, b = promoted(a), promoted(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return b if a.signed else a


def unsigned_of(t: CType) -> CType:
    """The unsigned type of the same bits; that of a vector has vectors of it."""
    if isinstance(t, Int) and t.exact:
        return exact(t.bits, False)
    return with_element(t, _UNSIGNED.get(element_of(t), element_of(t)))


def signed_of(t: CType) -> CType:
    """The signed type of the same bits; that of a vector has vectors of it."""
    return with_element(t, _SIGNED.get(element_of(t), element_of(t)))


def mask_of(t: Vector) -> Vector:
    """The type of a comparison of vectors: signed integers as wide as the elements."""
    return Vector(_SIGNED_OF_SIZE[t.element.size], t.length)


def truth_of(t: CType) -> CType:
    """The type of a comparison of two values of the type."""
    return mask_of(t) if isinstance(t, Vector) else INT


def ir_type(t: CType) -> IRType:
    """The IR type that holds a value of the (scalar or pointer) type."""
    if isinstance(t, Float):
        return FloatType(t.bits)
    if isinstance(t, Pointer):
        return PTR
    return BOOL if t.bits == 1 else IntType(t.bits)
