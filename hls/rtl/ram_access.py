"""Loads and stores of on-chip memory: operations inside a level, each with a RAM port of its own."""

from typing import TYPE_CHECKING

from amaranth import *

from rtl_lib.lsu.atomic_functions import atomic_result
from rtl_lib.mem.ram_ports import RamStorePort

from ..ir import Attr, fixed_operands
from ..narrow import present
from ..planning.memory import Access
from .interface import RamPort

if TYPE_CHECKING:
    from .context import KernelContext
    from .level import LevelBuilder

__all__ = ["RamAtomicAccess", "RamLoadAccess", "RamStoreAccess"]


class _RamAccess:
    """An access that never waits. ``ram`` is the memory's side of its port; ``interface`` describes the port to the
    outside if the memory is outside of the kernel."""

    def __init__(self, context: "KernelContext", access: Access) -> None:
        self.access, self.op = access, access.op
        reads = access.direction != "store"
        faults = {"faults": True} if reads and context.ram_faults and access.memory not in context.memory.onchip else {}
        self.refused = Signal(name="refused") if faults else None  #: from memory: no such word exists
        self.unit = present(access.hardware).part(
            addr_bits=context.address_bits, **present(access.hardware).options, **faults
        )

    def attach(self, context: "KernelContext") -> None:
        """Put the port into the kernel's module and name its observable signals."""
        name = context.names.op(self.op)
        context.m.submodules[f"{name}_port"] = self.unit
        self.interface = None
        context.observations.add("accepted", self.op, self.unit.i.valid)
        if self.access.memory in context.memory.onchip:
            return
        self.interface = RamPort(
            f"ram_{context.unit_name}_{name}",
            context.function.attrs.get(Attr.PART_OF, context.function.name),
            self.access.memory,
            self.access.direction,
            self.access.word_bytes,
            len(self.ram.addr),
        )
        context.observations.add("word", self.op, self.unit.i.valid)
        if self.refused is not None:
            context.m.d.comb += self.unit.refused.eq(self.refused)
        for kind in ("stalled", "burst", "error"):
            context.observations.add(kind, self.op, C(0))

    @property
    def ram(self):
        return self.unit.ram

    @property
    def error(self):
        """Whether the data that leaves the port is invalid because no such word exists; None where this is not
        reported."""
        return self.unit.error if self.refused is not None else None

    def failed(self, builder: "LevelBuilder", stage):
        """A signal that says so of the token ``latency`` stages after ``stage``, in which the address was taken; low if
        the access was predicated off."""
        condition = builder.context.servers.condition(self.op)
        return (
            self.error
            if condition is None
            else self.error & builder.at(condition, stage + present(self.access.latency))
        )

    def _issue(self, context: "KernelContext", builder: "LevelBuilder", stage):
        """Drive ``valid`` from the tokens of a stage; returns the operation's predicate, or None if it is
        unconditional."""
        condition = context.servers.condition(self.op)
        valid = builder.valid(stage)
        builder.m.d.comb += self.unit.i.valid.eq(valid if condition is None else valid & builder.at(condition, stage))
        return condition


class RamLoadAccess(_RamAccess):
    """A load: its data is valid a fixed number of stages after its address."""

    def place(self, context: "KernelContext", builder: "LevelBuilder", stage: int) -> Signal:
        """Build the load into a level, its address taken in ``stage``; returns the signal of its result."""
        condition = self._issue(context, builder, stage)
        unit, result = self.unit, self.op.result
        builder.m.d.comb += [unit.i.payload.eq(builder.at(self.op.operands[0], stage)), unit.o.ready.eq(builder.go)]
        signal = Signal(context.values.width(result), name=context.names.value(result))
        data = unit.o.payload[: len(signal)]
        if condition is not None:
            data = Mux(builder.at(condition, stage + present(self.access.latency)), data, 0)
        builder.m.d.comb += signal.eq(data)
        return signal


class RamStoreAccess(_RamAccess):
    """A store: it is in memory when its token enters the next stage."""

    def place(self, context: "KernelContext", builder: "LevelBuilder", stage: int) -> None:
        """Build the store into a level, address and data taken in ``stage``."""
        condition = self._issue(context, builder, stage)
        made = C(1) if condition is None else builder.at(condition, stage)
        for hazard in context.servers.hazards.values():
            hazard.tell(builder, self.op, stage, made)
        pointer, value = self.op.operands[:2]
        builder.m.d.comb += [
            self.unit.i.payload.addr.eq(builder.at(pointer, stage)),
            self.unit.i.payload.data.eq(builder.at(value, stage)),
        ]


class RamAtomicAccess(_RamAccess):
    """An atomic operation on a memory of the kernel: a load that watches what is being stored, and a store in the cycle
    in which its data is valid. One may follow the other in every cycle, also at the same address."""

    def __init__(self, context: "KernelContext", access: Access) -> None:
        super().__init__(context, access)
        self.store = RamStorePort(
            access_bytes=access.bytes, word_bytes=access.word_bytes, addr_bits=context.address_bits
        )

    def attach(self, context: "KernelContext") -> None:
        """Put load and store port into the kernel's module."""
        super().attach(context)
        context.m.submodules[f"{context.names.op(self.op)}_store"] = self.store

    def place(self, context: "KernelContext", builder: "LevelBuilder", stage: int) -> Signal:
        """Build the operation into a level, its address taken in ``stage``; returns the signal of the old value."""
        condition, done = self._issue(context, builder, stage), stage + present(self.access.latency)
        pointer, operands = self.op.operands[0], self.op.operands[2 : fixed_operands(self.op)]
        old = Signal(self.op.results[0].type.bits, name=context.names.value(self.op.results[0]))
        on = C(1) if condition is None else builder.at(condition, done)
        payload = self.store.i.payload
        builder.m.d.comb += [
            self.unit.i.payload.eq(builder.at(pointer, stage)),
            self.unit.o.ready.eq(builder.go),
            old.eq(Mux(on, self.unit.o.payload, 0)),
            self.store.i.valid.eq(builder.valid(done) & on),
            payload.addr.eq(builder.at(pointer, done)),
            payload.data.eq(
                atomic_result(self.op.attrs[Attr.FN], self.unit.o.payload, [builder.at(v, done) for v in operands])
            ),
        ]
        return old
