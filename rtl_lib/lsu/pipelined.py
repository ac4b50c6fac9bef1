"""Small load and store units without bursts or buffered words, for infrequent accesses."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.load import load_ports
from rtl_lib.lsu.observe import Observation, observe_reads, observe_writes
from rtl_lib.lsu.word_assembler import cut
from rtl_lib.lsu.write_acknowledge import Settlement
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import Fence, ReadPort, WritePort, require_power_of_two, store_layout
from rtl_lib.steps import reached

__all__ = ["PipelinedLoadUnit", "PipelinedStoreUnit"]


@shared
class PipelinedLoadUnit(wiring.Component):
    """Pipelined load: every access is a request for one word, sent as it arrives.

    Only the requested bytes of a word are stored, so the unit needs no wide memory.

    Rules
    -----
    1. Data leaves in the order of the addresses, one for each: :func:`~rtl_lib.lsu.load.load` gives the values.
    2. Every access fetches its word anew; no word is kept, so ``flush`` has no effect.
    3. Space for the data is reserved before a request is sent, so responses are never refused.
    4. One access is accepted every cycle as long as the memory takes requests and fewer than ``depth`` are in flight.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    access_bytes, word_bytes : bytes, powers of two, the first no larger
    addr_bits : width of byte addresses; max_burst : of the port, in words
    depth : accesses in flight

    Ports
    -----
    As for :class:`~rtl_lib.lsu.load.LoadUnit`.
    """

    def __init__(
        self, *, access_bytes: int, word_bytes: int, addr_bits: int = 64, max_burst: int = 16, depth: int = 16
    ) -> None:
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        self.access_bytes, self.word_bytes, self.depth = access_bytes, word_bytes, depth
        super().__init__(load_ports(access_bytes, addr_bits, ReadPort(word_bytes, addr_bits, max_burst)))

    def elaborate(self, platform: object) -> Module:
        """Build a FIFO of offsets of the words requested, the cut of the bytes out of each word, and a FIFO of
        these."""
        m = Module()
        word_shift, low = exact_log2(self.word_bytes), exact_log2(self.access_bytes)
        request, response = self.mem.request, self.mem.response
        piece = data.StructLayout({"data": 8 * self.access_bytes, "error": 1})
        m.submodules.offsets = offsets = StreamFifo(word_shift - low, self.depth)
        m.submodules.pieces = pieces = StreamFifo(piece, self.depth)
        inside = Signal(range(self.depth + 1))  # accesses accepted and not yet answered
        taken, room = self.i.valid & self.i.ready, ~reached(inside, self.depth)
        m.d.comb += [
            request.valid.eq(self.i.valid & room),
            request.payload.addr.eq(self.i.payload[word_shift:] << word_shift),
            request.payload.words.eq(1),
            self.i.ready.eq(request.ready & room),
            offsets.i.valid.eq(taken),
            offsets.i.payload.eq(self.i.payload[low:word_shift]),
            response.ready.eq(1),
            offsets.o.ready.eq(response.valid),
            pieces.i.valid.eq(response.valid),
            pieces.i.payload.error.eq(response.payload.error),
            self.o.valid.eq(pieces.o.valid),
            self.o.payload.eq(pieces.o.payload.data),
            self.error.eq(pieces.o.payload.error),
            pieces.o.ready.eq(self.o.ready),
        ]
        cut(m, pieces.i.payload.data, response.payload.data, offsets.o.payload)
        m.d.sync += inside.eq(inside + taken - (self.o.valid & self.o.ready))
        observe_reads(m, self)
        return m


@shared
class PipelinedStoreUnit(wiring.Component):
    """Pipelined store: every access is a burst of one word, sent as it arrives.

    Rules
    -----
    1. The final contents of memory are those of executing the stores one after the other
       (:func:`~rtl_lib.lsu.store.store`).
    2. A store is held until the memory has accepted its request, and then its word; only then the next is accepted.
    3. A fence is answered when every store accepted before it is acknowledged by the memory; fences are answered in
       order, and many may be in flight. While one is offered no store is accepted.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    access_bytes, word_bytes, addr_bits, max_burst : as for :class:`PipelinedLoadUnit`
    outstanding : stores and fences that may wait for the memory

    Ports
    -----
    i, fence, idle, mem, observe : as for :class:`~rtl_lib.lsu.store.StoreUnit`
    """

    def __init__(
        self, *, access_bytes: int, word_bytes: int, addr_bits: int = 64, max_burst: int = 16, outstanding: int = 16
    ) -> None:
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        self.access_bytes, self.word_bytes, self.outstanding = access_bytes, word_bytes, outstanding
        super().__init__(
            {
                "i": In(stream.Signature(store_layout(addr_bits, access_bytes))),
                "fence": In(Fence()),
                "idle": Out(1),
                "mem": Out(WritePort(word_bytes, addr_bits, max_burst)),
                "observe": Out(Observation()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a register of one store, and the queue of the stores that memory has not acknowledged."""
        m = Module()
        m.submodules.settlement = settlement = Settlement(self.outstanding)
        request, word, fence = self.mem.request, self.mem.data, self.fence.request
        held, sent, store = Signal(), Signal(), Signal.like(self.i.payload)  # sent: the request of the store held
        asks, word_shift, low = held & ~sent, exact_log2(self.word_bytes), exact_log2(self.access_bytes)
        pieces = self.word_bytes // self.access_bytes
        strobes = (1 << store.addr[low:word_shift])[:pieces]
        connect(m, settlement.answer, wiring.flipped(self.fence.response))
        m.d.comb += [
            self.i.ready.eq(~held & ~fence.valid),
            request.valid.eq(asks & settlement.i.ready),
            request.payload.addr.eq(store.addr[word_shift:] << word_shift),
            request.payload.words.eq(1),
            word.valid.eq(held),
            word.payload.data.eq(store.data.replicate(pieces)),
            word.payload.strobe.eq(Cat(bit.replicate(self.access_bytes) for bit in strobes)),
            settlement.i.valid.eq(Mux(held, asks & request.ready, fence.valid)),
            settlement.i.payload.fence.eq(~held),
            fence.ready.eq(~held & settlement.i.ready),
            settlement.ack.eq(self.mem.ack.valid),
            self.mem.ack.ready.eq(1),
            self.idle.eq(~held & settlement.empty),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [held.eq(1), store.eq(self.i.payload)]
        with m.If(request.valid & request.ready):
            m.d.sync += sent.eq(1)
        with m.If(word.valid & word.ready):
            m.d.sync += [held.eq(0), sent.eq(0)]
        observe_writes(m, self)
        return m
