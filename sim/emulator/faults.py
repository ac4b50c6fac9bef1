"""What can go wrong in an emulated run, in the user's words."""

from dataclasses import dataclass

from hls.diag import Diagnostic, Span
from hls.emulate import MemoryName, ProgramText

__all__ = ["EmulationError", "Ending", "UnsetRead", "message"]

(FINISHED, READ_OUTSIDE, WRITE_OUTSIDE, NO_POINTER, LOOP_LIMIT, STOPPED, NO_STACK) = range(7)

HINTS = {"argument": "make the buffer larger or check the index", "table": "check the index",
         "private array": "check the index", "variable": "check the pointer"}


class EmulationError(Exception):
    """A run that went wrong; ``diagnostic`` says what, where and what to do."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(f"{diagnostic.span}: {diagnostic.message}" if diagnostic.span else diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(frozen=True)
class UnsetRead:
    """Elements read before they were written, ``count`` times at one place."""

    kernel: str
    span: Span | None
    count: int

    @property
    def diagnostic(self) -> Diagnostic:
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return Diagnostic(f"kernel {self.kernel}: an element is read {times} before it is written; it reads as 0 here, as "
                          "anything in hardware", self.span, "initialize it where it is declared", "warning")


@dataclass(frozen=True)
class Ending:
    """How a run ended, as the library says it: numbers of the program's tables."""

    kind: int
    site: int
    memory: int
    bytes: int  #: of the access
    offset: int
    size: int  #: of the memory
    limit: int  #: of iterations


def message(program: ProgramText, kernel: str, ending: Ending) -> Diagnostic:
    """A run that did not finish, in words."""
    if ending.kind == NO_STACK:
        return Diagnostic(f"kernel {kernel}: no room for its private arrays, {ending.bytes:,} bytes", None, "make them smaller")
    span = program.sites[ending.site].span
    if ending.kind == STOPPED:
        return Diagnostic(f"kernel {kernel} was running here", span)
    if ending.kind == LOOP_LIMIT:
        return Diagnostic(f"kernel {kernel}: this loop has not ended after {ending.limit:,} iterations", span,
                          "check its condition, or set SLUICE_MAX_ITERATIONS to more")
    if ending.kind == NO_POINTER:
        return Diagnostic(f"kernel {kernel}: an access through a pointer that was never set", span, "check the pointer")
    memory = program.memories[ending.memory]
    return Diagnostic(f"kernel {kernel}: a {_place(memory, ending)}", span, HINTS[memory.kind])


def _place(memory: MemoryName, ending: Ending) -> str:
    verb = "read" if ending.kind == READ_OUTSIDE else "write"
    leaves = "its buffer of" if memory.kind == "argument" else "its"
    index, rest = divmod(ending.offset, memory.element_bytes)
    element = "" if rest else f" (index {index})"
    return (f"{verb} of bytes {ending.offset} to {ending.offset + ending.bytes - 1} of {memory.kind} `{memory.name}`{element} "
            f"leaves {leaves} {ending.size} bytes")
