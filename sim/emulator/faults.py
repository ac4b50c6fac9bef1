"""Faults of an emulated run, described for the user."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hls.diag import Code, Diagnostic, Span
from hls.emulate import MemoryName, ProgramText
from hls.ir.concurrent import outside_channels
from hls.narrow import present

if TYPE_CHECKING:
    from .structures import Control

__all__ = ["EmulationError", "Ending", "UnsetRead", "Wait", "deadlock", "is_silent", "message"]

(
    FINISHED,
    READ_OUTSIDE,
    WRITE_OUTSIDE,
    NO_POINTER,
    LOOP_LIMIT,
    STOPPED,
    NO_MEMORY,
    WAITING,
    NO_CHANNEL,
    PARTED,
    BROKEN_PROMISE,
    FAILED_EARLY,
) = range(12)

HINTS = {
    "argument": "make the buffer larger or check the index",
    "table": "check the index",
    "local memory": "check the index",
    "private array": "check the index",
    "variable": "check the pointer",
}


class EmulationError(Exception):
    """A run that failed; ``diagnostic`` says what, where and what to do. ``silent``: hardware would continue with
    wrong bytes, or for ever, since `#pragma ivdep` does not hold, an index is outside of a kernel's own array, or
    work-items of a group diverge before a barrier. ``endless``: a loop was given up."""

    def __init__(self, diagnostic: Diagnostic, silent: bool = False, endless: bool = False) -> None:
        super().__init__(f"{diagnostic.span}: {diagnostic.message}" if diagnostic.span else diagnostic.message)
        self.diagnostic = diagnostic
        self.silent, self.endless = silent, endless


@dataclass(frozen=True)
class UnsetRead:
    """Elements read before they were written, ``count`` times at one location in ``function``."""

    function: str
    span: Span | None
    count: int

    @property
    def diagnostic(self) -> Diagnostic:
        """A warning at the place of the read, with the number of reads."""
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return Diagnostic(
            f"in {self.function}, an element is read {times} before it is written; it reads as 0 here, as "
            "anything in hardware",
            self.span,
            "initialize it where it is declared",
            "warning",
            code=Code.UNINITIALIZED_READ,
        )


@dataclass(frozen=True)
class Broken:
    """Two accesses to one element that violate a loop's ivdep: numbers of the program's access sites,
    iterations from 0 on, and whether each writes."""

    loop: int
    earlier_site: int
    earlier: int
    later: int
    earlier_writes: bool
    later_writes: bool


@dataclass(frozen=True)
class Parted:
    """A group of which some work-items reach a barrier and others do not: the site number of the condition at
    which they diverge, and the local ids of two that do."""

    condition: int
    group: tuple[int, ...]
    first: tuple[int, ...]
    other: tuple[int, ...]


@dataclass(frozen=True)
class Ending:
    """How a run ended, as the library reports it: indices into the program's tables."""

    kind: int
    site: int
    memory: int
    bytes: int  #: of the access
    offset: int
    size: int  #: of the memory
    limit: int  #: of iterations
    broken: Broken | None = None
    parted: Parted | None = None

    @classmethod
    def of(cls, control: "Control", limit: int) -> "Ending":
        """Read the library's control structure."""
        broken = (
            Broken(
                control.promise_site,
                control.earlier_site,
                control.earlier,
                control.later,
                bool(control.writes & 1),
                bool(control.writes & 2),
            )
            if control.ending == BROKEN_PROMISE
            else None
        )
        parted = (
            Parted(control.condition_site, tuple(control.group), tuple(control.first), tuple(control.other))
            if control.ending == PARTED
            else None
        )
        return cls(
            control.ending,
            control.site,
            control.memory,
            control.bytes,
            control.offset,
            control.size,
            limit,
            broken,
            parted,
        )


@dataclass(frozen=True, order=True)
class Wait:
    """A kernel that waits at ``span`` for a channel to have a value, or (``writes``) room for one."""

    kernel: str
    span: Span | None
    channel: str
    writes: bool

    @property
    def note(self) -> Diagnostic:
        """A note at the place of the call: which channel the kernel waits for, and whether to read or to write."""
        what = (
            f"to write to channel {self.channel}, which is full"
            if self.writes
            else f"to read from channel {self.channel}, which is empty"
        )
        return Diagnostic(f"kernel {self.kernel} waits {what}", self.span, severity="note")


def deadlock(waits: list[Wait]) -> Diagnostic:
    """The message for kernels that wait for each other, or for one that was never started."""
    names = sorted({wait.kernel for wait in waits})
    who = f"kernel {names[0]} waits" if len(names) == 1 else f"kernels {', '.join(names)} wait"
    if any(wait.writes for wait in waits):
        change = "give the channel more depth, or change the order of accesses"
    elif len(names) == 1:  # where no channel is full, more depth changes nothing
        change = "or write as many values as are read"
    else:
        change = "or let one of the kernels write before it reads"
    return Diagnostic(
        f"no kernel can continue: {who} for channels",
        waits[0].span if waits else None,
        f"start the kernel at the other end, {change}",
        notes=tuple(wait.note for wait in dict.fromkeys(waits)),
        code=Code.RUN_DEADLOCK,
    )


def is_silent(program: ProgramText, ending: Ending) -> bool:
    """Whether hardware would continue with wrong bytes, or for ever, without any other sign."""
    outside = ending.kind in (READ_OUTSIDE, WRITE_OUTSIDE)
    return (
        ending.broken is not None
        or ending.parted is not None
        or outside
        and program.memories[ending.memory].kind != "argument"
    )


def message(program: ProgramText, kernel: str, ending: Ending) -> Diagnostic:
    """The message for a run that did not finish."""
    if ending.kind == NO_MEMORY:
        return Diagnostic(
            f"kernel {kernel}: no room for the private and local arrays of its work-items, {ending.bytes:,} bytes",
            None,
            "make the arrays or the work-groups smaller",
            code=Code.NO_ROOM_FOR_GROUPS,
        )
    span = program.sites[ending.site].span
    if ending.kind in _PLAIN:
        text, hint = _PLAIN[ending.kind]
        return Diagnostic(f"kernel {kernel}{text.format(e=ending)}", span, hint, code=Code.RUN_FAILED)
    if ending.kind == NO_CHANNEL:
        return Diagnostic(
            f"kernel {kernel}: {outside_channels(ending.offset, ending.size)}",
            span,
            "check the index",
            code=Code.ACCESS_OUTSIDE,
        )
    if ending.parted is not None:
        return _parted(program, kernel, ending.parted, span)
    memory = program.memories[ending.memory]
    if ending.broken is not None:
        return _broken(program, kernel, ending, memory)
    if memory.kind == "argument" and not ending.size:
        return Diagnostic(
            f"kernel {kernel}: a {_accessed(memory, ending)}, which the host passed as None (NULL in C)",
            span,
            "pass a buffer",
            code=Code.NULL_BUFFER,
        )
    return Diagnostic(
        f"kernel {kernel}: a {_place(memory, ending)}", span, HINTS[memory.kind], code=Code.ACCESS_OUTSIDE
    )


#: message and hint of endings that do not depend on the memory
_PLAIN = {
    STOPPED: (" was running here", ""),
    LOOP_LIMIT: (
        ": this loop has not ended after {e.limit:,} iterations",
        "check its condition, or set SLUICE_MAX_ITERATIONS to more",
    ),
    NO_POINTER: (": an access through a pointer that is null or was never set", "check the pointer"),
}


def _verb(ending: Ending) -> str:
    return "write" if ending.kind == WRITE_OUTSIDE else "read"


def _place(memory: MemoryName, ending: Ending) -> str:
    leaves = "its buffer of" if memory.kind == "argument" else "its"
    return f"{_accessed(memory, ending)} leaves {leaves} {ending.size} bytes"


def _accessed(memory: MemoryName, ending: Ending) -> str:
    """What an access did to which bytes; only to which memory, if it was made too early to know more."""
    if ending.kind == FAILED_EARLY:
        return f"{_verb(ending)} of {memory.kind} `{memory.name}`"
    return f"{_verb(ending)} of {_bytes(memory, ending)}"


def _bytes(memory: MemoryName, ending: Ending) -> str:
    """The bytes that an access covers, in words."""
    index, rest = divmod(ending.offset, memory.element_bytes)
    element = "" if rest else f" (index {index})"
    if ending.offset < -1 << 62:  # hls/emulate/runtime.h: OUTSIDE
        element = " (the byte offset of the index has more than 64 bits)"
    return f"bytes {ending.offset} to {ending.offset + ending.bytes - 1} of {memory.kind} `{memory.name}`{element}"


def _parted(program: ProgramText, kernel: str, parted: Parted, barrier: Span | None) -> Diagnostic:
    """The message for a barrier that some work-items of a group reach and others do not."""
    note = Diagnostic(
        f"here the work-item with local id {parted.other} of the group takes another branch than {parted.first}",
        program.sites[parted.condition].span,
        severity="note",
    )
    return Diagnostic(
        f"kernel {kernel}: not all work-items of group {parted.group} reach this barrier",
        barrier,
        "the hardware relies on all of them reaching it equally often: put the barrier where they do, and move only "
        "the code between barriers into conditions",
        notes=(note,),
        code=Code.DIVERGED_AT_RUN,
    )


def _broken(program: ProgramText, kernel: str, ending: Ending, memory: MemoryName) -> Diagnostic:
    """The message for a loop whose ``#pragma ivdep`` does not hold."""
    broken = present(ending.broken)
    distance = broken.later - broken.earlier
    promises = {one.name: one.promise for one in program.kernels if one.promise}
    asserted = program.sites[broken.loop].function == kernel and kernel in promises
    promise = f"feed_forward({promises[kernel]})" if asserted else "#pragma ivdep"
    text = (
        f"kernel {kernel}: {promise} does not hold: iteration {broken.later:,} "
        f"{'writes' if broken.later_writes else 'reads'} "
        f"{_bytes(memory, ending)}, which iteration {broken.earlier:,} {'wrote' if broken.earlier_writes else 'read'}"
    )
    hint = (
        f"remove `{promises[kernel]}`"
        if asserted
        else "remove the pragma"
        if distance == 1
        else f"remove the pragma, or give it safelen({distance}) if none are nearer"
    )
    notes = (
        Diagnostic(
            f"iteration {broken.earlier:,} {'writes' if broken.earlier_writes else 'reads'} it here",
            program.sites[broken.earlier_site].span,
            severity="note",
        ),
        Diagnostic(
            "the loop whose iterations these are" if asserted else "the loop of the pragma",
            program.sites[broken.loop].span,
            severity="note",
        ),
    )
    return Diagnostic(text, program.sites[ending.site].span, hint, notes=notes, code=Code.IVDEP_BROKEN)
