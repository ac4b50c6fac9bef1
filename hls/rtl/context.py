"""The state that all regions of one kernel share while their hardware is generated."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from amaranth import *

from ..ir import Function, Op
from ..ir import Value as IrValue
from ..ir.checks import checked_loads
from ..ir.launch import units_of
from ..planning.memory import MemoryPlan
from ..planning.schedule import KernelPlan
from ..target.board import Memory
from ..target.cell import LogicCell
from .names import Names
from .servers import Servers
from .stalls import Stalls
from .values import LoopState, Values

__all__ = ["KernelContext", "Observation", "Observations", "RunSignals"]


@dataclass
class Observation:
    """A single-bit signal worth counting, and what it means for which operation."""

    #: "issued", "invocation", "running", "refused" of a loop; "accepted", "stalled", "burst", "word" of an access;
    #: "blocked" of a call on a channel; "wait"
    kind: str
    op: Op
    signal: Value


@dataclass(eq=False)
class Observations:
    """What the kernel's parts can observe of a run: ``all`` signals that may be counted, and failures of reads."""

    all: list[Observation] = field(default_factory=list)
    failed: dict[IrValue, Op] = field(
        default_factory=dict
    )  #: for each load inside a level, the value that says whether it failed
    #: pairs of an access of the program and a strobe: memory refused its read
    read_errors: list[tuple[Op, Value]] = field(default_factory=list)

    def add(self, kind: str, op: Op, signal: Value) -> None:
        """Add a signal worth counting."""
        self.all.append(Observation(kind, op, signal))

    def add_wait(self, op: Op, signal: Value) -> None:
        """Add a signal that is high while tokens wait for the operation."""
        self.add("wait", op, signal)


@dataclass(eq=False)
class RunSignals:
    """Signals that control a run from its start to its end."""

    start: Signal = field(default_factory=lambda: Signal(name="start_token"))
    entered: Signal = field(default_factory=lambda: Signal(name="entered"))
    restart: Signal = field(default_factory=lambda: Signal(name="restart"))  #: a run begins in the next cycle
    finished: Signal = field(default_factory=lambda: Signal(name="finished"))


@dataclass(eq=False, kw_only=True)
class KernelContext:
    """Shared by all regions of a kernel. ``memories`` are the board's, by the location of accesses, and ``cell`` is its
    device's; ``arguments`` and ``seed`` are those of :class:`~hls.rtl.values.Values` and
    :class:`~hls.rtl.stalls.Stalls`."""

    function: Function
    plan: KernelPlan
    memory: MemoryPlan
    address_bits: int
    memories: Mapping[str | None, Memory]
    arguments: Mapping[str, Value]
    seed: Value | None
    cell: LogicCell
    ram_faults: bool = False  #: see :class:`hls.options.Options`
    unit_name: str = ""  #: name of the kernel's hardware, or that of one of its compute units

    def __post_init__(self) -> None:
        self.unit_name = self.unit_name or self.function.name
        self.m, self.run, self.observations = Module(), RunSignals(), Observations()
        self.names, self.stalls = Names(self.memory), Stalls(self.seed)
        self.values = Values(self.function, self.memory, self.address_bits, self.arguments)
        self.loops = LoopState(self.values)
        self.checked = checked_loads(self.function)  #: the loads that each `check` is about
        self.servers = Servers()
        self.servers.build(self)

    @property
    def by_group(self) -> bool:
        """Whether the kernel's top gets a token for every group that the unit takes, rather than one for the launch."""
        return units_of(self.function) > 1

    def latency(self, op: Op) -> int:
        """Stages that a pure operation takes."""
        return self.plan.latency[op]

    def bypass_depth(self, op: Op) -> int:
        """Entries of the queue that bypasses an operation with a response: tokens that may be inside it."""
        regions = (self.plan.top, *self.plan.loops.values())
        return next(
            level.bypass_depth for region in regions for level in region.levels for row in level.row if row.op is op
        )
