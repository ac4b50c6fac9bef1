"""Atomic operations on external memory, from the requesters' view."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.library import shared
from rtl_lib.lsu.atomic_functions import FUNCTIONS
from rtl_lib.lsu.atomic_words import LANE
from rtl_lib.lsu.observe import Observation
from rtl_lib.mem.ports import Fence

__all__ = ["ANSWERS", "AtomicPort", "AtomicUnit", "atomic_request", "atomic_response"]

#: operations of one requester that may be in flight, and responses that it has room for
ANSWERS = 32


def atomic_request(addr_bits: int) -> data.StructLayout:
    """A request: byte address, function (an index of FUNCTIONS), whether it is of 8 bytes rather than 4, operands."""
    return data.StructLayout(
        {"addr": addr_bits, "function": range(len(FUNCTIONS)), "wide": 1, "a": 8 * LANE, "b": 8 * LANE}
    )


def atomic_response() -> data.StructLayout:
    """The value before the operation, and whether memory refused to read it."""
    return data.StructLayout({"data": 8 * LANE, "error": 1})


class AtomicPort(wiring.Signature):
    """Between one requester and the unit that serves all, from the requester's view.

    request, response : one response for each request, in order
    fence : answered when the effect of all earlier requests is in memory
    flush : memory may hold newer data than the unit
    idle : nothing this requester has changed waits to be written
    failed : strobe: memory refused a write
    fetched, dirtied : strobes, for counters: a word was read from memory for an operation; an operation has changed a
        word that memory has, which will be written once
    """

    def __init__(self, addr_bits: int) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(atomic_request(addr_bits))),
                "response": In(stream.Signature(atomic_response())),
                "fence": Out(Fence()),
                "flush": Out(1),
                "idle": In(1),
                "failed": In(1),
                "fetched": In(1),
                "dirtied": In(1),
            }
        )


@shared
class AtomicUnit(wiring.Component):
    """One atomic operation of a kernel: the port of its requests to the unit that serves all.

    Ports
    -----
    i, o : streams of ``{addr, a, b}`` and of the value before the operation
    error : memory answered the access on offer at ``o`` with an error
    fence, flush, idle : as of a store and a load unit
    mem : :class:`AtomicPort`; observe : :class:`Observation`
    """

    def __init__(self, *, function: str, access_bytes: int, addr_bits: int) -> None:
        if access_bytes not in (4, 8):
            raise ValueError(f"an atomic operation moves 4 or 8 bytes, not {access_bytes!r}")
        self.function, self.access_bytes = FUNCTIONS.index(function), access_bytes
        operand = 8 * access_bytes
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"addr": addr_bits, "a": operand, "b": operand}))),
                "o": Out(stream.Signature(operand)),
                "error": Out(1),
                "flush": In(1),
                "idle": Out(1),
                "fence": In(Fence()),
                "mem": Out(AtomicPort(addr_bits)),
                "observe": Out(Observation()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the connection to the unit that serves all, and a counter that limits the requests to ``ANSWERS``."""
        m = Module()
        request, response = self.mem.request, self.mem.response
        under_way = Signal(range(ANSWERS + 1))
        taken, answered = request.valid & request.ready, response.valid & response.ready
        m.d.comb += [
            request.valid.eq(self.i.valid),
            self.i.ready.eq(request.ready),
            request.payload.addr.eq(self.i.payload.addr),
            request.payload.a.eq(self.i.payload.a),
            request.payload.b.eq(self.i.payload.b),
            request.payload.function.eq(self.function),
            request.payload.wide.eq(self.access_bytes == LANE),
            self.o.valid.eq(response.valid),
            response.ready.eq(self.o.ready),
            self.o.payload.eq(response.payload.data),
            self.error.eq(response.payload.error),
            self.mem.flush.eq(self.flush),
            self.idle.eq(self.mem.idle & (under_way == 0)),
            self.observe.accepted.eq(taken),
            self.observe.stalled.eq(self.i.valid & ~self.i.ready),
            self.observe.word.eq(self.mem.fetched),
            self.observe.burst.eq(self.mem.dirtied),
            self.observe.error.eq(self.mem.failed),
        ]
        m.d.sync += under_way.eq(under_way + taken - answered)
        connect(m, wiring.flipped(self.fence), wiring.flipped(self.mem.fence))
        return m
