"""Loads and stores of a kernel that may wait, and the units that serve them."""

from amaranth import *

from rtl_lib.lsu.atomic import AtomicUnit
from rtl_lib.lsu.cached_load import CachedLoadUnit
from rtl_lib.lsu.constant import ConstantLoadUnit
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.pipelined import PipelinedLoadUnit, PipelinedStoreUnit
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.wide_load import WideLoadUnit
from rtl_lib.lsu.wide_store import WideStoreUnit

from ..ir import Attr, fixed_operands, lane_mask, moved_type
from ..ir.accesses import CONSTANT, PIPELINED, last_of_run
from ..target.board import Memory

__all__ = ["AtomicAccess", "LoadAccess", "StoreAccess"]

#: bytes within which the units' bursts lie where nothing else is said
BURST_ALIGN = 1024


def _within_bank(memory: Memory) -> dict[str, int]:
    """What keeps a unit's bursts within the pieces of a memory that lie in one bank: the option of units that make
    them."""
    return {"burst_align": memory.interleave_bytes} if memory.interleave_bytes < BURST_ALIGN else {}


def _pending_words(latency: int) -> int:
    """Words under way so that one word a cycle can be kept up over the memory's latency, in whole bursts."""
    return max(32, 2 << (latency - 1).bit_length())


class _Access:
    def __init__(self, context, access):
        self.access = access
        self.op = access.op
        self.memory = context.memories[access.location]
        self.geometry = {"word_bytes": access.word_bytes, "addr_bits": context.address_bits}
        if access.lanes:
            lane_bytes = moved_type(self.op).element.bytes
            self.geometry |= {"lanes": access.lanes, "lane_bytes": lane_bytes, "masked": access.masked}
        else:
            self.geometry["access_bytes"] = access.bytes

    def _mask(self, payload):
        """The field and the value of the mask of a wide access that has one."""
        return [(payload.mask, lane_mask(self.op))] if self.access.masked else []

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
        if access.unit == PIPELINED:
            self.unit = PipelinedLoadUnit(**self.geometry)
            return
        latency = self.memory.read_latency
        depth = 2 * latency + 32  # accesses on their way
        if access.unit == CONSTANT:
            self.unit = ConstantLoadUnit(access_bytes=access.bytes, addr_bits=context.address_bits, depth=depth)
            return
        options = self.geometry | {"depth": depth, "pending": _pending_words(latency), **_within_bank(self.memory)}
        if access.cache_words:  # of which those for words on their way keep nothing
            options["words"] = max(access.cache_words, 2 * options["pending"])
        if access.reads_ahead:
            options["reads_ahead"] = True
        kind = WideLoadUnit if access.lanes else CachedLoadUnit if access.cache_words else LoadUnit
        self.unit = kind(**options)

    def request(self):
        pointer = self.op.operands[0]
        if self.access.reads_ahead:
            return self.unit.i, lambda payload: [(payload.addr, pointer), (payload.last, last_of_run(self.op))]
        if not self.access.lanes:
            return self.unit.i, lambda payload: [(payload, pointer)]
        return self.unit.i, lambda payload: [(payload.addr, pointer), *self._mask(payload)]

    def response(self):
        result = self.op.result
        return self.unit.o, lambda payload: [(result, payload[: result.type.bits], None)]


#: cycles that a store unit waits for a store that shares its word or burst, while the kernel runs: such as one behind
#: an inner loop
PATIENCE = 256


class StoreAccess(_Access):
    """A posted store and its unit."""

    def __init__(self, context, access):
        super().__init__(context, access)
        if access.unit == PIPELINED:
            self.unit = PipelinedStoreUnit(**self.geometry)
            return
        options = self.geometry | _within_bank(self.memory)
        if not self.op.attrs.get(Attr.HAZARDS):  # where loads are compared with stores, each should be in memory soon
            options["patience"] = PATIENCE
        if access.scattered:  # as many bursts on their way as others have words
            options["outstanding"] = _pending_words(self.memory.read_latency)
        if access.lanes:
            self.unit = WideStoreUnit(**options, descending=access.descending)
        else:
            self.unit = StoreUnit(**options, counted=bool(self.op.attrs.get(Attr.HAZARDS)))

    def request(self):
        pointer, value = self.op.operands[:2]
        return self.unit.i, lambda payload: [(payload.addr, pointer), (payload.data, value), *self._mask(payload)]


class AtomicAccess(_Access):
    """An atomic operation on global memory: its requests go to the one unit that serves all kernels."""

    def __init__(self, context, access):
        super().__init__(context, access)
        self.unit = AtomicUnit(
            function=self.op.attrs[Attr.FN], access_bytes=access.bytes, addr_bits=context.address_bits
        )

    def request(self):
        pointer, values = self.op.operands[0], self.op.operands[2 : fixed_operands(self.op)]
        return self.unit.i, lambda payload: [(payload.addr, pointer), *zip((payload.a, payload.b), values)]

    def response(self):
        result = self.op.results[0]
        return self.unit.o, lambda payload: [(result, payload, None)]
