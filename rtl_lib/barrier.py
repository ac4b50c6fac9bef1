"""Where the work-items of a group wait for each other."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import Fence

__all__ = ["GroupMeeting"]

#: groups that are complete and wait for their stores
MOST_WAITING = 8


@shared
class GroupMeeting(wiring.Component):
    """Answers the work-items of a group when the last of them has come.

    Work-items come group by group; ``i.last`` marks the last of each. What they carry waits elsewhere, in order.

    Rules
    -----
    1. There is one answer for each work-item, in order. It comes :attr:`timing` after the group's last work-item at the
       earliest.
    2. With ``fenced`` the group's last work-item asks ``fence``; the group is answered after its response.
    3. A work-item that is not its group's last is taken at once. The last one is, too, but where the fence does not
       take its question, or :data:`MOST_WAITING` groups wait for theirs.

    Parameters
    ----------
    items : work-items of a group at most; room : work-items that may have come and not been answered
    fenced : whether ``fence`` is there

    Ports
    -----
    i : stream of ``{last}``; o : stream of answers, without payload
    fence : :class:`~rtl_lib.mem.ports.Fence`, as an asker sees it
    """

    timing = Timing(latency=1)

    def __init__(self, items, room, fenced):
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

    def elaborate(self, platform):
        m = Module()
        come, complete = Signal(), Signal()
        earlier, number = Signal(range(self.items)), Signal(range(self.items + 1))
        free = Signal(range(self.room + 1))  # may go on and have not
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

    def _fenced(self, m, complete, number):
        """Ask for every complete group; returns how many work-items the answer of this cycle frees."""
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
