"""The types of OpenCL C that the compiler handles, and C's rules for converting between them."""

from dataclasses import dataclass, replace

from ..ir import BOOL, PTR, FloatType, IntType
from ..ir import Type as IRType

__all__ = [
    "BOOL_T", "CHAR", "DOUBLE", "FLOAT", "HALF", "INT", "LONG", "SCALARS", "SHORT", "UCHAR", "UINT", "ULONG", "USHORT", "VOID", "Array",
    "CType", "Float", "Int", "Pointer", "Qualified", "Void", "arithmetic", "common", "integer", "ir_type",
    "promoted", "unsigned_of",
]


@dataclass(frozen=True)
class Int:
    """An integer type; ``bool`` has one bit of value and one byte of size."""

    name: str
    bits: int
    signed: bool

    def __str__(self):
        return self.name

    @property
    def size(self) -> int:
        return max(1, self.bits // 8)


@dataclass(frozen=True)
class Float:
    name: str = "float"
    bits: int = 32

    def __str__(self):
        return self.name

    @property
    def size(self) -> int:
        return self.bits // 8


@dataclass(frozen=True)
class Void:
    def __str__(self):
        return "void"


@dataclass(frozen=True)
class Pointer:
    """A pointer; the qualifiers ``const`` and ``volatile`` are those of what it points to."""

    pointee: "CType"
    space: str
    const: bool = False
    volatile: bool = False
    restrict: bool = False

    size = 8

    def __str__(self):
        words = [f"__{self.space}"] if self.space != "private" else []
        words += [w for w, on in (("const", self.const), ("volatile", self.volatile)) if on]
        return " ".join([*words, str(self.pointee), "*" + ("restrict" if self.restrict else "")])


@dataclass(frozen=True)
class Array:
    element: "CType"
    length: int

    def __str__(self):
        return f"{self.element}[{self.length}]"

    @property
    def size(self) -> int:
        return self.element.size * self.length

    @property
    def scalar(self) -> "CType":
        """What the innermost dimension holds."""
        return self.element.scalar if isinstance(self.element, Array) else self.element


CType = Int | Float | Void | Pointer | Array

BOOL_T = Int("bool", 1, False)
CHAR, UCHAR = Int("char", 8, True), Int("uchar", 8, False)
SHORT, USHORT = Int("short", 16, True), Int("ushort", 16, False)
INT, UINT = Int("int", 32, True), Int("uint", 32, False)
LONG, ULONG = Int("long", 64, True), Int("ulong", 64, False)
HALF, FLOAT, DOUBLE, VOID = Float("half", 16), Float(), Float("double", 64), Void()

SCALARS: dict[str, CType] = {
    t.name: t for t in (BOOL_T, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE)}
_UNSIGNED = {CHAR: UCHAR, SHORT: USHORT, INT: UINT, LONG: ULONG}


@dataclass(frozen=True)
class Qualified:
    """A type as a declaration gives it."""

    type: CType
    const: bool = False
    volatile: bool = False
    restrict: bool = False
    space: str | None = None  #: the address space written, if any

    def pointer(self, **qualifiers) -> "Qualified":
        """A pointer to this; without an address space it points to private memory."""
        pointee = Pointer(self.type, self.space or "private", self.const, self.volatile, qualifiers.pop("restrict", False))
        return Qualified(pointee, **qualifiers)

    def array(self, length: int) -> "Qualified":
        return replace(self, type=Array(self.type, length))


def integer(t: CType) -> bool:
    return isinstance(t, Int)


def arithmetic(t: CType) -> bool:
    return isinstance(t, (Int, Float))



def promoted(t: CType) -> CType:
    """C's integer promotion: what is narrower than int becomes int."""
    return INT if isinstance(t, Int) and t.bits < 32 else t


def common(a: CType, b: CType) -> CType:
    """The type of an operation on ``a`` and ``b`` (C99 6.3.1.8)."""
    floats = [t for t in (a, b) if isinstance(t, Float)]
    if floats:
        return max(floats, key=lambda t: t.bits)
    a, b = promoted(a), promoted(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return b if a.signed else a


def unsigned_of(t: Int) -> Int:
    return _UNSIGNED.get(t, t)


def ir_type(t: CType) -> IRType:
    """The IR type that holds a value of the (scalar or pointer) type."""
    if isinstance(t, Float):
        return FloatType(t.bits)
    if isinstance(t, Pointer):
        return PTR
    return BOOL if t.bits == 1 else IntType(t.bits)
