"""The typed tree: a checked program in which every name is resolved and every conversion written out.

``hls.frontend.check`` builds it and reports all errors; ``hls.frontend.lower`` turns it into IR and cannot fail.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..diag import Span
from .types import CType

__all__ = [
    "AddressOf",
    "Assign",
    "AsyncCopy",
    "Atomic",
    "Barrier",
    "Binary",
    "Block",
    "Break",
    "Build",
    "Builtin",
    "Call",
    "Channel",
    "ChannelRead",
    "ChannelWrite",
    "Compare",
    "Conditional",
    "Const",
    "Continue",
    "Convert",
    "ConvertExactly",
    "Declare",
    "Dereference",
    "Evaluate",
    "Expr",
    "Fence",
    "FunctionTree", "Goto",
    "If",
    "LValue", "Label",
    "Lanes",
    "Logical",
    "Loop",
    "Member",
    "Null",
    "Packed",
    "PointerAdd",
    "PointerCompare",
    "PointerDistance",
    "Print",
    "Reinterpret",
    "Return",
    "Section",
    "Sequence",
    "Step",
    "Stmt",
    "Switch",
    "Unary",
    "UnionOf",
    "Update",
    "Variable",
    "VariableRef",
    "children",
    "is_lvalue",
    "root_of",
]


@dataclass(eq=False)
class Variable:
    """A variable, parameter or file-scope constant. ``kind``: "local", "parameter", "buffer", "constant", or "shared" for
    one in local memory."""

    name: str
    type: CType
    kind: str
    span: Span
    const: bool = False
    volatile: bool = False
    written: bool = False  #: assigned after its declaration, or its address is taken
    value: "Const | None" = None  #: of a scalar file-scope constant
    data: bytes | None = None  #: of a file-scope constant
    attrs: dict = field(default_factory=dict)  #: of its memory, as the IR has them


@dataclass(eq=False)
class Channel:
    """A channel, an array of them, or (``pipe``) a kernel's parameter; ``type`` is that of what is passed."""

    name: str
    type: CType
    span: Span
    lengths: tuple[int, ...] = ()  #: of the dimensions of an array
    pipe: bool = False
    attrs: dict = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Expr:
    """An expression: ``type`` is that of its value."""

    type: CType
    span: Span


@dataclass(frozen=True, eq=False)
class Const(Expr):
    value: int | float  #: an integer as its unsigned pattern


@dataclass(frozen=True, eq=False)
class Null(Expr):
    """The pointer that points to nothing."""


@dataclass(frozen=True, eq=False)
class VariableRef(Expr):
    variable: Variable


@dataclass(frozen=True, eq=False)
class Dereference(Expr):
    pointer: Expr


@dataclass(frozen=True, eq=False)
class Member(Expr):
    """Member number ``index`` of a struct or union; an lvalue where ``base`` is one."""

    base: Expr
    index: int


@dataclass(frozen=True, eq=False)
class Lanes(Expr):
    """Components of a vector: a scalar for one lane, a vector for several; an lvalue where ``base`` is one."""

    base: Expr
    lanes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Packed(Expr):
    """A vector of neighbouring elements of what ``pointer`` points to (vload, vstore): no better aligned than one element."""

    pointer: Expr


LValue = VariableRef | Dereference | Member | Lanes | Packed


def is_lvalue(e: Expr) -> bool:
    """Whether the expression has a place in memory."""
    return isinstance(root_of(e), (VariableRef, Dereference, Packed))


@dataclass(frozen=True, eq=False)
class Build(Expr):
    """A value made of ``parts``: (number of its first scalar, value) each; the other scalars are 0."""

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
    """``pointer + index`` elements of ``type.pointee``; ``subtract`` turns it round."""

    pointer: Expr
    index: Expr
    subtract: bool = False


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
    """``convert_T_sat_rtX``: with saturation where asked, and rounding "rte", "rtz", "rtp" or "rtn" from and to floats."""

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
    target: LValue
    value: Expr


@dataclass(frozen=True, eq=False)
class Update(Expr):
    """``target op= operand``, computed in ``compute`` (the type of the operation) and converted back.

    ``postfix``: the value is the one before (``i++``).
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
class Call(Expr):
    """A call of a helper function of the module."""

    callee: "FunctionTree"
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Builtin(Expr):
    """A built-in function; ``name`` is a key of ``hls.frontend.builtins``' table."""

    name: str
    arguments: tuple[Expr, ...]


# -- work-groups, atomic operations, channels


@dataclass(frozen=True, eq=False)
class Barrier(Expr):
    flags: int


@dataclass(frozen=True, eq=False)
class Fence(Expr):
    kind: str  #: "all", "read" or "write"
    flags: int


@dataclass(frozen=True, eq=False)
class Atomic(Expr):
    """``fn`` is one of the IR's; the value is what was there before."""

    fn: str
    pointer: Expr
    operands: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class AsyncCopy(Expr):
    """``count`` elements (ulong) copied by the work-items of the group together; strides in elements (ulong)."""

    target: Expr
    source: Expr
    count: Expr
    target_stride: Expr
    source_stride: Expr


@dataclass(frozen=True, eq=False)
class ChannelRead(Expr):
    """``answer`` points to a bool that says whether a value was there; None for a read that blocks.

    ``into``: the value goes where this points, and what is given is 0, or -1 where none was there (read_pipe).
    """

    channel: Channel
    index: Expr
    answer: Expr | None = None
    into: Expr | None = None
    blocking: bool = True


@dataclass(frozen=True, eq=False)
class ChannelWrite(Expr):
    """Of type void where it blocks; else of type bool: there was room. ``pipe``: of type int, 0 for room and -1 for none."""

    channel: Channel
    index: Expr
    value: Expr
    blocking: bool
    pipe: bool = False


@dataclass(frozen=True, eq=False)
class Print(Expr):
    format: str
    arguments: tuple[Expr, ...]


# -- statements


@dataclass(frozen=True, eq=False)
class Stmt:
    span: Span


@dataclass(frozen=True, eq=False)
class Evaluate(Stmt):
    expression: Expr


@dataclass(frozen=True, eq=False)
class Declare(Stmt):
    """A variable comes to life; ``initial`` lists (number of the first scalar, value), what is not listed is 0."""

    variable: Variable
    initial: tuple[tuple[int, Expr], ...] | None


@dataclass(frozen=True, eq=False)
class Block(Stmt):
    statements: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False)
class If(Stmt):
    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@dataclass(frozen=True, eq=False)
class Loop(Stmt):
    """``form``: "for", "while" or "do". ``attrs``: pragmas, as the IR wants them; ``ivdep`` names variables."""

    form: str
    label: str
    first: tuple[Stmt, ...]
    condition: Expr | None
    step: Expr | None
    body: Stmt
    attrs: dict = field(default_factory=dict)
    ivdep: tuple[tuple[Variable | None, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Section(Stmt):
    """One part of a switch: entered for its labels (a Const each), and for all others if ``default``."""

    labels: tuple[Const, ...]
    default: bool
    body: Block


@dataclass(frozen=True, eq=False)
class Switch(Stmt):
    value: Expr
    sections: tuple[Section, ...]


@dataclass(frozen=True, eq=False)
class Break(Stmt):
    pass


@dataclass(frozen=True, eq=False)
class Continue(Stmt):
    pass


@dataclass(frozen=True, eq=False)
class Label(Stmt):
    """Where a goto leads to: a place among the statements of a block."""

    name: str


@dataclass(frozen=True, eq=False)
class Goto(Stmt):
    """A jump forward, to a label in a block around it."""

    name: str


@dataclass(frozen=True, eq=False)
class Return(Stmt):
    value: Expr | None


@dataclass(eq=False)
class FunctionTree:
    """A function; ``body`` stays None while only its prototype has been seen."""

    name: str
    kernel: bool
    result: CType
    parameters: list[Variable]
    span: Span
    body: Block | None = None
    attrs: dict = field(default_factory=dict)
    calls: dict["FunctionTree", Span] = field(default_factory=dict)
    work_items: dict[str, tuple[str, Span]] = field(default_factory=dict)  #: what it asks for: by which call, and where
    broken: list[str] = field(default_factory=list)  #: parameters whose declarations failed
    written_types: list[str] = field(default_factory=list)  #: of the parameters, as in the source

    def asks(self, call: str, what: str, span: Span):
        """The function needs to know its work-item, or others of the group."""
        self.work_items.setdefault(what, (call, span))


def children(node: Expr | Stmt) -> Iterator[Expr | Stmt]:
    """The expressions and statements that a node is made of, in order."""
    for part in vars(node).values():
        yield from _nodes(part)


def _nodes(part) -> Iterator[Expr | Stmt]:
    if isinstance(part, Expr | Stmt):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from _nodes(one)
