"""The frozen product of scheduling: where and when every operation of a kernel executes.

A region (the kernel's top, or a loop's body) is a chain of levels; a level is a pipeline of ``depth`` stages. A
:class:`Point` (level, stage) is a position in that chain. Tokens pass levels in order, so points order the events of
one token.
"""

from dataclasses import dataclass

from rtl_lib.port_reservation import PortUser

from ...ir import Op, Region, TokenType, Value
from ...narrow import present
from .explain import Bottleneck
from .parts import PartChoice

__all__ = ["Booking", "Carried", "KernelPlan", "LevelPlan", "Point", "RegionPlan", "Ring", "Row", "Window"]


@dataclass(frozen=True, order=True)
class Point:
    """Stage ``stage`` of level ``level``."""

    level: int
    stage: int


@dataclass(frozen=True)
class Carried:
    """One carried value of a loop: read from its slot register at ``read``, written at ``write``.

    The scheduling problem ensures ``write.stage + 1 <= read.stage + II`` where both lie in one level. With a ``root``,
    the index of another carried value or its own, it equals what that one was written ``steps`` iterations ago, and
    ``write`` is the point of that write. Where it ``forwards`` the result of an operation, it may be read in the cycle
    in which it is written: ``write.stage <= read.stage + II``. With ``preset``, its register begins a run with the
    initial value, so that reading it needs no choice.
    """

    index: int
    arg: Value
    next: Value
    read: Point
    write: Point
    root: int | None = None
    steps: int = 1
    forwards: Op | None = None
    preset: bool = False

    @property
    def overlap(self) -> bool:
        """Whether the value only matters in runs in which buffers overlap."""
        return isinstance(self.arg.type, TokenType) and self.arg.type.overlap

    @property
    def between(self) -> bool:
        """Whether the value only orders invocations of the loop."""
        return isinstance(self.arg.type, TokenType) and self.arg.type.between

    @property
    def distance(self) -> int:
        """How many iterations old the value is: 1 unless it is a token."""
        return self.arg.type.distance if isinstance(self.arg.type, TokenType) else 1

    @property
    def windowed(self) -> bool:
        """Whether several tokens may be between its read and its write."""
        return self.distance > 1 and self.write.level > self.read.level


@dataclass(frozen=True)
class Window:
    """At most ``most`` tokens are between the entry of a level and the passing of ``until``, mostly in a later level.

    With ``overlap`` this holds only in runs in which buffers overlap. An ``undecided`` window ends where tokens leave
    the queue before the level of ``until``, whether they go on or come after the last one of their invocation. With
    ``first`` and ``last`` it counts groups: from the entry of the first token of a group to the passing of its last;
    ``group`` names what they have for themselves. A window ``between`` invocations admits the first token of an
    invocation only when no token is inside. With ``ahead``, it admits a token only when all those of earlier
    invocations have passed whose number in their invocation is at most its own plus ``ahead``; ``most`` is then only
    the most tokens that may be inside at all.
    """

    until: Point
    most: int
    overlap: bool
    undecided: bool = False
    first: Value | None = None
    last: Value | None = None
    group: Op | None = None
    between: bool = False
    ahead: int | None = None


@dataclass(frozen=True)
class Ring:
    """A barrier loop: the work-items of a group circulate together. Each iteration of a group is one run of tokens
    without gaps, up to the one in which ``last`` holds. At most ``groups`` groups of up to ``items`` work-items are
    inside; the tokens carry the values. With ``overtaking``, groups may finish in another order than they entered, and
    are reordered at the exit."""

    groups: int
    items: int
    last: Value
    overtaking: bool = False


@dataclass(frozen=True)
class Row:
    """A boundary entry: one variable-latency operation between two levels, and its queues.

    ``push`` is the stage at whose end the request enters the request queue of ``request_depth`` entries. ``joins`` says
    whether the next level waits for a response. ``waiting`` of the entries are for requests that nothing takes while
    the answers before theirs wait for slower operations of the boundary.
    """

    op: Op
    push: int
    request_depth: int
    joins: bool
    waiting: int = 0


@dataclass(frozen=True)
class WholeGroups:
    """A group begins to enter a level only when the queue after the boundary has room for ``items`` tokens; ``last``
    marks the last token of each group."""

    items: int
    last: Value


@dataclass(frozen=True, kw_only=True)
class LevelPlan:
    """One level. Values used after its boundary bypass it through a queue of ``bypass_depth`` entries.

    ``elastic`` levels (stall-enabled) freeze all their registers while a queue after them is full; the others admit a
    token only when every queue has room for all tokens inside (credits). ``ready`` is the point that a token must pass
    before the next one of its slot may enter, None where the header alone paces tokens; ``ready_overlap`` is the same
    for runs in which buffers overlap (in which it is never earlier). Tokens enter a multiple of ``spacing`` cycles
    apart, so that operations which share a port in different stages never collide. ``whole`` is set before a barrier
    loop that some groups may bypass: its header must not wait for the rest of a group that finds no room after those.
    """

    index: int
    depth: int
    elastic: bool
    row: tuple[Row, ...]
    bypass_depth: int
    ready: Point | None
    ready_overlap: Point | None
    windows: tuple[Window, ...] = ()
    spacing: int = 1
    whole: WholeGroups | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionPlan:
    """A loop's body (or a kernel's top, where ``loop`` is None and one token passes, or one for every group).

    ``place`` maps every operation, without those inside loops, to its level and start stage; ``ii`` is the static II.
    ``decide`` is where the continue condition is known, ``again`` where the header may issue the slot's next token,
    ``again_overlap`` where it may in runs in which buffers overlap. ``ii`` is for runs in which they do not. A
    ``speculative`` loop issues tokens before the decision; level ``decide.level`` drops those after the last one.
    """

    loop: Op | None
    region: Region
    ii: int
    slots: int
    entries: int
    levels: tuple[LevelPlan, ...]
    place: dict[Op, Point]
    available: dict[Value, Point]
    carried: tuple[Carried, ...]
    invariants: tuple[Value, ...]
    decide: Point
    again: Point
    again_overlap: Point
    again_delay: int  #: further cycles between passing ``again`` and the signal to the header (pacing to ``ii``)
    again_overlap_delay: int
    latency: int  #: estimated cycles from issue to exit of one token
    speculative: bool = False
    #: what ``ii`` comes from: "schedule" of a level, "crossing" of boundaries, "window" (several iterations apart), or
    #: a limit of the source: "ahead", "concurrency", "request"
    cause: str = "schedule"
    #: what forbids a smaller II (``hls.planning.schedule.explain.Bottleneck``), if anything does
    bottleneck: Bottleneck | None = None
    shortest: int = 1  #: least number of iterations of every invocation
    once: bool = False  #: a launch enters the loop at most once
    #: clock period that its chains fit, in ns: longer than the target's where ``#pragma ii`` requires it
    period: float = 0.0
    ring: Ring | None = None  #: of a barrier loop; ``entries`` then counts work-items

    @property
    def is_paced_by_exit(self) -> bool:
        """Whether a smaller II is forbidden by when the continue condition is known."""
        return self.bottleneck is not None and any("again" in (step.src, step.dst) for step in self.bottleneck.steps)

    @property
    def loop_op(self) -> Op:
        """The loop, where the caller knows that the region is a loop's body; TypeError for a kernel's top."""
        return present(self.loop)


@dataclass(frozen=True, eq=False)
class Booking:
    """Ports that tokens of several levels use at the same time. Each of the ``levels``, pairs of a region's plan and a
    level's number, reserves the cycles of the ports when a token enters it, as ``users`` says."""

    levels: tuple[tuple[RegionPlan, int], ...]
    users: tuple[PortUser, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelPlan:
    """A kernel: its top region, the plan of every loop, and the launch-invariant operations."""

    name: str
    top: RegionPlan
    loops: dict[Op, RegionPlan]
    static: tuple[Op, ...]  #: launch-invariant: computed beside the pipeline, from arguments, before the kernel starts
    static_depth: int  #: cycles until all of them are valid
    latency: dict[Op, int]  #: of every pure operation, in stages
    parts: dict[Op, PartChoice]  #: what computes the operations that are not plain logic
    apart: frozenset[Op] = frozenset()  #: sums that synthesis must not merge with the sums that use them
    bookings: tuple[Booking, ...] = ()
