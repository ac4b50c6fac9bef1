"""Statements."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...diag import Span
from .expressions import Const, Expr, Variable

__all__ = [
    "Block",
    "Break",
    "Continue",
    "Declare",
    "Entry",
    "Evaluate",
    "Goto",
    "If",
    "Label",
    "Loop",
    "Return",
    "Section",
    "StatementExpr",
    "Stmt",
    "Switch",
    "children",
]


@dataclass(frozen=True, eq=False)
class Stmt:
    """A statement at its place in the source."""

    span: Span


@dataclass(frozen=True, eq=False)
class Evaluate(Stmt):
    """An expression whose value is not used."""

    expression: Expr


@dataclass(frozen=True, eq=False)
class Declare(Stmt):
    """Declares a variable; ``initial`` lists (number of the first scalar, value), scalars not listed are 0."""

    variable: Variable
    initial: tuple[tuple[int, Expr], ...] | None


@dataclass(frozen=True, eq=False)
class Block(Stmt):
    """Statements in order; its names are resolved already."""

    statements: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False)
class StatementExpr(Expr):
    """``({ statements })``: no jump leaves it. ``result`` is computed last; None if it has no value."""

    block: Block
    result: Expr | None


@dataclass(frozen=True, eq=False)
class If(Stmt):
    """``if (condition) then else otherwise``."""

    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@dataclass(frozen=True, eq=False)
class Loop(Stmt):
    """``form``: "for", "while" or "do". ``attrs``: pragmas, as attributes of the IR; ``ivdep`` names variables."""

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
    """One part of a switch: entered for its labels (the first and the last value of each), and for all other values if
    ``default``."""

    labels: tuple[tuple[Const, Const], ...]
    default: bool
    body: Block


@dataclass(frozen=True, eq=False)
class Switch(Stmt):
    """``switch``: control enters the section of the label that has the value."""

    value: Expr
    sections: tuple[Section, ...]


@dataclass(frozen=True, eq=False)
class Break(Stmt):
    """``break``: leaves the loop or ``switch`` around it."""


@dataclass(frozen=True, eq=False)
class Continue(Stmt):
    """``continue``: begins the next iteration of the loop around it."""


@dataclass(frozen=True, eq=False)
class Label(Stmt):
    """The target of a goto: a position among the statements of a block."""

    name: str


@dataclass(frozen=True, eq=False)
class Goto(Stmt):
    """A jump to a label in an enclosing block: forward, once ``hls.frontend.jumps`` has converted backward ones to
    loops."""

    name: str


@dataclass(frozen=True, eq=False)
class Entry(Stmt):
    """A label of a switch inside another of its statements; ``hls.frontend.entries`` converts it to conditions."""

    number: int


@dataclass(frozen=True, eq=False)
class Return(Stmt):
    """``return``; the value is None in a function without result."""

    value: Expr | None


def children(node: Expr | Stmt) -> Iterator[Expr | Stmt]:
    """The direct subexpressions and substatements of a node, in order."""
    for part in vars(node).values():
        yield from _nodes(part)


def _nodes(part) -> Iterator[Expr | Stmt]:
    if isinstance(part, Expr | Stmt):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from _nodes(one)
