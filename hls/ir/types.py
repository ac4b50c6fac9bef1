"""The types of IR values: integers without sign, floats, pointers, short arrays of either, and order tokens."""

from dataclasses import dataclass

__all__ = [
    "BOOL",
    "F16",
    "F32",
    "F64",
    "I8",
    "I16",
    "I32",
    "I64",
    "PTR",
    "TOKEN",
    "ArrayType",
    "FloatType",
    "IntType",
    "PointerType",
    "TokenType",
    "Type",
    "scalar_type",
]


@dataclass(frozen=True)
class IntType:
    """An integer of 1 to 64 bits. Signedness belongs to operations, not to types."""

    bits: int

    def __str__(self) -> str:
        return f"i{self.bits}"

    @property
    def bytes(self) -> int:
        """Size in memory: whole bytes, a power of two (a bool is one byte)."""
        return max(1, 1 << (self.bits - 1).bit_length() >> 3)


@dataclass(frozen=True)
class FloatType:
    """An IEEE 754 binary format of 16, 32 or 64 bits."""

    bits: int

    def __str__(self) -> str:
        return f"f{self.bits}"

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return self.bits // 8


@dataclass(frozen=True)
class PointerType:
    """An address in one memory object: (object, byte offset). Only the offset exists in hardware."""

    bits: int = 64

    def __str__(self) -> str:
        return "ptr"

    @property
    def bytes(self) -> int:
        """Size of a stored pointer in bytes."""
        return 8


@dataclass(frozen=True)
class ArrayType:
    """``length`` elements as one value: a small private array held in registers."""

    element: "IntType | FloatType"
    length: int

    def __str__(self) -> str:
        return f"[{self.length} x {self.element}]"

    @property
    def bits(self) -> int:
        """Width of all elements side by side."""
        return self.element.bits * self.length

    @property
    def bytes(self) -> int:
        """Size of all elements in bytes."""
        return self.element.bytes * self.length


@dataclass(frozen=True)
class TokenType:
    """Order without data: an operation that consumes the token executes after the one that produced it. In hardware it
    is nothing but a wait.

    ``overlap``: the order only matters in runs in which buffers overlap (the kernel's hidden argument ``overlap`` says
    so). ``distance``: as a loop's carried value it comes from so many iterations before. ``between``: it comes from all
    iterations of earlier invocations of the loop, and from none of the same one. With ``ahead``, an iteration needs it
    from no iteration of an earlier invocation whose number is greater than its own by more than ``ahead``.
    """

    overlap: bool = False
    distance: int = 1
    between: bool = False
    ahead: int | None = None

    def __str__(self) -> str:
        ahead = "" if self.ahead is None else f"_ahead_{self.ahead}"
        distance = f"_{self.distance}" * (self.distance > 1)
        return "token" + "_overlap" * self.overlap + "_between" * self.between + ahead + distance

    @property
    def bits(self) -> int:
        """0: a token is no data."""
        return 0

    @property
    def bytes(self) -> int:
        """0: a token is no data."""
        return 0


Type = IntType | FloatType | PointerType | ArrayType | TokenType


def scalar_type(type: Type) -> IntType | FloatType:
    """The type, which is that of an integer or a float; TypeError for others."""
    if not isinstance(type, IntType | FloatType):
        raise TypeError(f"{type} is no scalar type")
    return type


BOOL, I8, I16, I32, I64 = (IntType(n) for n in (1, 8, 16, 32, 64))
F16, F32, F64 = (FloatType(n) for n in (16, 32, 64))
PTR = PointerType()
TOKEN = TokenType()
