"""The result of writing a module: the text, and the tables that its numbers index."""

from dataclasses import dataclass

from ..diag import Span
from ..ir import Type
from ..ir.printing import Format
from .observe import Observed

__all__ = ["Argument", "KernelText", "MemoryName", "ProgramText", "Site"]


@dataclass(frozen=True)
class Site:
    """A source location in ``function`` where a run may end or cause a message."""

    function: str
    span: Span | None


@dataclass(frozen=True)
class MemoryName:
    """A memory object in the user's terms: ``kind`` is "argument", "private array", "variable", "local memory" or
    "table".

    ``element_bytes`` converts byte offsets to indices; 0 if the memory has no meaningful index.
    """

    name: str
    kind: str
    element_bytes: int


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel; its bytes are at ``offset`` among those of all arguments."""

    name: str
    type: Type
    offset: int

    @property
    def end(self) -> int:
        """The offset after the argument; each occupies a multiple of 8 bytes."""
        return self.offset + -(-self.type.bytes // 8) * 8


@dataclass(frozen=True)
class KernelText:
    """One kernel: its number is its index in ``ProgramText.kernels``.

    ``buffers`` are the names of its buffer arguments in the order in which the text takes them, ``scalars`` its scalar
    arguments, ``launch_args`` the hidden arguments (:mod:`hls.ir.launch`). A kernel that has these, or could have, is
    ``flat``: one call is the whole launch. ``locals`` are the local memories whose size the host sets. ``promise``: the
    attribute that promises of its loops what ``ivdep`` does, or that but for stores that change nothing; or "".
    """

    name: str
    buffers: tuple[str, ...]
    scalars: tuple[Argument, ...]
    launch_args: tuple[Argument, ...]
    locals: tuple[str, ...]
    flat: bool
    promise: str = ""

    @property
    def argument_bytes(self) -> int:
        """The size of all arguments that are no buffers, in bytes."""
        return max((a.end for a in (*self.scalars, *self.launch_args)), default=0)


@dataclass(frozen=True)
class ProgramText:
    """C++ text without includes of its own, and the tables that its numbers index.

    The text is ``runtime``, which all programs that are observed in the same way begin with, and what is their ``own``.
    Number 0 of ``memories`` means no memory. ``queues`` are the names of all channels. ``observed`` are the places at
    which the program counts what it does; None if it does not.
    """

    runtime: str
    own: str
    kernels: tuple[KernelText, ...]
    sites: tuple[Site, ...]
    memories: tuple[MemoryName, ...]
    formats: tuple[Format, ...]
    queues: tuple[str, ...]
    observed: Observed | None = None

    @property
    def text(self) -> str:
        """All of it."""
        return self.runtime + self.own
