"""Facts about loops: their initiation intervals, what limits them, and what would help."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from ...diag import Span
from ...records import computed
from .predictions import LoopPrediction

__all__ = [
    "Bottleneck",
    "ClockPoint",
    "Conflict",
    "Copies",
    "Loop",
    "Part",
    "Path",
    "Serial",
    "Share",
    "Unroll",
    "WouldBe",
    "every",
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
    (``subject`` is the access that waits for the access at ``other``), "channel" (so for calls of one channel,
    which keep their order), "condition" (the continue condition is known late), "resource" (``subject`` is shared),
    "turns" (``subject``, stores of one iteration, are serialized), or a limit of the source: "request" (this II),
    "concurrency" (at most ``subject`` iterations in flight), "ahead" (at most ``subject`` iterations before the
    continue condition is known).
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
    #: of "memory", "channel" and "invocations": the access at ``other``, e.g. "store to t"; "" if unknown
    giver: str = ""
    sentence: str = ""  #: all of this but the shares, as in "loop-carried dependence on sum (line 11)"


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
class Rewrite:
    """How a change is written in the source. ``kind``: "pragma" (``names`` are its words, for the loop at ``span``),
    "remove pragmas" (``names``, of the loop at ``span``), "attributes" (``names``, of the array at ``span``), or
    "partial sums" (``names`` is the variable that the loop at ``span`` adds to, ``number`` how many sums there are)."""

    kind: str
    span: Span | None
    names: tuple[str, ...]
    number: int | None = None


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
    rewrite: Rewrite | None = None  #: None where how to write the change depends on the program


@dataclass(frozen=True)
class ClockPoint:
    """An II of a loop with the clock that its critical path then permits."""

    how: str  #: "as it is", or with or without which pragma
    ii: int
    fmax_mhz: float

    @computed
    def iterations_per_us(self) -> float:
        """Iterations that start in a microsecond at that clock, if nothing stalls."""
        return round(self.fmax_mhz / self.ii, 1)


@dataclass(frozen=True)
class Conflict:
    """A load that is compared with earlier stores in flight, and waits only for a store to its own address: at most
    ``cycles`` then, from iteration to iteration. ``forwarded``: it takes the value from that store, and does not wait
    for memory."""

    memory: str
    span: Span | None  #: of the load
    other: Span | None  #: of the store
    cycles: int
    forwarded: bool = False
    sentence: str = ""


@dataclass(frozen=True)
class Copies:
    """Equal copies of a loop."""

    count: int
    ii: int
    interleaving: int


#: category of a loop by the kind of its bottleneck
CATEGORIES = {
    "data": "loop-carried dependence",
    "memory": "memory dependence",
    "channel": "channel order",
    "condition": "exit condition",
    "resource": "port",
    "turns": "port",
    "request": "request",
    "concurrency": "request",
    "ahead": "request",
    "invocations": "memory dependence",
}


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
    #: for each level what an iteration waits for at its end: "memory", "channels" or "inner loops"
    waits_at: tuple[tuple[str, ...], ...] = ()
    trip_count: int | None = None  #: None if known only at run time
    work_items: bool = False  #: the iterations are the work-items of an NDRange
    bottleneck: Bottleneck | None = None
    one_at_a_time: str = ""  #: why fewer invocations are interleaved than the II would need
    unroll: Unroll | None = None
    children: tuple["Loop", ...] = ()
    copies: int = 1  #: loops in hardware: more than one if a loop around it was unrolled
    part_of: tuple[str, Span | None] | None = None  #: "coalesced" or "fused", and the loop that it was merged into
    without_copies: int = 0  #: II in launches in which a buffer is larger than its copy; 0: the same
    interchanged: bool = False  #: changed places with the loop inside it: it steps that one's counter
    speculative: bool = False  #: iterations are issued before the continue condition is known
    limit: int | None = None  #: most iterations in flight that the source allows
    paced: int | None = None  #: cycles that inner loops take per iteration, where their trip counts are known
    serial: tuple[Serial, ...] = ()
    additional: tuple[Bottleneck, ...] = ()  #: dependences through memory that do not limit the II
    path: Path | None = None
    advice: str = ""  #: what to try first against the bottleneck, or else against a serial region
    would_be: tuple[WouldBe, ...] = ()  #: each change that was found to help, those of ``advice`` first
    #: II against clock: the loop as it is, then what another II would permit; empty where there is no choice
    clock_points: tuple[ClockPoint, ...] = ()
    gone: str = ""  #: "runs once", "never runs", "removed" (its result is never used), or "replaced" by other hardware
    at_most: bool = False  #: II and pace are upper limits, for slow memory responses: memory may respond at once
    conflicts: tuple[Conflict, ...] = ()
    variants: tuple[Copies, ...] = ()  #: where copies differ; the figures of the loop are those of the slowest
    #: KERNEL/LABEL/LABEL#ORDINAL: the labels of the loops around it, and its place among those of its label; the same
    #: where lines are added or removed
    id: str = ""
    kind: str = "for"  #: "for", "while", "do", "work-items", or "restart" of an autorun kernel
    disabled: bool = False  #: the source disables pipelining (``#pragma disable_loop_pipelining``)
    #: iterations that each invocation issues after the last one, if nothing stalls; 0 if the loop does not speculate
    speculated: int = 0
    #: of a memory dependence that limits the loop: the source texts of the access that waits, and of the one that it
    #: waits for; "" if unknown
    waits: str = ""
    waits_for: str = ""
    #: cycles that each iteration takes longer than with II 1; None for no loop in hardware
    lost: float | None = None
    sentence: str = ""  #: what became of it, and how often an iteration starts
    #: iterations of the loop in a launch, all invocations together; None if known only at run time
    iterations: int | None = None
    predicted: LoopPrediction | None = None  #: of launches whose workloads were given; None if none was

    def __post_init__(self) -> None:
        if self.ii and not 1 <= self.interleaving <= self.ii:
            raise ValueError(f"loop {self.label}: interleaving {self.interleaving} is not in 1..II = {self.ii}")

    @computed
    def scheduled_ii(self) -> float | None:
        """Cycles between two iterations while enough invocations run; None for a loop that is fully unrolled."""
        return self.ii / self.interleaving if self.ii else None

    @computed
    def verdict(self) -> str:
        """What became of the loop: "pipelined", "sequential" (the source disables pipelining), "unrolled", "merged"
        (with another loop), "runs once", "removed", or "replaced" by other hardware."""
        if self.part_of:
            return "merged"
        if self.ii:
            return "sequential" if self.disabled else "pipelined"
        if self.unroll:
            return "unrolled"
        return {"never runs": "removed", "": "removed"}.get(self.gone, self.gone)

    @computed
    def category(self) -> str:
        """The kind of what limits the loop: "loop-carried dependence" (of data), "memory dependence", "channel
        order", "port", "exit condition", "request", "serial region", or "" if nothing does."""
        if self.bottleneck is not None:
            return CATEGORIES[self.bottleneck.kind]
        return "serial region" if self.serial else ""

    @computed
    def assumed(self) -> bool:
        """Whether the dependence through memory that limits the loop is only not excluded, instead of proved."""
        causes = [self.bottleneck] if self.bottleneck else [region.cause for region in self.serial]
        return any(cause.kind == "memory" and not cause.proved for cause in causes)

    @computed
    def fmax_mhz(self) -> float | None:
        """The clock frequency that the loop's critical path permits; None if it is unknown."""
        return self.path.fmax_mhz if self.path else None

    @computed
    def concurrency(self) -> int | None:
        """Most iterations in flight: latency x interleaving / II, rounded up, or the limit that the source sets."""
        if not self.ii:
            return None
        most = max(1, -(-self.latency * self.interleaving // self.ii))
        return min(most, self.limit) if self.limit else most


def every(loops: Iterable[Loop]) -> Iterator[Loop]:
    """All loops, outer ones first."""
    for loop in loops:
        yield loop
        yield from every(loop.children)
