"""The report as data: what the compiler built, loop by loop and access by access, and why.

Everything a reader may want to know is a field here; the text, JSON and HTML forms only render it. The classes of each
subject are in :mod:`hls.report.facts`.
"""

from dataclasses import dataclass

from ..diag import Diagnostic, Span
from ..model.area import NOTHING, Resources
from ..records import computed
from .facts.area import AreaNode, LineArea, Operator, Role
from .facts.channels import Channel, Depth, Network, Stop, Way
from .facts.loops import (
    Bottleneck,
    ClockPoint,
    Conflict,
    Copies,
    Loop,
    Part,
    Path,
    Rewrite,
    Serial,
    Share,
    Unroll,
    WouldBe,
    every,
)
from .facts.memories import (
    Access,
    BufferCopy,
    LocalAccess,
    Memory,
    Port,
    Private,
    Replication,
    Sharing,
    Turns,
    Variable,
    Wait,
)
from .facts.predictions import LaunchPrediction, LoopPrediction
from .facts.schedule import Edge, Level, Operation, RegionSchedule, Stage
from .facts.synthesis import Synthesis

__all__ = [
    "ASSUMED_TRIPS",
    "SCHEMA",
    "Access",
    "AreaNode",
    "Bottleneck",
    "BufferCopy",
    "Channel",
    "ClockPoint",
    "Conflict",
    "Copies",
    "Depth",
    "Edge",
    "Info",
    "Kernel",
    "KernelCopies",
    "LaunchPrediction",
    "Level",
    "LineArea",
    "LocalAccess",
    "Loop",
    "LoopPrediction",
    "Memory",
    "Network",
    "Operation",
    "Operator",
    "Part",
    "Path",
    "Port",
    "Private",
    "Ranked",
    "RegionSchedule",
    "Replication",
    "Report",
    "Resources",
    "Rewrite",
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

#: iterations assumed of a loop whose trip count is known only at run time, to sort by
ASSUMED_TRIPS = 1000


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
    names: tuple[str, ...]
    differs: tuple[str, ...] = ()


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
    target_mhz: float | None = None  #: the clock that it is scheduled for, if it is not the board's
    copies: KernelCopies | None = None  #: None for a kernel of which there is one
    buffer_copies: tuple[BufferCopy, ...] = ()  #: the buffers that it waits for
    local_accesses: tuple[LocalAccess, ...] = ()
    variables: tuple[Variable, ...] = ()
    schedule: tuple[RegionSchedule, ...] = ()  #: the kernel's top first, then its loops, inner before outer
    counters: Resources = NOTHING  #: what its hardware counters take; included in ``resources``
    operators: tuple[Operator, ...] = ()  #: its arithmetic parts, the largest first
    verdict: str = ""  #: one line: its loops, the slowest of them, and its area
    #: of its launches (of all copies) whose workloads were given; None if none was
    predicted: LaunchPrediction | None = None
    part_of: str | None = None  #: of a memory part or a copy: the kernel whose launch starts it
    loads_for: str | None = None  #: of a memory part: the compute part that it sends values to
    parts: tuple[str, ...] = ()  #: of a split or copied kernel: its other parts
    shares: int = 1  #: how many copies share the iterations of the outermost loop

    @computed
    def fmax_mhz(self) -> float | None:
        """The clock frequency that its loops permit and its load-store units reach, the least of them; None if none is
        known."""
        clocks = [*(loop.fmax_mhz for loop in every(self.loops)), *(access.fmax_mhz for access in self.accesses)]
        return min((mhz for mhz in clocks if mhz is not None), default=None)


@dataclass(frozen=True)
class Ranked:
    """A loop that loses cycles, or an access that loses bandwidth. The list is sorted by the cycles that a launch
    loses; where ``cycles`` is unknown, the order assumes ``Report.assumed_trips`` iterations."""

    kernel: str
    category: str  #: see ``Loop.category``; or "bandwidth"
    sentence: str
    span: Span | None = None
    loop: str = ""  #: id; "" if it is an access
    access: str = ""  #: id; "" if it is a loop
    lost: float = 0.0  #: cycles in each iteration
    cycles: float | None = None  #: cycles in a launch; None if trip counts are known only at run time
    help: str = ""  #: the first change that was found to help, with its figures; "" for none


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
    #: iterations of a loop whose trip count is known only at run time, for the order of ``bottlenecks``
    assumed_trips: int = ASSUMED_TRIPS
    area: AreaNode | None = None  #: the whole design; None if it was not estimated
    lines: tuple[LineArea, ...] = ()
    counters: Resources = NOTHING  #: what hardware counters take, in kernels and elsewhere; part of ``resources``
    #: what `sluice synth` found for this design; None until it ran
    synthesis: Synthesis | None = None

    @computed
    def resources(self) -> Resources:
        """Of the whole design."""
        return sum((kernel.resources for kernel in self.kernels), self.shared)
