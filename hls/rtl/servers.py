"""The servers of variable-latency operations and on-chip memory in a kernel: units, ports, channel ends."""

from typing import TYPE_CHECKING, Any

from amaranth import Value as HardwareValue

from ..ir import Attr, Op, Value
from ..ir.accesses import PREDICATES
from .access import AtomicAccess, LoadAccess, Request, Response, StoreAccess
from .barrier import meets_of
from .channels import calls_at_once, calls_of
from .fences import fences_of
from .hazards import hazards_of
from .modules import modules_of
from .port_reservation import build_bookings
from .ram_access import RamAtomicAccess, RamLoadAccess, RamStoreAccess
from .stepping_access import SteppingLoadAccess

if TYPE_CHECKING:
    from .context import KernelContext
    from .region import RegionBuilder

__all__ = ["Servers"]

WAITING = {"load": LoadAccess, "store": StoreAccess, "atomic": AtomicAccess}
FIXED = {"load": RamLoadAccess, "store": RamStoreAccess, "atomic": RamAtomicAccess}


class Servers:
    """By operation: ``units`` of accesses that may wait and ``ports`` of those that take a fixed number of stages,
    among them the ``stepping`` ones, which may hold their level; ``reaching`` are those of both whose unit is behind
    the interconnect; calls on ``channels`` and those answered ``at_once``, ``fences``, ``hazards``, ``meets``
    (barriers), and ``modules`` of the user that wait.

    ``bookings`` has (wants to enter, may enter) of levels that reserve cycles of ports. Levels fill in ``queued``, the
    request queue of every access, ``unsent``, stores pushed but not yet accepted by their units, and ``flushes``, when
    loads must be invalidated.
    """

    def __init__(self) -> None:
        self.units: dict[Op, Any] = {}
        self.ports: dict[Op, Any] = {}
        self.stepping: dict[Op, Any] = {}
        self.reaching: dict[Op, Any] = {}
        self.channels: dict[Op, Any] = {}
        self.at_once: dict[Op, Any] = {}
        self.fences: dict[Op, Any] = {}
        self.hazards: dict[Op, Any] = {}
        self.meets: dict[Op, Any] = {}
        self.modules: dict[Op, Any] = {}
        self.bookings: dict = {}
        self.queued: dict = {}
        self.unsent: list = []
        self.flushes: dict = {}

    def build(self, context: "KernelContext") -> None:
        """Make the units of the kernel. Units that watch accesses find the accesses' units in ``context``."""
        accesses = context.memory.accesses.items()
        self.units = {op: WAITING[a.direction](context, a) for op, a in accesses if a.latency is None}
        self.stepping = {op: SteppingLoadAccess(context, a) for op, a in accesses if a.unit.holds_pipeline}
        fixed = {op: a for op, a in accesses if a.latency is not None and op not in self.stepping}
        self.ports = {op: FIXED[a.direction](context, a) for op, a in fixed.items()} | self.stepping
        reaching = self.units | self.stepping
        self.reaching = {op: reaching[op] for op, _ in accesses if op in reaching}
        self.channels = calls_of(context)
        self.at_once = calls_at_once(context)
        self.fences = fences_of(context)
        self.hazards = hazards_of(context)
        self.meets = meets_of(context)
        self.modules = modules_of(context.function)
        self.bookings = build_bookings(context)

    @property
    def all_fences(self) -> dict[Op, Any]:
        """The fences of the program, and those of its barriers."""
        return self.fences | {op: meet.fence for op, meet in self.meets.items() if meet.fence is not None}

    def is_waited_for(self, op: Op) -> bool:
        """Whether it is a store that a fence waits for, so that those in its queue must be counted."""
        return any(store.op is op for fence in self.all_fences.values() for store in fence.stores)

    def condition(self, op: Op) -> Value | None:
        """The predicate of a variable-latency operation; None if it is unconditional."""
        if op.opcode not in PREDICATES or op in self.channels and self.channels[op].in_turn:
            return None
        predicate = op.operands[PREDICATES[op.opcode]]
        if predicate.op is not None and predicate.op.opcode == "const" and predicate.op.attrs[Attr.VALUE]:
            return None
        return predicate

    def _unit(self, op: Op):
        """The server of a variable-latency operation other than a loop."""
        kinds = (self.units, self.channels, self.fences, self.hazards, self.meets, self.modules)
        return next((units[op] for units in kinds if op in units), None)

    def request_port(self, region: "RegionBuilder", op: Op) -> Request:
        """(stream to send requests to, function from its payload to pairs (field, value))."""
        unit = self._unit(op)
        if unit is not None:
            return unit.request()
        child = region.children[op]
        travelling = region.context.loops.travelling(child.plan)

        def fields(payload):
            initial = [(payload.initial[f"c{k}"], op.operands[1 + k]) for k in travelling]
            return initial + [(payload.invariant[f"v{k}"], v) for k, v in enumerate(child.plan.invariants)]

        return child.header.i, fields

    def response_port(self, region: "RegionBuilder", op: Op) -> Response:
        """(stream of responses, function from its payload to triples (result, bits, value if the operation was
        predicated off))."""
        unit = self._unit(op)
        if unit is not None:
            return unit.response()
        child = region.children[op]
        initial = dict(zip(op.results, op.operands[1:], strict=True))

        def fields(payload):
            return [(r, payload[f"r{k}"], initial[r]) for k, r in enumerate(child.results)]

        return child.exit.o, fields

    def response_error(self, op: Op) -> HardwareValue | None:
        """Whether the current response says that memory refused the access; None for operations that cannot fail."""
        unit = self.units[op].unit if op in self.units else None
        return getattr(unit, "error", None)

    def may_fail(self, op: Op) -> bool:
        """Whether the operation is a load inside a level whose memory reports addresses without a word."""
        return op in self.ports and op.opcode == "load" and self.ports[op].error is not None

    def may_be_refused(self, load: Op) -> bool:
        """Whether the memory of the load reports addresses without a word."""
        return self.response_error(load) is not None or self.may_fail(load)
