"""Variables, and expressions that compute values or locations."""

from dataclasses import dataclass, field
from typing import Any

from ...diag import Span
from ..types import CType

__all__ = [
    "AddressOf",
    "Assign",
    "Binary",
    "Build",
    "Builtin",
    "Channel",
    "Compare",
    "Conditional",
    "Const",
    "Convert",
    "ConvertExactly",
    "Dereference",
    "Expr",
    "LValue",
    "Lanes",
    "Logical",
    "Member",
    "Null",
    "Packed",
    "PointerAdd",
    "PointerCompare",
    "PointerDistance",
    "Reinterpret",
    "Sequence",
    "Step",
    "Unary",
    "UnionOf",
    "Update",
    "Variable",
    "VariableRef",
    "is_lvalue",
    "root_of",
]


@dataclass(eq=False)
class Variable:
    """A variable, parameter or file-scope constant. ``kind``: "local", "parameter", "buffer", "constant", "shared" for
    one in local memory, or "program" for one in global memory that lasts as long as the program."""

    name: str
    type: CType
    kind: str
    span: Span
    const: bool = False
    volatile: bool = False
    written: bool = False  #: assigned after its declaration, or its address is taken
    value: "Const | None" = None  #: of a scalar file-scope constant
    data: bytes | None = None  #: of a file-scope constant; of a variable of the program, without zeros at the end
    space: str = ""  #: the address space of pointers to a file-scope constant
    attrs: dict[str, Any] = field(default_factory=dict)  #: of its memory, as the IR has them
    attr_spans: dict[str, Any] = field(default_factory=dict)  #: location of each


@dataclass(eq=False)
class Channel:
    """A channel, an array of them, or (``pipe``) a kernel's parameter; ``type`` is that of the values passed.

    A ``parameter`` of a helper function denotes the channel that a call passes. While the function is checked for one
    call, it denotes ``whole``, from the channel on whose number ``first`` holds.
    """

    name: str
    type: CType
    span: Span
    lengths: tuple[int, ...] = ()  #: of the dimensions of an array
    pipe: bool = False
    attrs: dict[str, Any] = field(default_factory=dict)
    parameter: bool = False
    whole: "Channel | None" = None
    first: Variable | None = None


@dataclass(frozen=True, eq=False)
class Expr:
    """An expression: ``type`` is that of its value."""

    type: CType
    span: Span


@dataclass(frozen=True, eq=False)
class Const(Expr):
    """A number."""

    value: int | float  #: an integer as its unsigned pattern


@dataclass(frozen=True, eq=False)
class Null(Expr):
    """The null pointer."""


@dataclass(frozen=True, eq=False)
class VariableRef(Expr):
    """A variable, as a value or as a place that is written."""

    variable: Variable


@dataclass(frozen=True, eq=False)
class Dereference(Expr):
    """The object that ``pointer`` points to; ``unit`` is the load-store unit that the program chose (as the IR's
    attribute), or None."""

    pointer: Expr
    unit: tuple[str, int] | None = None


@dataclass(frozen=True, eq=False)
class Member(Expr):
    """Member number ``index`` of a struct or union; an lvalue if ``base`` is one."""

    base: Expr
    index: int


@dataclass(frozen=True, eq=False)
class Lanes(Expr):
    """Components of a vector: a scalar for one lane, a vector for several; an lvalue if ``base`` is one."""

    base: Expr
    lanes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Packed(Expr):
    """A vector of adjacent elements at ``pointer`` (vload, vstore), aligned only like one element."""

    pointer: Expr


LValue = VariableRef | Dereference | Member | Lanes | Packed


def is_lvalue(e: Expr) -> bool:
    """Whether the expression has a location in memory."""
    return isinstance(root_of(e), (VariableRef, Dereference, Packed))


@dataclass(frozen=True, eq=False)
class Build(Expr):
    """A value composed of ``parts``: (number of its first scalar, value) each; the other scalars are 0."""

    parts: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, eq=False)
class UnionOf(Expr):
    """A union whose member number ``index`` has the value ``member``, and whose other bytes are 0."""

    index: int
    member: Expr


def root_of(e: Expr) -> Expr:
    """The variable or element that an lvalue is a part of."""
    while isinstance(e, (Member, Lanes)):
        e = e.base
    return e


@dataclass(frozen=True, eq=False)
class AddressOf(Expr):
    """The address of an lvalue; of an array: of its first element."""

    target: LValue


@dataclass(frozen=True, eq=False)
class PointerAdd(Expr):
    """``pointer + index`` groups of ``step`` elements of ``type.pointee``; ``subtract`` negates the index."""

    pointer: Expr
    index: Expr
    subtract: bool = False
    step: int = 1


@dataclass(frozen=True, eq=False)
class PointerCompare(Expr):
    """A comparison of two pointers into one object; its type is int."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False)
class PointerDistance(Expr):
    """The number of elements of ``size`` bytes between two pointers into one object; its type is long."""

    left: Expr
    right: Expr
    size: int


@dataclass(frozen=True, eq=False)
class Convert(Expr):
    """C's conversion of a number or of each element of a vector, a scalar as every element of a vector, or a pointer
    read as another pointer type."""

    operand: Expr


@dataclass(frozen=True, eq=False)
class ConvertExactly(Expr):
    """``convert_T_sat_rtX``: with saturation if requested, and rounding "rte", "rtz", "rtp" or "rtn" from and to
    floats."""

    operand: Expr
    saturate: bool
    rounding: str


@dataclass(frozen=True, eq=False)
class Reinterpret(Expr):
    """``as_T``: the same bits as another type."""

    operand: Expr


@dataclass(frozen=True, eq=False)
class Unary(Expr):
    """``-`` or ``~`` of an operand of the same type, or ``!`` of any number (of type int)."""

    operator: str
    operand: Expr


@dataclass(frozen=True, eq=False)
class Binary(Expr):
    """``+ - * / % & | ^`` on two operands of the result's type; ``<< >>`` on any integer amount."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False)
class Compare(Expr):
    """A comparison of two operands of one type; its own type is int."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False)
class Logical(Expr):
    """``&&`` or ``||``."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, eq=False)
class Conditional(Expr):
    """``condition ? then : otherwise``; only one of the two is evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, eq=False)
class Sequence(Expr):
    """The comma operator."""

    first: Expr
    second: Expr


@dataclass(frozen=True, eq=False)
class Assign(Expr):
    """``target = value``; its value is that of the target afterwards."""

    target: LValue
    value: Expr


@dataclass(frozen=True, eq=False)
class Update(Expr):
    """``target op= operand``, computed in ``compute`` (the type of the operation) and converted back.

    ``postfix``: the value of the expression is the old one (``i++``).
    """

    target: LValue
    operator: str
    operand: Expr
    compute: CType
    postfix: bool = False


@dataclass(frozen=True, eq=False)
class Step(Expr):
    """A pointer variable moved by ``index`` elements (``p += 2``, ``p++``)."""

    target: LValue
    index: Expr
    subtract: bool = False
    postfix: bool = False


@dataclass(frozen=True, eq=False)
class Builtin(Expr):
    """A built-in function; ``name`` is a key of ``hls.frontend.builtins``' table."""

    name: str
    arguments: tuple[Expr, ...]
