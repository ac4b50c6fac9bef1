"""Work-group barrier outside of a loop: the work-items of a group wait for each other."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import Fence

__all__ = ["GroupMeeting"]

#: complete groups that may wait for the completion of their stores
MOST_WAITING = 8


@shared
class GroupMeeting(wiring.Component):
    """Releases the work-items of a group when its last one has arrived.

    Work-items arrive group by group; ``i.last`` marks the last of each. The values they carry wait elsewhere, in order.

    Rules
    -----
    1. There is one answer for each work-item, in order. It comes :attr:`timing` after the group's last work-item at the
       earliest.
    2. With ``fenced`` the group's last work-item sends a request to ``fence``; the group is released after its
       response.
    3. A work-item that is not its group's last is accepted at once. So is the last one, unless the fence does not
       accept its request, or :data:`MOST_WAITING` groups wait for their responses.

    Parameters
    ----------
    items : work-items of a group at most; room : work-items that may have arrived and not been answered
    fenced : whether the port ``fence`` exists

    Ports
    -----
    i : stream of ``{last}``; o : stream of answers, without payload
    fence : :class:`~rtl_lib.mem.ports.Fence`, from the requester's view
    """

    timing = Timing(latency=1)

    def __init__(self, items: int, room: int, fenced: bool) -> None:
        if items < 1 or room < items:
            raise ValueError(f"a group of {items!r} does not fit into {room!r}")
        self.items, self.room, self.fenced = items, room, fenced
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"last": 1}))),
                "o": Out(stream.Signature(0)),
                **({"fence": Out(Fence())} if fenced else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a counter of the work-items of the incomplete group, and one of those released and not yet answered."""
        m = Module()
        come, complete = Signal(), Signal()
        earlier, number = Signal(range(self.items)), Signal(range(self.items + 1))
        free = Signal(range(self.room + 1))  # work-items released and not yet answered
        m.d.comb += [
            come.eq(self.i.valid & self.i.ready),
            complete.eq(come & self.i.payload.last),
            number.eq(earlier + 1),
            self.o.valid.eq(free != 0),
        ]
        with m.If(come):
            m.d.sync += earlier.eq(Mux(self.i.payload.last, 0, number))
        freed = self._fenced(m, complete, number) if self.fenced else Mux(complete, number, 0)
        if not self.fenced:
            m.d.comb += self.i.ready.eq(1)
        m.d.sync += free.eq(free + freed - (self.o.valid & self.o.ready))
        return m

    def _fenced(self, m: Module, complete: Value, number: Value) -> Value:
        """Request a fence for every complete group; returns how many work-items this cycle's response releases."""
        m.submodules.waiting = waiting = StreamFifo(number.shape(), MOST_WAITING)
        asked, answer = self.fence.request, self.fence.response
        may_ask = waiting.i.ready & asked.ready
        m.d.comb += [
            self.i.ready.eq(~self.i.payload.last | may_ask),
            asked.valid.eq(self.i.valid & self.i.payload.last & waiting.i.ready),
            waiting.i.valid.eq(complete),
            waiting.i.payload.eq(number),
            waiting.o.ready.eq(answer.valid),
            answer.ready.eq(1),
        ]
        return Mux(answer.valid, waiting.o.payload, 0)
