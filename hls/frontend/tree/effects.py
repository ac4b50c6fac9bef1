"""Work-groups, atomic operations, channels, and what is printed."""

from dataclasses import dataclass

from .expressions import Channel, Expr

__all__ = ["AsyncCopy", "Atomic", "Barrier", "ChannelRead", "ChannelSubscript", "ChannelWrite", "Fence", "Print"]


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
class ChannelSubscript(Expr):
    """One index into an array of channels: ``operand`` where it is one of ``length``, else a number so large that no
    array has it, also when the indices of other dimensions are added."""

    operand: Expr
    length: int


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
    """Of type void where it blocks; else of type bool: there was room. ``pipe``: of type int, 0 for room and -1 for
    none."""

    channel: Channel
    index: Expr
    value: Expr
    blocking: bool
    pipe: bool = False


@dataclass(frozen=True, eq=False)
class Print(Expr):
    format: str
    arguments: tuple[Expr, ...]
