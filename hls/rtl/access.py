"""Loads and stores of a kernel that may wait, and the units that serve them."""

from amaranth import *

from rtl_lib.lsu.cached_load import CachedLoadUnit
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.store import StoreUnit

__all__ = ["LoadAccess", "StoreAccess"]


def _pending_words(latency: int) -> int:
    """Words under way so that one word a cycle can be kept up over the memory's latency, in whole bursts."""
    return max(32, 1 << (latency - 1).bit_length())


class _Access:
    def __init__(self, context, access):
        self.access = access
        self.op = access.op

    def attach(self, context):
        """Put the unit into the kernel's module and name what can be counted about it."""
        name = context.op_name(self.op)
        context.m.submodules[f"{name}_unit"] = self.unit
        for kind in ("accepted", "stalled", "burst", "word", "error"):
            context.observe(kind, self.op, getattr(self.unit.observe, kind))


class LoadAccess(_Access):
    """A load and its unit: requests are addresses, responses data."""

    def __init__(self, context, access):
        super().__init__(context, access)
        options = {
            "access_bytes": access.bytes, "word_bytes": access.word_bytes, "addr_bits": context.address_bits,
            "depth": context.memory_latency + 32, "pending": _pending_words(context.memory_latency),
        }
        self.unit = CachedLoadUnit(**options, words=access.cache_words) if access.cache_words else LoadUnit(**options)

    def request(self):
        return self.unit.i, lambda payload: [(payload, self.op.operands[0])]

    def response(self):
        result = self.op.result
        return self.unit.o, lambda payload: [(result, payload[: result.type.bits], None)]


class StoreAccess(_Access):
    """A posted store and its unit."""

    def __init__(self, context, access):
        super().__init__(context, access)
        self.unit = StoreUnit(
            access_bytes=access.bytes, word_bytes=access.word_bytes, addr_bits=context.address_bits,
            counted=bool(self.op.attrs.get("hazards")),
        )

    def request(self):
        pointer, value = self.op.operands[:2]
        return self.unit.i, lambda payload: [(payload.addr, pointer), (payload.data, value)]
