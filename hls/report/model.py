"""The report as data: what the compiler built, loop by loop and access by access, and why.

Everything a reader may want to know is a field here; the text, JSON and HTML forms only render it. The classes of each
subject are in :mod:`hls.report.facts`.
"""

from dataclasses import dataclass

from ..diag import Diagnostic, Span
from ..model.area import NOTHING, Resources
from .facts.area import AreaNode, LineArea, Role
from .facts.channels import Channel, Depth, Network, Stop, Way
from .facts.computed import computed
from .facts.loops import Bottleneck, Conflict, Copies, Loop, Part, Path, Serial, Share, Unroll, WouldBe
from .facts.memories import Access, LocalAccess, Memory, Port, Private, Replication, Sharing, Turns, Variable, Wait
from .facts.schedule import Edge, Level, Operation, RegionSchedule, Stage

__all__ = [
    "SCHEMA",
    "Access",
    "AreaNode",
    "Bottleneck",
    "Channel",
    "Conflict",
    "Copies",
    "Depth",
    "Edge",
    "Info",
    "Kernel",
    "KernelCopies",
    "Level",
    "LineArea",
    "LocalAccess",
    "Loop",
    "Memory",
    "Network",
    "Operation",
    "Part",
    "Path",
    "Port",
    "Private",
    "Ranked",
    "RegionSchedule",
    "Replication",
    "Report",
    "Resources",
    "Role",
    "Serial",
    "Share",
    "Sharing",
    "Source",
    "Stage",
    "Stop",
    "Turns",
    "Unroll",
    "Variable",
    "Wait",
    "Way",
    "WouldBe",
]

#: version of the report's fields; keys are added within a version, and never change their meaning
SCHEMA = 2


@dataclass(frozen=True)
class Info:
    """How the report was made."""

    version: str = ""  #: of the compiler
    command: str = ""  #: the command line; "" if the compiler was called as a library
    options: tuple[tuple[str, str], ...] = ()  #: those that are not at their default
    board: str = ""
    device: str = ""  #: the board's device
    date: str = ""  #: UTC, ISO 8601; that of SOURCE_DATE_EPOCH where it is set
    clock_mhz: float = 0.0
    counters: str = "off"  #: hardware counters that were built: "off", "accounts", "accesses" or "all"


@dataclass(frozen=True)
class Source:
    """A file that a span of the report names."""

    file: str
    text: str
    sha256: str  #: of the text in UTF-8


@dataclass(frozen=True)
class KernelCopies:
    """The kernels that one entry stands for: all of ``names`` have the same loops, accesses and memories, and differ
    only in what ``differs`` lists (e.g. "channels right[0..71]")."""

    count: int
<<<<<<< HEAD
    ii: int
    interleaving: int


@dataclass(frozen=True)
class Loop:
    """A loop of the source. ``ii`` 0 means that it is no loop in hardware: ``unroll`` is full, the loop is part of
    another one, or ``gone`` says what became of it."""

    label: str
    span: Span | None
    ii: int
    interleaving: int = 1  #: interleaved invocations, 1 to ii
    slots: int = 1
    latency: int = 0  #: cycles from an iteration's issue to its end, without stalls and inner loops
    levels: int = 1
    trip_count: int | None = None  #: None if known only at run time
    work_items: bool = False  #: the iterations are the work-items of an NDRange
    bottleneck: Bottleneck | None = None
    one_at_a_time: str = ""  #: why fewer invocations are interleaved than the II would need
    unroll: Unroll | None = None
    children: tuple["Loop", ...] = ()
    copies: int = 1  #: loops in hardware: more than one if a loop around it was unrolled
    part_of: tuple[str, Span | None] | None = None  #: "coalesced" or "fused", and the loop that it was merged into
    speculative: bool = False  #: iterations are issued before the continue condition is known
    limit: int | None = None  #: most iterations in flight that the source allows
    paced: int | None = None  #: cycles that inner loops take per iteration, where their trip counts are known
    serial: tuple[Serial, ...] = ()
    additional: tuple[Bottleneck, ...] = ()  #: dependences through memory that do not limit the II
    path: Path | None = None
    advice: str = ""  #: what to try first against the bottleneck, or else against a serial region
    would_be: tuple[WouldBe, ...] = ()  #: each change that was found to help, those of ``advice`` first
    gone: str = ""  #: "runs once", "never runs", "removed" (its result is never used), or "replaced" by other hardware
    at_most: bool = False  #: II and pace are upper limits, for slow memory responses: memory may respond at once
    conflicts: tuple[Conflict, ...] = ()
    variants: tuple[Copies, ...] = ()  #: where copies differ; the figures of the loop are those of the slowest

    def __post_init__(self):
        if self.ii and not 1 <= self.interleaving <= self.ii:
            raise ValueError(f"loop {self.label}: interleaving {self.interleaving} is not in 1..II = {self.ii}")

    @property
    def scheduled_ii(self) -> float | None:
        """Cycles between two iterations while enough invocations run; None for a loop that is fully unrolled."""
        return self.ii / self.interleaving if self.ii else None

    @property
    def concurrency(self) -> int | None:
        """Most iterations in flight: latency x interleaving / II, rounded up, or the limit that the source sets."""
        if not self.ii:
            return None
        most = max(1, -(-self.latency * self.interleaving // self.ii))
        return min(most, self.limit) if self.limit else most


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
    early: bool = False  #: a load that is made before it is known whether the program makes it


@dataclass(frozen=True)
class Channel:
    """A channel, or ``count`` equal ones of an array, between two kernels. ``requested`` is the depth in the source
    (None: none), ``reason`` why the built ``depth`` differs; the spans are those of the first calls."""

    name: str
    span: Span | None
    bits: int
    requested: int | None
    depth: int
    storage: str  #: "wires", "registers", "LUT RAM" or "block RAM"
    reason: str
    writer: str
    write_span: Span | None
    reader: str
    read_span: Span | None
    count: int = 1


@dataclass(frozen=True)
class Stop:
    """One kernel of a deadlock: at ``span`` it waits for ``other`` to make room in a channel (``writes``), or to send a
    value."""

    kernel: str
    channel: str
    writes: bool
    other: str
    span: Span | None


@dataclass(frozen=True)
class Depth:
    """A channel, and the least depth at which no deadlock occurs."""

    channel: str
    depth: int


@dataclass(frozen=True)
class Network:
    """Kernels connected by channels. ``deadlock`` is the verdict: "impossible", "certain", "possible" or "unknown";
    ``reason`` says why. ``circle``: each waits for the next, the last for the first; ``depths`` would help."""

    kernels: tuple[str, ...]
    deadlock: str
    reason: str
    span: Span | None = None  #: what the reason refers to
    circle: tuple[Stop, ...] = ()
    depths: tuple[Depth, ...] = ()


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

    @property
    def stall_free(self) -> bool:
        """Whether every access of a token has a port of its own."""
        return not self.turns


@dataclass(frozen=True)
class Way:
    """The latency of a value from one channel to another through a kernel: ``cycles`` if nothing stalls."""

    source: str
    target: str
    cycles: int
=======
    names: tuple[str, ...]
    differs: tuple[str, ...] = ()
>>>>>>> main


@dataclass(frozen=True)
class Kernel:
    """One kernel, or several equal ones (``copies``). ``ndrange`` distinguishes NDRange kernels from single work-item
    ones; ``lanes`` work-items execute side by side in each of ``units`` compute units: loops, accesses and arrays are
    those of one unit, ``resources`` those of all units of all copies."""

    name: str
    span: Span | None
    ndrange: bool
    loops: tuple[Loop, ...] = ()
    accesses: tuple[Access, ...] = ()
    privates: tuple[Private, ...] = ()
    resources: Resources = NOTHING
    messages: tuple[Diagnostic, ...] = ()
    reason: str = ""  #: why it is of its kind
    lanes: int = 1
    memories: tuple[Memory, ...] = ()
    units: int = 1
    ways: tuple[Way, ...] = ()  #: of a kernel whose channel calls execute once per iteration
    required_size: tuple[int, ...] | None = None  #: of a work-group, if the source requires one
    most_work_items: int | None = None  #: in a group; None for any number
    max_dims: int | None = None  #: most dimensions of the index space; None if the source sets no limit
    autorun: bool = False
    promised: bool = False  #: only the program asserts that all work-items of a group reach its barriers
    attributes: tuple[str, ...] = ()  #: as written in the source
    copies: KernelCopies | None = None  #: None for a kernel of which there is one
    local_accesses: tuple[LocalAccess, ...] = ()
    variables: tuple[Variable, ...] = ()
    schedule: tuple[RegionSchedule, ...] = ()  #: the kernel's top first, then its loops, inner before outer
    counters: Resources = NOTHING  #: what its hardware counters take; included in ``resources``
    verdict: str = ""  #: one line: its loops, the slowest of them, and its area


@dataclass(frozen=True)
class Ranked:
    """A loop that loses cycles, or an access that loses bandwidth. The list is sorted by the cycles that a launch
    loses, as far as trip counts are known, and else by the cycles lost in each iteration and the depth of the nest."""

    kernel: str
    category: str  #: see ``Loop.category``; or "bandwidth"
    sentence: str
    span: Span | None = None
    loop: str = ""  #: id; "" if it is an access
    access: str = ""  #: id; "" if it is a loop
    lost: float = 0.0  #: cycles in each iteration
    cycles: float | None = None  #: cycles in a launch; None if trip counts are known only at run time


@dataclass(frozen=True)
class Report:
    """All kernels of one compilation. ``shared`` is what they share: interconnect, control, memory ports."""

    source: str
    board: str
    clock_mhz: float
    kernels: tuple[Kernel, ...]
    shared: Resources = NOTHING
    device: Resources | None = None  #: capacity of the device; None if the board does not state it
    logic_cell: str = "logic cells"
    messages: tuple[Diagnostic, ...] = ()
    channels: tuple[Channel, ...] = ()
    networks: tuple[Network, ...] = ()
    schema: int = SCHEMA
    info: Info = Info()
    sources: tuple[Source, ...] = ()
    bottlenecks: tuple[Ranked, ...] = ()
    area: AreaNode | None = None  #: the whole design; None if it was not estimated
    lines: tuple[LineArea, ...] = ()
    counters: Resources = NOTHING  #: what hardware counters take, in kernels and elsewhere; part of ``resources``

    @computed
    def resources(self) -> Resources:
        """Of the whole design."""
        return sum((kernel.resources for kernel in self.kernels), self.shared)
