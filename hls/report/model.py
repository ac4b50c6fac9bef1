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
    """What a part of a recurrence is."""

    OPERATION = "operation"
    REGISTER = "register"  #: that keeps a value from one iteration to the next
    CONTROL = "control"  #: of the loop
    ARRIVAL = "arrival"  #: of a value from before the loop
    ROUND_TRIP = "round trip"  #: a load that goes to global memory and back
    CALL = "call"  #: on a channel
    INNER_LOOP = "inner loop"
    PIPELINE = "pipeline"  #: stages and queues on the way


@dataclass(frozen=True)
class Share:
    """What one operation contributes to the length of a recurrence."""

    operation: str  #: e.g. "floating-point add", "load of a"
    span: Span | None
    share: float  #: of the whole, 0 to 1
    part: Part = Part.OPERATION
    opcode: str = ""  #: the IR's name of an operation
    subject: str = ""  #: the array, channel or loop that it is about


@dataclass(frozen=True)
class Bottleneck:
    """What keeps a loop from a smaller initiation interval, or, of kind "invocations", an invocation from beginning
    (``subject`` waits for the access at ``other`` of the one before, ``cycles`` behind its last iteration).

    ``kind`` is "data" (``subject`` is the variable that waits for its own value of an earlier iteration), "memory"
    (``subject`` is the access that waits for the access at ``other``), "condition" (whether there is a next iteration
    is known late), "resource" (``subject`` is shared), "turns" (``subject``, stores of one iteration, are made one
    after the other), or what the source asks for: "request" (this interval), "concurrency" (no more than ``subject``
    iterations on their way), "ahead" (no more than ``subject`` iterations before it is known whether there are any).
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
    proved: bool = False  #: of "memory": the accesses meet in every run that goes on so far, so none may deny it


@dataclass(frozen=True)
class Unroll:
    """How often a loop's body was copied. ``factor`` is None where unrolling was asked for and not possible."""

    factor: int | None
    full: bool
    reason: str  #: "pragma", "automatic", or why it failed


@dataclass(frozen=True)
class Serial:
    """Loops inside that one iteration at a time passes, and why."""

    loops: tuple[tuple[str, Span | None], ...]  #: label and place of each
    cause: Bottleneck


@dataclass(frozen=True)
class Path:
    """The longest way from a register to the next, in ns; ``steps`` are the operations on it with their shares."""

    ns: float
    fmax_mhz: float  #: the clock that it leaves possible
    steps: tuple[Share, ...]


@dataclass(frozen=True)
class WouldBe:
    """What a loop would be after a ``change``, found out by planning the kernel with it.

    ``at_best``: the constraint that the change is about was taken away altogether, as what the change leaves of it
    depends on how it is made.
    """

    change: str  #: what to do, as a sentence says it
    ii: int
    interleaving: int
    fmax_mhz: float | None  #: what the loop's longest way allows; None where that is not known
    interval: float | None  #: cycles between two iterations; None where loops inside run as often as the data says
    at_best: bool = False


@dataclass(frozen=True)
class Conflict:
    """A load that is compared with earlier stores that are on their way, and waits only where one goes to its address:
    ``cycles`` then at most, from iteration to iteration."""

    memory: str
    span: Span | None  #: of the load
    other: Span | None  #: of the store
    cycles: int


@dataclass(frozen=True)
class Copies:
    """Copies of a loop that are alike."""

    count: int
    ii: int
    interleaving: int


@dataclass(frozen=True)
class Loop:
    """A loop of the source. ``ii`` 0 means that no hardware loop is left: ``unroll`` is full, the loop is part of
    another one, or ``gone`` says what became of it."""

    label: str
    span: Span | None
    ii: int
    interleaving: int = 1  #: invocations whose iterations take turns, 1 to ii
    slots: int = 1
    latency: int = 0  #: cycles from an iteration's issue to its end, without stalls and inner loops
    levels: int = 1
    trip_count: int | None = None  #: None where it is known only at run time
    work_items: bool = False  #: the iterations are the work-items of an NDRange
    bottleneck: Bottleneck | None = None
    one_at_a_time: str = ""  #: why fewer invocations take turns than the II asks for
    unroll: Unroll | None = None
    children: tuple["Loop", ...] = ()
    copies: int = 1  #: loops in hardware: more than one where a loop around it was unrolled
    part_of: tuple[str, Span | None] | None = None  #: "coalesced" or "fused", and the loop that it became one with
    speculative: bool = False  #: iterations are issued before it is known whether there are any
    limit: int | None = None  #: iterations on their way that the source allows at most
    paced: int | None = None  #: cycles that the loops inside take for an iteration, where their trips are known
    serial: tuple[Serial, ...] = ()
    additional: tuple[Bottleneck, ...] = ()  #: dependences through memory that do not limit the II
    path: Path | None = None
    advice: str = ""  #: what to try first against the bottleneck, or else against a serial region
    would_be: tuple[WouldBe, ...] = ()  #: each change that was found to help, the ones of ``advice`` first
    gone: str = ""  #: "runs once", "never runs", "removed" (its result is never used), or "replaced" by other hardware
    at_most: bool = False  #: II and pace are those of runs in which memory is slow: it may answer at once
    conflicts: tuple[Conflict, ...] = ()
    variants: tuple[Copies, ...] = ()  #: where copies differ; the figures of the loop are those of the slowest

    def __post_init__(self):
        if self.ii and not 1 <= self.interleaving <= self.ii:
            raise ValueError(f"loop {self.label}: interleaving {self.interleaving} is not in 1..II = {self.ii}")

    @property
    def scheduled_ii(self) -> float | None:
        """Cycles between two iterations while enough invocations run; None for a loop that is unrolled away."""
        return self.ii / self.interleaving if self.ii else None

    @property
    def concurrency(self) -> int | None:
        """Iterations in flight at most: latency x interleaving / II, one that has begun counted whole, or what the
        source allows."""
        if not self.ii:
            return None
        most = max(1, -(-self.latency * self.interleaving // self.ii))
        return min(most, self.limit) if self.limit else most


@dataclass(frozen=True)
class Access:
    """A load or store of global memory, and the ``count`` units built for it (copies of an unrolled loop have their
    own)."""

    kind: str  #: "load", "store" or "atomic"
    buffer: str
    span: Span | None
    bytes: int  #: of one access
    lsu: str
    reason: str  #: why this unit
    count: int = 1
    memory: str | None = None  #: the board's memory behind it; None for the default one


@dataclass(frozen=True)
class Channel:
    """A channel, or ``count`` equal ones of an array, between two kernels. ``requested`` is the depth asked for (None:
    none), ``reason`` why ``depth``, what is built, is another; the spans are those of the first calls."""

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
    """One kernel of several that wait for each other: at ``span`` it waits for ``other`` to make room in a channel
    (``writes``), or to send a value."""

    kernel: str
    channel: str
    writes: bool
    other: str
    span: Span | None


@dataclass(frozen=True)
class Depth:
    """A channel, and the least depth with which kernels do not wait for each other."""

    channel: str
    depth: int


@dataclass(frozen=True)
class Network:
    """Kernels that channels join. ``deadlock``: whether they wait for each other for ever: "impossible", "certain",
    "possible" or "unknown"; ``reason`` says why. ``circle``: each waits for the next, the last for the first;
    ``depths`` would help."""

    kernels: tuple[str, ...]
    deadlock: str
    reason: str
    span: Span | None = None  #: of what the reason is about
    circle: tuple[Stop, ...] = ()
    depths: tuple[Depth, ...] = ()


@dataclass(frozen=True)
class Private:
    """A private array or constant table, and where it is kept."""

    name: str
    span: Span | None
    bits: int
    place: str  #: e.g. "registers", "shift register of 32", "ROM"


@dataclass(frozen=True)
class Turns:
    """Accesses of one token that share a port: they take ``cycles``, one after the other, whatever else there is to
    do."""

    kind: str  #: "store" or "load"
    cycles: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Sharing:
    """Loads at ``lines`` that share a copy, and why they never meet there."""

    lines: tuple[int, ...]
    reason: str


@dataclass(frozen=True)
class Memory:
    """A memory inside a kernel, in RAM. Sizes are in bytes: what the source asks for, and what is there, all copies
    counted.

    ``copies`` are those of the bank that has the most: one for each load that may read it at once. ``groups`` of
    work-items, or iterations of the loop around a private array, have a part each. No access ever waits for another;
    where some share a port they have cycles of their own, by ``turns``.
    """

    name: str
    span: Span | None
    space: str  #: "local", "private" or "constant"
    requested: int
    implemented: int
    word_bytes: int
    banks: int
    banked: str  #: how a bank is chosen; "" where there is one
    copies: int
    groups: int
    reads: int
    writes: int
    atomics: int
    blocks: int  #: block RAMs; 0 where the memory is small enough for tables
    rating: str  #: "optimal", "good but replicated" or "possibly inefficient"
    turns: tuple[Turns, ...]
    sharing: tuple[Sharing, ...]
    pumping: str
    attributes: tuple[str, ...]  #: that the source asks for
    advice: str  #: what to change; "" for nothing
    of_one_group: int = 0  #: block RAMs that it would take with one group of work-items at a time
    merged: tuple[str, ...] = ()  #: the arrays that are in it where the source merges some, each with its line
    merged_by: str = ""  #: "depth" or "width"
    write_ports: int = 1  #: that each bank is written through in a cycle
    #: of which there is a copy for each that is under way: "groups", "work-items" or "iterations"
    owners: str = "groups"

    @property
    def stall_free(self) -> bool:
        """Whether every access of a token has a port for itself."""
        return not self.turns


@dataclass(frozen=True)
class Way:
    """What a value takes from one channel to another through a kernel, ``cycles`` if nobody waits."""

    source: str
    target: str
    cycles: int


@dataclass(frozen=True)
class Kernel:
    """One kernel. ``ndrange`` tells work-items from a single one; ``lanes`` of them go side by side, in each of
    ``units`` compute units: loops, accesses and arrays are those of one unit, ``resources`` of all."""

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
    ways: tuple[Way, ...] = ()  #: of a kernel whose calls on channels happen once an iteration


@dataclass(frozen=True)
class Report:
    """All kernels of one compilation. ``shared`` is what they have in common: interconnect, control, memory ports."""

    source: str
    board: str
    clock_mhz: float
    kernels: tuple[Kernel, ...]
    shared: Resources = NOTHING
    device: Resources | None = None  #: what the device holds; None where the board does not say
    logic_cell: str = "logic cells"
    messages: tuple[Diagnostic, ...] = ()
    channels: tuple[Channel, ...] = ()
    networks: tuple[Network, ...] = ()

    @property
    def resources(self) -> Resources:
        return sum((kernel.resources for kernel in self.kernels), self.shared)
