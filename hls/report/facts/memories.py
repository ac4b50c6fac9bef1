"""Facts about accesses to memory, and about the memories and variables inside kernels."""

from dataclasses import dataclass

from ...diag import Span
from ...records import computed

__all__ = [
    "Access",
    "BufferCopy",
    "LocalAccess",
    "Memory",
    "Port",
    "Private",
    "Replication",
    "Sharing",
    "Turns",
    "Variable",
    "Wait",
]


@dataclass(frozen=True)
class Wait:
    """An access waits for another one of the same kernel, or of an earlier iteration, as it is not excluded that both
    touch the same address; ``only_if_overlap``: only in launches in which two buffers overlap."""

    access: str  #: id of the access that it waits for
    only_if_overlap: bool = False


@dataclass(frozen=True)
class Access:
    """A load or store of global memory, and the ``count`` units built for it (copies of an unrolled loop have a unit
    each)."""

    kind: str  #: "load", "store" or "atomic"
    buffer: str
    span: Span | None
    bytes: int  #: of one access
    lsu: str
    reason: str  #: why this unit
    count: int = 1
    memory: str | None = None  #: the board's memory that it accesses; None for the default one
    id: str = ""  #: KERNEL/KIND/BUFFER#ORDINAL
    loop: str | None = None  #: id of the innermost loop around it; None outside of all loops
    expression: str = ""  #: its text in the source, e.g. "a[i * 16]"; "" if unknown
    #: "consecutive", "stride 64 bytes", "constant stride", "invariant", "data-dependent", or "single" (once a launch)
    pattern: str = ""
    stride: int | None = None  #: bytes from one access to the next, where they are known
    word_bytes: int = 0  #: of a memory word
    used: int | None = None  #: bytes used of each word that is moved; None if that depends on data
    #: expected: bytes used / bytes moved, 0 to 1; None if that depends on data, or on the hits of a cache
    efficiency: float | None = None
    cache_bytes: int = 0  #: of the unit's own cache, or of the constant cache; 0 for none
    flush: str = ""  #: when cached words are discarded
    may_stall: bool = True  #: whether it may take longer than scheduled
    waits_for: tuple[Wait, ...] = ()
    early: bool = False  #: a load that is made before it is known whether the program makes it
    #: the clock frequency that its unit reaches alone on this family and speed grade; None where none was measured
    fmax_mhz: float | None = None


@dataclass(frozen=True)
class LocalAccess:
    """A load, store or atomic operation on a memory inside the kernel; it never waits."""

    id: str  #: KERNEL/KIND/MEMORY#ORDINAL
    kind: str  #: "load", "store" or "atomic"
    memory: str  #: name of the memory
    span: Span | None
    expression: str = ""
    loop: str | None = None  #: id of the innermost loop around it
    bytes: int = 0
    latency: int = 0  #: cycles from address to data
    forwarding: bool = False  #: sees stores that are still under way
    banks: tuple[int, ...] = ()  #: the banks that it may use


@dataclass(frozen=True)
class Port:
    """A port of one bank of a memory inside a kernel, and the accesses that use it."""

    bank: int
    kind: str  #: "R", "W", or "RW" (reads and writes in one cycle, for an atomic operation)
    number: int  #: of the copy that a read port belongs to, or of the write port
    accesses: tuple[str, ...]  #: ids
    #: "" for one access; "share": the schedule gives them different cycles; "arbitrate": one may take the port from
    #: another while the kernel runs
    use: str = ""


@dataclass(frozen=True)
class Replication:
    """``count`` copies of a memory for one reason: "access" (loads that read at once), "groups" (of work-items in
    flight), "work-items" or "iterations" (private copies), or "lanes"."""

    reason: str
    count: int


@dataclass(frozen=True)
class Variable:
    """A scalar variable that a loop carries from iteration to iteration: ``depth`` registers of ``bits`` bits, one for
    each slot of the loop."""

    name: str
    span: Span | None
    bits: int
    loop: str  #: id of the loop
    depth: int = 1


@dataclass(frozen=True)
class BufferCopy:
    """A buffer in external memory that a kernel waits for. In launches in which each of the copied ones has at most
    ``most_bytes``, the kernel works on copies on the chip."""

    name: str
    span: Span | None
    most_bytes: int  #: 0 if it is not copied
    why: str = ""  #: it is not copied


@dataclass(frozen=True)
class Private:
    """A private array or constant table, and its storage."""

    name: str
    span: Span | None
    bits: int
    place: str  #: e.g. "registers", "shift register of 32", "ROM"


@dataclass(frozen=True)
class Turns:
    """Serialized accesses of one token on a shared port: they take ``cycles``, one after the other, regardless of
    anything else."""

    kind: str  #: "store" or "load"
    cycles: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Sharing:
    """Loads at ``lines`` that share a copy, and why they never conflict."""

    lines: tuple[int, ...]
    reason: str


@dataclass(frozen=True)
class Memory:
    """A memory inside a kernel, in RAM. Sizes are in bytes: as declared in the source, and as built with all copies.

    ``copies`` are those of the bank that has the most: one for each load that may read it at once. ``groups`` of
    work-items, or iterations of the loop around a private array, have a part each. No access ever waits for another;
    where some share a port, the schedule gives them cycles of their own, see ``turns``.
    """

    name: str
    span: Span | None
    space: str  #: "local", "private" or "constant"
    requested: int
    implemented: int
    word_bytes: int
    banks: int
    banked: str  #: how the bank of an address is selected; "" if there is only one
    copies: int
    groups: int
    reads: int
    writes: int
    atomics: int
    blocks: int  #: block RAMs; 0 if the memory is small enough for tables
    rating: str  #: "optimal", "good but replicated" or "possibly inefficient"
    turns: tuple[Turns, ...]
    sharing: tuple[Sharing, ...]
    pumping: str
    attributes: tuple[str, ...]  #: given in the source
    advice: str  #: what to change; "" for nothing
    of_one_group: int = 0  #: block RAMs that it would take with one group of work-items at a time
    merged: tuple[str, ...] = ()  #: the arrays in it if the source merges several, each with its line
    merged_by: str = ""  #: "depth" or "width"
    write_ports: int = 1  #: writes per cycle into each bank
    #: what each copy belongs to: "groups", "work-items" or "iterations" in flight
    owners: str = "groups"
    dims: tuple[int, ...] = ()  #: lengths of the array's dimensions, as declared; outermost first
    bank_of: str = (
        ""  #: the bank in terms of those, e.g. "dimension 1 (h[x][...])"; "" for one bank or if it is in none
    )
    ports: tuple[Port, ...] = ()
    replicated: tuple[Replication, ...] = ()  #: the reasons of its copies
    #: the buffer whose copy it is, or the array that it stands for in launches that work on copies of buffers
    copy_of: str = ""

    @computed
    def stall_free(self) -> bool:
        """Whether every access of a token has a port of its own."""
        return not self.turns
