"""Loads inside a level whose unit holds the level while it has not got the word."""

from typing import Any

from amaranth import *

from ..narrow import present
from ..planning.memory import Access

__all__ = ["SteppingLoadAccess"]


class SteppingLoadAccess:
    """A load and its unit, which is part of the pipeline of a level: its data is valid a fixed number of stages after
    its address, and the level moves only while the unit is ready."""

    interface = None  #: no port to RAM outside of the kernel

    def __init__(self, context: Any, access: Access) -> None:
        self.access, self.op = access, access.op
        self.unit = present(access.hardware).part(addr_bits=context.address_bits, **present(access.hardware).options)

    @property
    def error(self) -> Signal:
        """Whether memory refused the word of the data that leaves the unit."""
        return self.unit.error

    def failed(self, builder: Any, stage: int) -> Value:
        """A signal that says so of the token whose address was taken in ``stage``, where its data is valid; low if the
        access was predicated off."""
        condition = builder.context.servers.condition(self.op)
        return (
            self.error
            if condition is None
            else self.error & builder.at(condition, stage + present(self.access.latency))
        )

    def attach(self, context: Any) -> None:
        """Put the unit into the kernel's module and name its observable signals."""
        context.m.submodules[f"{context.names.op(self.op)}_unit"] = self.unit
        for kind in ("accepted", "stalled", "burst", "word", "error"):
            context.observations.add(kind, self.op, getattr(self.unit.observe, kind))
        context.observations.add_wait(self.op, ~self.unit.ready)

    def place(self, context: Any, builder: Any, stage: int) -> Signal:
        """Build the load into a level, its address taken in ``stage``; returns the signal of its result."""
        condition, unit, result = context.servers.condition(self.op), self.unit, self.op.result
        on = C(1) if condition is None else builder.at(condition, stage)
        builder.m.d.comb += [
            unit.i.valid.eq(builder.valid(stage) & on),
            unit.i.addr.eq(builder.at(self.op.operands[0], stage)),
            unit.go.eq(builder.go),
        ]
        signal = Signal(context.values.width(result), name=context.names.value(result))
        data = unit.data[: len(signal)]
        if condition is not None:
            data = Mux(builder.at(condition, stage + present(self.access.latency)), data, 0)
        builder.m.d.comb += signal.eq(data)
        return signal
