"""Matches acknowledgements to bursts of stores, and delays fences until the bursts before them are acknowledged."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.steps import count

__all__ = ["Settlement"]


class Settlement(wiring.Component):
    """A queue of the bursts and fences of a store unit that wait for the memory.

    Rules
    -----
    1. Entries leave in order of arrival: a burst when the memory has acknowledged it, a fence when ``answer`` is
       taken.
    2. So a fence is offered at ``answer`` when every burst before it is acknowledged.

    Parameters
    ----------
    outstanding : entries that may wait; stores_bits : width of the number of stores in a burst, 0 if not counted

    Ports
    -----
    i : stream of ``{fence, stores}``: a burst (0) of so many stores, or a fence (1)
    ack : the memory acknowledges the next burst; acknowledgements may come while a fence waits for its requester
    answer : stream without payload, for fences
    retired : stores of the burst that leaves in this cycle, else 0
    empty : no entry waits
    """

    def __init__(self, outstanding: int, stores_bits: int = 0) -> None:
        self.outstanding = outstanding
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"fence": 1, "stores": stores_bits}))),
                "ack": In(1),
                "answer": Out(stream.Signature(0)),
                "retired": Out(stores_bits),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a FIFO of bursts and fences, and a counter of acknowledgements that came before their turn."""
        m = Module()
        m.submodules.waiting = waiting = StreamFifo(self.i.payload.shape(), self.outstanding)
        wiring.connect(m, wiring.flipped(self.i), waiting.i)
        entry, acks, settled = waiting.o, Signal(range(self.outstanding + 1)), Signal()
        m.d.comb += [
            self.answer.valid.eq(entry.valid & entry.payload.fence),
            entry.ready.eq(Mux(entry.payload.fence, self.answer.ready, acks != 0)),
            settled.eq(entry.valid & entry.ready & ~entry.payload.fence),
            self.retired.eq(Mux(settled, entry.payload.stores, 0)),
            self.empty.eq(waiting.empty),
        ]
        count(m, acks, self.ack, settled)
        return m
