"""What all regions of one kernel share while their hardware is made: names, widths, arguments, units, observations."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from amaranth import *

from rtl_lib.stall import StallGate, StallSource, salt_of

from ..ir import Attr, Function, Op, PointerType, TokenType, Value, uses
from ..ir.accesses import PREDICATES
from ..ir.launch import OVERLAP, PER_GROUP, hidden_arguments, units_of
from ..planning.memory import MemoryPlan
from ..planning.schedule import KernelPlan
from ..target.board import Memory
from .access import AtomicAccess, LoadAccess, StoreAccess
from .barrier import meets_of
from .channels import calls_at_once, calls_of
from .expression import constant
from .fences import fences_of
from .hazards import hazards_of
from .port_reservation import build_bookings
from .ram_access import RamAtomicAccess, RamLoadAccess, RamStoreAccess

__all__ = ["KernelContext", "Observation"]


@dataclass
class Observation:
    """A single-bit signal worth counting, and what it says about which operation."""

    #: "issued", "invocation", "running" of a loop; "accepted", "stalled", "burst", "word" of an access; "wait"
    kind: str
    op: Op
    signal: Value


@dataclass(eq=False)
class KernelContext:
    """Shared by all regions of a kernel. ``arguments`` maps parameter names to signals that hold while it runs;
    ``memories`` are the board's, by the location of accesses."""

    function: Function
    plan: KernelPlan
    memory: MemoryPlan
    address_bits: int
    memories: Mapping[str | None, Memory]
    arguments: dict[str, Value]
    seed: Value | None  #: of random stalls; None builds none
    ram_faults: bool = False  #: as :class:`hls.options.Options` says
    unit_name: str = ""  #: of the kernel in hardware; where it has several compute units, of one of them
    m: Module = field(default_factory=Module)
    start: Signal = field(default_factory=lambda: Signal(name="start_token"))
    entered: Signal = field(default_factory=lambda: Signal(name="entered"))
    restart: Signal = field(default_factory=lambda: Signal(name="restart"))  #: a run begins in the next cycle
    finished: Signal = field(default_factory=lambda: Signal(name="finished"))
    pseudo: dict = field(default_factory=dict)
    registers: dict = field(default_factory=dict)
    histories: dict = field(default_factory=dict)
    static: dict = field(default_factory=dict)
    observations: list = field(default_factory=list)
    failed: dict = field(default_factory=dict)  #: loads inside levels by the values that say whether each failed
    #: pairs of an access of the program and a strobe: the memory refused its read
    read_errors: list = field(default_factory=list)
    unsent: list = field(default_factory=list)  #: stores pushed but not yet taken by their units
    queued: dict = field(default_factory=dict)  #: the request queue of every access
    flushes: dict = field(default_factory=dict)  #: when loads must forget what they hold
    _names: dict = field(default_factory=dict)
    _taken: set = field(default_factory=set)
    _last: dict[str, int] = field(default_factory=dict)  #: the last number behind a stem

    def __post_init__(self):
        self.unit_name = self.unit_name or self.function.name
        self._uses = uses(self.function.body)
        waiting = {"load": LoadAccess, "store": StoreAccess, "atomic": AtomicAccess}
        fixed = {"load": RamLoadAccess, "store": RamStoreAccess, "atomic": RamAtomicAccess}
        accesses = self.memory.accesses.items()
        self.units = {op: waiting[a.direction](self, a) for op, a in accesses if a.latency is None}
        self.ports = {op: fixed[a.direction](self, a) for op, a in accesses if a.latency is not None}  # never wait
        self.channels = calls_of(self)
        self.at_once = calls_at_once(self)
        self.fences = fences_of(self)
        self.hazards = hazards_of(self)
        self.meets = meets_of(self)
        self.bookings = build_bookings(self)  #: (wants to enter, may) of levels that book cycles of ports
        scalars = [p.name for p in self.function.params if p.kind == "scalar"]
        given = zip([*scalars, *hidden_arguments(self.function)], self.function.args, strict=True)
        self.of_group = {}  #: what comes with each group: signals by name
        self._args = {}
        for name, value in given:
            if name.startswith(PER_GROUP) and self.by_group:
                self.of_group[name] = Signal(value.type.bits, name=name)
            else:
                self._args[value] = self.arguments[name]

    @property
    def memory_latency(self) -> int:
        """Typical latency of the slowest memory, in cycles."""
        return max(memory.read_latency for memory in self.memories.values())

    @property
    def by_group(self) -> bool:
        """Whether the kernel's top gets a token for every group that the unit takes, not one for the launch."""
        return units_of(self.function) > 1

    def group_values(self) -> dict[Value, Signal]:
        """The values that a token brings into the kernel's top, with their signals."""
        hidden = hidden_arguments(self.function)
        return {hidden[name]: signal for name, signal in self.of_group.items()}

    # --- values ---

    def width(self, value: Value) -> int:
        return self.address_bits if isinstance(value.type, PointerType) else value.type.bits

    def fixed(self, value: Value):
        """The signal of a value that holds for the whole run: a constant, an argument, a static value; else None.

        A token has no signal at all: it stands in the plan, as a level or a point.
        """
        if isinstance(value.type, TokenType):
            return C(0, 0)
        if value.op is not None and value.op.opcode == "const":
            return constant(value.op, self.width(value))
        return self._args.get(value, self.static.get(value))

    @property
    def overlap(self):
        """High in runs in which buffers may overlap; only to be asked for where a plan tells such runs apart."""
        return self.arguments[OVERLAP]

    def initial(self, plan, index: int) -> Value:
        """The initial value of a carried value as the loop's tokens know it; one that is fixed need not travel."""
        value = plan.loop.operands[1 + index]
        return value if self.fixed(value) is not None else self.pseudo[plan].initial[index]

    def travelling(self, plan) -> list[int]:
        """Indices of the carried values whose initial values come with the request."""
        # what goes round a ring is another value the next time, whatever it began as
        return [k for k, v in enumerate(plan.loop.operands[1:]) if plan.ring is not None or self.fixed(v) is None]

    def used(self, value: Value) -> bool:
        return bool(self._uses.get(value))

    def latency(self, op: Op) -> int:
        return self.plan.latency[op]

    def base(self, op: Op):
        """The address of the memory that an ``addr`` operation points into: of a buffer, or 0 in a memory of its
        own."""
        name = op.attrs[Attr.MEM]
        return C(0) if name in self.memory.onchip else self.arguments[name]

    # --- names ---

    def name(self, value: Value) -> str:
        """A name from the kernel where there is one, else from operation and line; unique within the kernel."""
        if value not in self._names:
            stem = value.name or (self._stem(value.op) if value.op else "arg")
            self._names[value] = self.unique(stem)
        return self._names[value]

    def op_name(self, op: Op) -> str:
        if op not in self._names:
            access = self.memory.accesses.get(op)
            line = f"_L{op.span.line}" if op.span else ""
            stem = f"{access.direction}_{access.memory}{line}" if access else self._stem(op)
            self._names[op] = self.unique(stem)
        return self._names[op]

    def loop_name(self, plan, _k=0) -> str:
        return self.op_name(plan.loop)

    def region_name(self, plan) -> str:
        return "top" if plan.loop is None else self.op_name(plan.loop)

    def _stem(self, op: Op) -> str:
        label = op.attrs.get(Attr.LABEL, "")
        line = f"_L{op.span.line}" if op.span else ""
        return f"{op.opcode}{'_' + label if label else ''}{line}"

    def unique(self, stem: str) -> str:
        stem = re.sub(r"\W+", "_", stem)
        name, k = stem, self._last.get(stem, 1)
        while name in self._taken:
            k += 1
            name = f"{stem}_{k}"
        self._taken.add(name)
        self._last[stem] = k
        return name

    # --- ports of variable-latency operations ---

    def condition(self, op: Op) -> Value | None:
        """The predicate of a variable-latency operation; None where it always runs."""
        if op.opcode not in PREDICATES or op in self.channels and self.channels[op].in_turn:
            return None
        predicate = op.operands[PREDICATES[op.opcode]]
        if predicate.op is not None and predicate.op.opcode == "const" and predicate.op.attrs[Attr.VALUE]:
            return None
        return predicate

    def _unit(self, op: Op):
        """What serves a variable-latency operation other than a loop."""
        kinds = (self.units, self.channels, self.fences, self.hazards, self.meets)
        return next((units[op] for units in kinds if op in units), None)

    def bypass_depth(self, op: Op) -> int:
        """Entries of the queue that goes past an operation which answers: tokens that may be inside it."""
        regions = (self.plan.top, *self.plan.loops.values())
        return next(
            level.bypass_depth for region in regions for level in region.levels for row in level.row if row.op is op
        )

    def request_port(self, region, op: Op):
        """(stream to send requests to, function from its payload to pairs (field, value))."""
        unit = self._unit(op)
        if unit is not None:
            return unit.request()
        child = region.children[op]

        def fields(payload):
            initial = [(payload.initial[f"c{k}"], op.operands[1 + k]) for k in self.travelling(child.plan)]
            return initial + [(payload.invariant[f"v{k}"], v) for k, v in enumerate(child.plan.invariants)]

        return child.header.i, fields

    def response_port(self, region, op: Op):
        """(stream of responses, function from its payload to triples (result, bits, value where it was off))."""
        unit = self._unit(op)
        if unit is not None:
            return unit.response()
        child = region.children[op]
        initial = dict(zip(op.results, op.operands[1:], strict=True))

        def fields(payload):
            return [(r, payload[f"r{k}"], initial[r]) for k, r in enumerate(child.results)]

        return child.exit.o, fields

    def response_error(self, op: Op):
        """Whether the response on offer is the memory's word that the access failed; None for what cannot fail."""
        unit = self.units[op].unit if op in self.units else None
        return getattr(unit, "error", None)

    def may_fail(self, op: Op) -> bool:
        """Whether the operation is a load inside a level of which memory says whether it has such a word."""
        return op in self.ports and op.opcode == "load" and self.ports[op].error is not None

    # --- observation and stalls ---

    def observe(self, kind: str, op: Op, signal):
        self.observations.append(Observation(kind, op, signal))

    def observe_wait(self, op: Op, signal):
        self.observe("wait", op, signal)

    def stall(self, m: Module, name: str):
        """A random bit that holds tokens back, in builds for stall tests; 0 otherwise."""
        if self.seed is None:
            return C(0)
        source = m.submodules[f"stall_{name}"] = StallSource(salt_of(name))
        m.d.comb += source.seed.eq(self.seed)
        return source.stall

    def connect(self, m: Module, source, sink, name: str):
        """Connect two streams; in builds for stall tests the transfer is held back at random."""
        if self.seed is not None:
            gate = StallGate(source.payload.shape(), salt_of(name))
            m.submodules[f"gate_{name}"] = gate
            m.d.comb += gate.seed.eq(self.seed)
            join(m, source, gate.i)
            source = gate.o
        join(m, source, sink)


def join(m: Module, source, sink):
    """Plain connection of two streams."""
    m.d.comb += [sink.valid.eq(source.valid), source.ready.eq(sink.ready), sink.payload.eq(source.payload)]
