"""The report as data: what the compiler built, loop by loop and access by access, and why.

Everything a reader may want to know is a field here; the text and JSON forms only render it.
"""

from dataclasses import dataclass
from enum import StrEnum

from ..diag import Diagnostic, Span
from ..model.area import NOTHING, Resources

__all__ = [
    "Access",
    "Bottleneck",
    "Channel",
    "Conflict",
    "Copies",
    "Depth",
    "Kernel",
    "Loop",
    "Memory",
    "Network",
    "Part",
    "Path",
    "Private",
    "Report",
    "Resources",
    "Serial",
    "Share",
    "Sharing",
    "Stop",
    "Turns",
    "Unroll",
    "Way",
    "WouldBe",
]


class Part(StrEnum):
    """A kind of contribution to a recurrence."""

    OPERATION = "operation"
    REGISTER = "register"  #: keeps a value from one iteration to the next
    CONTROL = "control"  #: of the loop
    ARRIVAL = "arrival"  #: of a value from before the loop
    ROUND_TRIP = "round trip"  #: latency of a load from global memory
    CALL = "call"  #: of a channel
    INNER_LOOP = "inner loop"
    PIPELINE = "pipeline"  #: stages and queues on the recurrence


@dataclass(frozen=True)
class Share:
    """What one operation contributes to the length of a recurrence."""

    operation: str  #: e.g. "floating-point add", "load of a"
    span: Span | None
    share: float  #: of the whole, 0 to 1
    part: Part = Part.OPERATION
    opcode: str = ""  #: the IR's name of an operation
    subject: str = ""  #: the array, channel or loop that it accesses


@dataclass(frozen=True)
class Bottleneck:
    """What keeps a loop from a smaller initiation interval, or, of kind "invocations", an invocation from beginning
    (``subject`` waits for the access at ``other`` of the invocation before, ``cycles`` after its last iteration).

    ``kind`` is "data" (``subject`` is the variable that waits for its own value of an earlier iteration), "memory"
    (``subject`` is the access that waits for the access at ``other``), "condition" (the continue condition is known
    late), "resource" (``subject`` is shared), "turns" (``subject``, stores of one iteration, are serialized), or a
    limit of the source: "request" (this II), "concurrency" (at most ``subject`` iterations in flight), "ahead" (at most
    ``subject`` iterations before the continue condition is known).
    """

    kind: str
    subject: str
    span: Span | None = None
    other: Span | None = None
    cycles: int = 0  #: length of the recurrence
    distance: int = 1  #: iterations it spans
    shares: tuple[Share, ...] = ()
    onchip: bool = False  #: of "memory": an array of the kernel, not a buffer
    memory: str = ""  #: of "memory", "resource" and "turns": the array or buffer
    #: of "memory": the accesses conflict in every run with enough iterations, so ``ivdep`` would be wrong
    proved: bool = False


@dataclass(frozen=True)
class Unroll:
    """How often a loop's body was copied. ``factor`` is None if unrolling was requested and not possible."""

    factor: int | None
    full: bool
    reason: str  #: "pragma", "automatic", or why it failed


@dataclass(frozen=True)
class Serial:
    """A serial region: inner loops that one iteration at a time passes, and why."""

    loops: tuple[tuple[str, Span | None], ...]  #: label and location of each
    cause: Bottleneck


@dataclass(frozen=True)
class Path:
    """The longest path from a register to the next, in ns; ``steps`` are the operations on it with their shares."""

    ns: float
    fmax_mhz: float  #: the clock frequency that it permits
    steps: tuple[Share, ...]


@dataclass(frozen=True)
class WouldBe:
    """The figures of a loop after a ``change``, found by planning the kernel with it.

    ``at_best``: the constraint was removed altogether, as what the change leaves of it depends on how it is made.
    """

    change: str  #: what to do, as an imperative phrase
    ii: int
    interleaving: int
    fmax_mhz: float | None  #: permitted by the loop's critical path; None if unknown
    interval: float | None  #: cycles between two iterations; None where trip counts of inner loops depend on data
    at_best: bool = False


@dataclass(frozen=True)
class Conflict:
    """A load that is compared with earlier stores in flight, and waits only for a store to its own address: at most
    ``cycles`` then, from iteration to iteration."""

    memory: str
    span: Span | None  #: of the load
    other: Span | None  #: of the store
    cycles: int


@dataclass(frozen=True)
class Copies:
    """Equal copies of a loop."""

    count: int
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


@dataclass(frozen=True)
class Kernel:
    """One kernel. ``ndrange`` distinguishes NDRange kernels from single work-item ones; ``lanes`` work-items execute
    side by side in each of ``units`` compute units: loops, accesses and arrays are those of one unit, ``resources``
    those of all."""

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

    @property
    def resources(self) -> Resources:
        return sum((kernel.resources for kernel in self.kernels), self.shared)
