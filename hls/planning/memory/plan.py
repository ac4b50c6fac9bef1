"""The frozen product of memory planning: which unit serves each access."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from rtl_lib.mem.pumped_ports import PumpedLoadPort
from rtl_lib.mem.ram_ports import ForwardingLoadPort, RamLoadPort

from ...analysis.timing import lookup_is_long
from ...diag import Code, CompileError
from ...ir import ArrayType, Attr, Function, Op, Value, location, reaches_memory, walk, word_bytes
from ...ir.accesses import lane_mask, memory_name, moved_type
from ...ir.rewrite import constant, is_constant, literal
from ...narrow import instance, present
from ...target.board import Board, Memory, Rams
from .banks import awaited, watches
from .hazards import HazardPlan, fences_under_way, plan_hazards
from .lsu import STEPPING_LATENCY, Access, LsuKind
from .onchip import OnChipMemory, plan_onchip

__all__ = ["MemoryPlan", "OnChipMemory", "SharedPort", "plan_memory"]


#: used where no device is given
USUAL_RAMS = Rams(2048, 20480)


@dataclass(frozen=True)
class SharedPort:
    """A port of on-chip memory that several accesses share: the read port of all its copies, or a write port."""

    memory: str
    reads: bool
    part: int = 0
    turn: int = 0

    def __str__(self) -> str:
        """Its name in reports."""
        if self.reads:
            return f"copies of {self.memory}"
        part = f", part {self.part}" if self.part else ""
        turn = f", turn {self.turn}" if self.turn else ""
        return f"{self.memory}{part}{turn}"


@dataclass(frozen=True, eq=False)
class MemoryPlan:
    """Every access of a kernel that is not to a register, in program order, and the memories inside the kernel by name.
    After :meth:`with_parts`, also the hazard units, and how many fences may be in flight."""

    accesses: Mapping[Op, Access] = field(default_factory=dict)
    onchip: Mapping[str, OnChipMemory] = field(default_factory=dict)
    hazards: Mapping[Op, HazardPlan] = field(default_factory=dict)
    fences_under_way: int = 0

    @property
    def outside(self) -> dict[Op, Access]:
        """The accesses to memories outside the kernel."""
        return {op: access for op, access in self.accesses.items() if access.memory not in self.onchip}

    def with_parts(self, function: Function, board: Board) -> "MemoryPlan":
        """The plan with the part of every unit and port, and all their sizes; called last."""
        long_lookup = lookup_is_long(board)

        def served(op: Op, access: Access) -> Access:
            if access.latency is None or access.unit.holds_pipeline:
                return access.with_unit(present(board.memory_named(access.location)), long_lookup)
            memory = self._memory(op)
            return access.with_port(memory.write_ports if memory else 1)

        return replace(
            self,
            accesses={op: served(op, access) for op, access in self.accesses.items()},
            hazards=plan_hazards(function, self.accesses, board.read_latency),
            fences_under_way=fences_under_way(board.read_latency),
        )

    def of(self, memory: str) -> list[Access]:
        """The accesses of one memory object."""
        return [a for a in self.accesses.values() if a.memory == memory]

    def banks(self, op: Op) -> int:
        """How many banks the memory of an access has."""
        memory = self._memory(op)
        return memory.mask(op).bit_count() if memory else 1

    def without_limits(self, names: Collection[str]) -> "MemoryPlan":
        """The plan without the program's limits on how many loads the memories of these names serve at once."""
        return replace(self, onchip={name: m.without_limits if name in names else m for name, m in self.onchip.items()})

    def _memory(self, op: Op) -> OnChipMemory | None:
        access = self.accesses.get(op)
        return self.onchip.get(access.memory) if access else None

    def shared_port(self, op: Op) -> SharedPort | None:
        """The port that the operation shares with others; it stands for those that start in the same cycle. None if the
        schedule need not consider it: the operation has a port of its own, or starts with another that stands for
        it."""
        memory = self._memory(op)
        if memory is None:
            return None
        if op in memory.banking.reads:
            return SharedPort(memory.memory.name, reads=True)
        port = memory.banking.stores.port.get(op)
        return None if port is None else SharedPort(memory.memory.name, False, port.part, port.turn)

    def port_limit(self, port: SharedPort) -> int:
        """How many accesses may start at the port in a cycle."""
        return present(self.onchip[port.memory].banking.asked.replicas) if port.reads else 1

    def crowd(self, op: Op) -> tuple[Any, ...] | None:
        """A key that is equal for accesses of a region that must be in one level, so that the schedule keeps them from
        conflicting; None for accesses without that restriction."""
        memory = self._memory(op)
        if memory is None or op.opcode == "load":
            return (memory.memory.name, "loads") if memory and memory.banking.reads else None
        part = memory.banking.part(op)
        return None if part is None else (memory.memory.name, part, op.attrs.get(Attr.PORT_GROUP))

    @property
    def together(self) -> Iterator[tuple[Op, ...]]:
        """Co-start groups: accesses that start in one cycle if they are in one level."""
        for memory in self.onchip.values():
            for group in memory.banking.together:
                yield tuple(instance(key, Op) for key in group)

    def sharers(self, op: Op) -> int:
        """How many accesses, this one included, start in one cycle with it and may use each other's banks."""
        return self._sharers.get(op, 1)

    @cached_property
    def _sharers(self) -> dict[Op, int]:
        return {op: len(group) for group in self.together for op in group}

    def forwards(self, store: Op) -> bool:
        """Whether loads may see the store before it is in the memory."""
        access = self.accesses.get(store)
        return access is not None and (access.memory in self._forwarding or store in self._watched)

    @cached_property
    def _forwarding(self) -> frozenset[str]:
        """The memories of the kernel with a load that forwards."""
        return frozenset(name for name in self.onchip for access in self.of(name) if access.forwarding)

    @cached_property
    def _watched(self) -> frozenset[Op]:
        """The stores to on-chip global memory that loads watch."""
        return frozenset(self.watched_store(op) for op, access in self.outside.items() if access.forwarding)

    def watched_store(self, load: Op) -> Op:
        """The store that a forwarding load from on-chip global memory watches."""
        return present(self._awaited_store(load))

    def _awaited_store(self, load: Op) -> Op | None:
        """The store to the load's buffer in earlier iterations that it waits for, if there is just one."""
        found = awaited(load).intersection(self._stores(self.accesses[load].memory))
        return next(iter(found)) if len(found) == 1 else None

    def _stores(self, memory: str) -> list[Op]:
        return [access.op for access in self.of(memory) if access.direction == "store"]

    def with_forwarding(self, several: bool) -> "MemoryPlan | None":
        """The plan in which loads of on-chip global memory that wait for a store of an earlier iteration watch that
        store's port, and take a cycle longer; None if there are no such loads. Each store has a port of its own, and a
        load watches one, so it waits for one in earlier iterations. Buffers with ``several`` stores count only if that
        is asked for: the others are then in the RAM before the load."""
        found = {
            op: _watching(access)
            for op, access in self.outside.items()
            if access.unit is LsuKind.RAM_PORT
            and access.direction == "load"
            and watches(op, between=False)
            and self._awaited_store(op) is not None
            and (several or len(self._stores(access.memory)) == 1)
        }
        return replace(self, accesses={**self.accesses, **found}) if found else None

    def watching_one_of_several(self) -> list[Op]:
        """The forwarding loads of buffers in on-chip global memory that have several stores."""
        loads = [op for op, access in self.outside.items() if access.forwarding]
        return [op for op in loads if len(self._stores(self.accesses[op].memory)) > 1]

    def write_turn(self, op: Op) -> int | None:
        """The turn of a cycle in which a store to on-chip memory writes; None for other operations, and for an atomic
        operation, which writes some cycles after its start."""
        memory = self._memory(op) if op.opcode == "store" else None
        return memory.turn(op) if memory else None

    def write_port(self, op: Op) -> int:
        """The number of the write port of a store or an atomic operation on on-chip memory."""
        memory = self._memory(op)
        return memory.turn(op) if memory else 0

    def write_ports(self, op: Op) -> int:
        """The number of write ports of the banks that an access to on-chip memory uses."""
        return present(self._memory(op)).write_ports

    def chosen_late(self, op: Op) -> bool:
        """Whether its result is multiplexed from several banks after its last register."""
        return self.pumped(op) and op.opcode == "load" and not self.accesses[op].forwarding

    def pumped(self, op: Op) -> bool:
        """Whether the operation is an access whose data is valid for one cycle only."""
        access = self.accesses.get(op)
        return access is not None and access.pumped

    def holds_pipeline(self, op: Op) -> bool:
        """Whether the operation is an access whose unit may hold the pipeline that it is part of."""
        access = self.accesses.get(op)
        return access is not None and access.unit.holds_pipeline

    def pieces(self, op: Op) -> int:
        """The number of pieces of a memory word that the answer of an access is chosen from behind a block RAM; 0 if
        its unit does not answer from one."""
        access = self.accesses.get(op)
        if access is None or access.lanes or not access.unit.answers_from_ram:
            return 0
        return access.word_bytes // access.bytes

    def fixed_latency(self, op: Op) -> int | None:
        """The fixed latency of the access in cycles; None if it may wait, and for operations that are no accesses."""
        access = self.accesses.get(op)
        return access.latency if access else None


def plan_memory(function: Function, memory: Memory, rams: Rams = USUAL_RAMS, clock_mhz: float = 0.0) -> MemoryPlan:
    """Choose a unit for every access of a flat kernel on a board with this default memory, these block RAMs and this
    kernel clock in MHz. Raises CompileError for an access that no unit can serve, for attributes that cannot be
    satisfied, and for a memory that does not fit into the device."""
    accesses: dict[str, list[Op]] = {}
    for op in walk(function.body):
        if reaches_memory(op):
            accesses.setdefault(memory_name(op), []).append(op)
    own = {name: ops for name, ops in accesses.items() if function.memories[name].onchip}
    onchip = plan_onchip(function, own, rams, clock_mhz) if own else {}
    planned = {}
    for name, ops in accesses.items():
        for op in ops:
            if name in onchip:
                planned[op] = _onchip_access(op, onchip[name])
            elif memory.kind == "onchip" and op.opcode == "atomic":
                raise CompileError.at(
                    op.span,
                    "atomic operations on global memory are not built for boards whose memory is on the chip",
                    "use __local memory, or a board with external memory",
                    code=Code.NOT_IN_HARDWARE,
                )
            elif op.opcode == "atomic" and _bytes(op) > word_bytes(function.memories[name], memory.word_bytes):
                raise CompileError.at(
                    op.span,
                    f"an atomic operation on {8 * _bytes(op)} bits of global memory, whose words have "
                    f"{8 * memory.word_bytes} on this board",
                    "use int or uint, __local memory, or a board with wider memory (`sluice boards`)",
                    code=Code.NOT_IN_HARDWARE,
                )
            elif memory.kind == "onchip":
                planned[op] = _ram_access(op, max(map(_bytes, ops)))
            else:
                buffer = function.memories[name]
                planned[op] = replace(
                    _burst_access(op, word_bytes(buffer, memory.word_bytes)), location=location(buffer)
                )
    in_order = {op: planned[op] for op in walk(function.body) if op in planned}
    return MemoryPlan(in_order, onchip)


def _burst_access(op: Op, word_bytes: int) -> Access:
    if op.opcode == "atomic":
        reason = (
            "a load after atomic operations uses their unit, which holds their results"
            if op.attrs[Attr.FN] == "read"
            else "one unit for all kernels, so that no access comes between its read and its write"
        )
        return Access(
            op=op,
            memory=memory_name(op),
            direction="atomic",
            bytes=_bytes(op),
            word_bytes=word_bytes,
            unit=LsuKind.ATOMIC,
            reason=reason,
            span=op.span,
        )
    kind = LsuKind.LOAD if op.opcode == "load" else LsuKind.STORE
    access = Access(
        op=op,
        memory=memory_name(op),
        direction=op.opcode,
        bytes=_bytes(op),
        word_bytes=word_bytes,
        unit=kind,
        reason="the default unit for global memory",
        span=op.span,
    )
    mask = lane_mask(op)
    if Attr.STEPPING in op.attrs and mask is None:
        return replace(
            access,
            unit=LsuKind.STEPPING_LOAD,
            reason="the next address depends on what is read: inside the loop's pipeline, requests words ahead",
            latency=STEPPING_LATENCY,
        )
    if mask is None:
        return access
    type, on = moved_type(op), _lanes_known(mask)
    used = sum(lane != 0 for lane in on) * instance(type, ArrayType).element.bytes
    return replace(access, lanes=instance(type, ArrayType).length, bytes=used, masked=not all(on))


def _lanes_known(mask: Value) -> list[int | None]:
    """For each lane whether it is used (1 or 0); None where that is only known at run time."""
    if is_constant(mask):
        return [int(instance(lane, int)) for lane in instance(literal(mask), tuple)]
    return [constant(lane) for lane in mask.defining_op.operands]


def _ram_access(op: Op, word_bytes: int) -> Access:
    """A port of its own to the buffer's RAM, whose words are as wide as the widest access to the buffer."""
    return Access(
        op=op,
        memory=memory_name(op),
        direction=op.opcode,
        bytes=_bytes(op),
        word_bytes=word_bytes,
        unit=LsuKind.RAM_PORT,
        reason="on-chip global memory: every access has its own port and is stall-free",
        span=op.span,
        latency=_ram_latency(op),
    )


def _watching(access: Access) -> Access:
    """The load of on-chip global memory with a port that forwards."""
    return replace(
        access,
        reason=f"{access.reason}; it takes what is being stored at its address from the port of the store",
        latency=ForwardingLoadPort.timing.latency,
        forwarding=True,
    )


def _onchip_access(op: Op, memory: OnChipMemory) -> Access:
    if op.opcode == "atomic":
        reason = "reads, computes and writes in a pipeline, one operation a cycle"
        return Access(
            op=op,
            memory=memory_name(op),
            direction="atomic",
            bytes=_bytes(op),
            word_bytes=memory.word_bytes,
            unit=LsuKind.BLOCK_RAM,
            reason=reason,
            span=op.span,
            latency=_onchip_latency(op, memory, True),
            pumped=memory.pumped,
        )
    if op.opcode == "load":
        reason = (
            "one copy of the memory for each load" if not memory.pumped else "a double-pumped RAM for several loads"
        )
    else:
        port = "one port" if memory.write_ports == 1 else f"port {memory.turn(op) + 1} of {memory.write_ports}"
        reason = f"{port} writes all copies"
    # with several banks, more is written per cycle than one load could watch
    forwarding = op.opcode == "load" and memory.may_watch(op) and watches(op)
    return Access(
        op=op,
        memory=memory_name(op),
        direction=op.opcode,
        bytes=_bytes(op),
        word_bytes=memory.word_bytes,
        unit=LsuKind.BLOCK_RAM,
        reason=reason,
        span=op.span,
        latency=_onchip_latency(op, memory, forwarding),
        forwarding=forwarding,
        pumped=memory.pumped,
    )


def _onchip_latency(op: Op, memory: OnChipMemory, forwarding: bool) -> int:
    if op.opcode == "store":
        return 0
    if memory.pumped:
        return PumpedLoadPort.timing_of(forwarding).latency
    return (ForwardingLoadPort if forwarding else RamLoadPort).timing.latency


def _ram_latency(op: Op) -> int:
    return RamLoadPort.timing.latency if op.opcode == "load" else 0


def _bytes(op: Op) -> int:
    return moved_type(op).bytes
