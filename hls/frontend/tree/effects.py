"""Work-groups, atomic operations, channels, and printf."""

from dataclasses import dataclass

from .expressions import Channel, Expr

__all__ = ["AsyncCopy", "Atomic", "Barrier", "ChannelRead", "ChannelSubscript", "ChannelWrite", "Fence", "Print"]


@dataclass(frozen=True, eq=False)
class Barrier(Expr):
    """``barrier(flags)``; the flags are those of ``Attr.FLAGS``."""

    flags: int


@dataclass(frozen=True, eq=False)
class Fence(Expr):
    """A fence of one work-item: ``mem_fence``, ``read_mem_fence`` or ``write_mem_fence``."""

    kind: str  #: "all", "read" or "write"
    flags: int


@dataclass(frozen=True, eq=False)
class Atomic(Expr):
    """``fn`` is one of the IR's; the value is the old one."""

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
    """One index into an array of channels: ``operand`` if it is less than ``length``, else a number so large that it is
    outside of every array, even with the indices of other dimensions added."""

    operand: Expr
    length: int


@dataclass(frozen=True, eq=False)
class ChannelRead(Expr):
    """``answer`` points to a bool that says whether a value was there; None for a blocking read.

    ``into``: the value is stored where this points, and the result is 0, or -1 if no value was there (read_pipe).
    """

    channel: Channel
    index: Expr
    answer: Expr | None = None
    into: Expr | None = None
    blocking: bool = True


@dataclass(frozen=True, eq=False)
class ChannelWrite(Expr):
    """Of type void if it blocks; else of type bool: there was room. ``pipe``: of type int, 0 for room and -1 for
    none."""

    channel: Channel
    index: Expr
    value: Expr
    blocking: bool
    pipe: bool = False


@dataclass(frozen=True, eq=False)
class Print(Expr):
    """``printf``; the arguments are converted as the format asks."""

    format: str
    arguments: tuple[Expr, ...]
