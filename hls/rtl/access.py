"""Loads and stores of a kernel that may wait, and the units that serve them."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from amaranth import *
from amaranth.lib import stream

from ..ir import Value as IrValue
from ..ir import fixed_operands, lane_mask
from ..ir.accesses import last_of_run
from ..narrow import present
from ..planning.memory import Access

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["AtomicAccess", "LoadAccess", "Request", "Response", "StoreAccess"]

#: the stream of a unit's requests, and a function of its payload: its fields, each with the value that it gets
Request = tuple[stream.Interface, Callable[[Any], Iterable[tuple[Value, IrValue]]]]
#: the stream of its responses, and a function of its payload: values with their bits, and what a value is if the
#: operation did not take place (None: nothing else)
Response = tuple[stream.Interface, Callable[[Any], Iterable[tuple[IrValue, Value, IrValue | None]]]]


class _Access:
    """An access, with the unit that the memory plan chose."""

    def __init__(self, context: "KernelContext", access: Access) -> None:
        self.access = access
        self.op = access.op
        self.unit = present(access.hardware).part(addr_bits=context.address_bits, **present(access.hardware).options)

    def _mask(self, payload: Any) -> list[tuple[Value, IrValue]]:
        """The field and value of the mask of a wide access; empty if it has none."""
        return [(payload.mask, present(lane_mask(self.op)))] if self.access.masked else []

    def attach(self, context: "KernelContext") -> None:
        """Put the unit into the kernel's module and name its observable signals."""
        name = context.names.op(self.op)
        context.m.submodules[f"{name}_unit"] = self.unit
        for kind in ("accepted", "stalled", "burst", "word", "error"):
            context.observations.add(kind, self.op, getattr(self.unit.observe, kind))


class LoadAccess(_Access):
    """A load and its unit: requests are addresses, responses data."""

    def request(self) -> Request:
        """The stream of requests, and a function of its payload that returns its fields, each with the value it
        takes."""
        pointer = self.op.operands[0]
        if self.access.reads_ahead:
            return self.unit.i, lambda payload: [(payload.addr, pointer), (payload.last, present(last_of_run(self.op)))]
        if not self.access.lanes:
            return self.unit.i, lambda payload: [(payload, pointer)]
        return self.unit.i, lambda payload: [(payload.addr, pointer), *self._mask(payload)]

    def response(self) -> Response:
        """The stream of responses, and a function of its payload that returns (result, bits, value
        if the load does not execute; None: 0)."""
        result = self.op.result
        return self.unit.o, lambda payload: [(result, payload[: result.type.bits], None)]


class StoreAccess(_Access):
    """A posted store and its unit."""

    def request(self) -> Request:
        """The stream of requests, and a function of its payload: address, data and, for lanes, the mask."""
        pointer, value = self.op.operands[:2]
        return self.unit.i, lambda payload: [(payload.addr, pointer), (payload.data, value), *self._mask(payload)]


class AtomicAccess(_Access):
    """An atomic operation on global memory: its requests go to the single unit that serves all kernels."""

    def request(self) -> Request:
        """The stream of requests, and a function of its payload: address and operands."""
        pointer, values = self.op.operands[0], self.op.operands[2 : fixed_operands(self.op)]
        return self.unit.i, lambda payload: [(payload.addr, pointer), *zip((payload.a, payload.b), values)]

    def response(self) -> Response:
        """The stream of responses, and a function of its payload: the value before the operation."""
        result = self.op.results[0]
        return self.unit.o, lambda payload: [(result, payload, None)]
