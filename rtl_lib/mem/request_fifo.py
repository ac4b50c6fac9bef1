"""A FIFO of requests to memory, which keeps the number of a burst's first word instead of its address."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import aligned_burst_layout, burst_layout, byte_address, without_zeros

__all__ = ["RequestFifo"]


class RequestFifo(wiring.Component):
    """A :class:`~rtl_lib.mem.fifo.StreamFifo` of requests, whose rules it has. Synthesis cannot see through a memory
    that the bits of an address within its word are 0.

    Parameters
    ----------
    word_bytes, addr_bits, max_burst : of the port, as for :class:`~rtl_lib.mem.ports.ReadPort`
    depth : number of requests it holds

    Ports
    -----
    i, o : streams of :func:`~rtl_lib.mem.ports.burst_layout`; addresses are aligned to words
    """

    def __init__(self, word_bytes: int, addr_bits: int, max_burst: int, depth: int = 2) -> None:
        self.word_bytes, self.depth = word_bytes, depth
        self._stored = aligned_burst_layout(word_bytes, addr_bits, max_burst)
        request = stream.Signature(burst_layout(addr_bits, max_burst))
        super().__init__({"i": In(request), "o": Out(request)})

    def elaborate(self, platform: object) -> Module:
        """Build the FIFO; the lowest bits of the addresses that leave are 0."""
        m = Module()
        m.submodules.fifo = fifo = StreamFifo(self._stored, self.depth)
        m.d.comb += [
            *(fifo.i.valid.eq(self.i.valid), self.i.ready.eq(fifo.i.ready)),
            fifo.i.payload.eq(without_zeros(self.i.payload, self.word_bytes)),
            *(self.o.valid.eq(fifo.o.valid), fifo.o.ready.eq(self.o.ready)),
            self.o.payload.addr.eq(byte_address(fifo.o.payload, self.word_bytes)),
            self.o.payload.words.eq(fifo.o.payload.words),
        ]
        return m
