"""Streaming store unit for runs of consecutive elements: given a run once, it generates the addresses itself."""

from typing import Any

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.observe import Observation
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.stream_load import run_layout
from rtl_lib.mem.ports import Fence, WritePort

__all__ = ["StreamStoreUnit"]


@shared
class StreamStoreUnit(wiring.Component):
    """Stores runs of consecutive elements: an address counter before a :class:`StoreUnit`.

    Rules
    -----
    1. Element n of ``i`` goes to address n of :func:`~rtl_lib.lsu.stream_load.run_addresses`. A run of no elements
       has no effect.
    2. An element is accepted only when its run has been started; a run may be started before the one before it ends,
       and then no cycle is lost between them.
    3. Otherwise as StoreUnit; runs that continue each other share words and bursts.

    Ports
    -----
    start : stream of ``{addr, count}``
    i : stream of data
    fence, idle, mem, observe : as for StoreUnit; outstanding elements of a run do not make it busy
    """

    def __init__(
        self, *, access_bytes: int, word_bytes: int, addr_bits: int = 64, count_bits: int = 32, **options: Any
    ) -> None:
        self.unit = StoreUnit(access_bytes=access_bytes, word_bytes=word_bytes, addr_bits=addr_bits, **options)
        self.access_bytes = access_bytes
        mem = self.unit.mem.signature
        super().__init__(
            {
                "start": In(stream.Signature(run_layout(addr_bits, count_bits))),
                "i": In(stream.Signature(8 * access_bytes)),
                "fence": In(Fence()),
                "idle": Out(1),
                "mem": Out(WritePort(mem.word_bytes, mem.addr_bits, mem.max_burst)),
                "observe": Out(Observation()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the address counter and the counter of elements left, before the store unit."""
        m = Module()
        m.submodules.unit = unit = self.unit
        for name in ("fence", "mem", "observe"):
            connect(m, getattr(unit, name), wiring.flipped(getattr(self, name)))
        m.d.comb += self.idle.eq(unit.idle)

        element = Signal(len(self.start.payload.addr) - exact_log2(self.access_bytes))
        left, taken = Signal.like(self.start.payload.count), Signal()
        m.d.comb += [
            unit.i.valid.eq(self.i.valid & (left != 0)),
            self.i.ready.eq(unit.i.ready & (left != 0)),
            unit.i.payload.addr.eq(element << exact_log2(self.access_bytes)),
            unit.i.payload.data.eq(self.i.payload),
            taken.eq(unit.i.valid & unit.i.ready),
            self.start.ready.eq((left == 0) | (taken & (left == 1))),
        ]
        with m.If(self.start.valid & self.start.ready):
            start = self.start.payload
            m.d.sync += [element.eq(start.addr[exact_log2(self.access_bytes) :]), left.eq(start.count)]
        with m.Elif(taken):
            m.d.sync += [element.eq(element + 1), left.eq(left - 1)]
        return m
