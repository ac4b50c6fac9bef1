"""What writing a module gives: the text, and what the numbers in it mean."""

from dataclasses import dataclass

from ..diag import Span
from ..ir import Type

__all__ = ["Argument", "Format", "KernelText", "MemoryName", "ProgramText", "Site"]


@dataclass(frozen=True)
class Site:
    """A place in the source where a run may end or be remarked upon, in ``function``."""

    function: str
    span: Span | None


@dataclass(frozen=True)
class MemoryName:
    """A memory object in the user's words: ``kind`` is "argument", "private array", "variable", "local memory" or
    "table".

    ``element_bytes`` turns byte offsets into indices; 0 where there is no index to speak of.
    """

    name: str
    kind: str
    element_bytes: int


@dataclass(frozen=True)
class Argument:
    """A value that a kernel is given; its bytes stand at ``offset`` among those of all arguments."""

    name: str
    type: Type
    offset: int

    @property
    def end(self) -> int:
        return self.offset + -(-self.type.bytes // 8) * 8


@dataclass(frozen=True)
class Format:
    """What a printf shows: C's format, and the types of its arguments. Each takes a word of the log, a float as a
    double."""

    text: str
    types: tuple[Type, ...]


@dataclass(frozen=True)
class KernelText:
    """One kernel: its number is its place in ``ProgramText.kernels``.

    ``buffers`` are the names of its buffer arguments in the order in which the text takes them, ``scalars`` its scalar
    arguments, ``launch_args`` the hidden arguments (:mod:`hls.ir.launch`); a kernel that has these, or could have, is
    ``flat``: one call is the whole launch. ``locals`` are the local memories of which the host gives the size.
    """

    name: str
    buffers: tuple[str, ...]
    scalars: tuple[Argument, ...]
    launch_args: tuple[Argument, ...]
    locals: tuple[str, ...]
    flat: bool

    @property
    def argument_bytes(self) -> int:
        return max((a.end for a in (*self.scalars, *self.launch_args)), default=0)


@dataclass(frozen=True)
class ProgramText:
    """C++ text without includes of its own, and the tables that its numbers index.

    Number 0 of ``memories`` stands for no memory at all. ``queues`` are the names of all channels.
    """

    text: str
    kernels: tuple[KernelText, ...]
    sites: tuple[Site, ...]
    memories: tuple[MemoryName, ...]
    formats: tuple[Format, ...]
    queues: tuple[str, ...]
