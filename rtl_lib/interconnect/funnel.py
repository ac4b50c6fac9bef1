"""Merges the requests of many units for one bank, in round-robin order."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.contract import Timing
from rtl_lib.interconnect.arbiter import RoundRobin
from rtl_lib.mem.fifo import StreamFifo

__all__ = ["Funnel"]

#: Of the output queue: one entry that leaves, one on its way there, and one taken before either is visible.
PLACES = 3


class Funnel(wiring.Component):
    """Merges the offers of several units into one stream in round-robin order, in two pipeline stages: one cycle to
    arbitrate, one to select the payload. In a single cycle, arbitration and then a multiplexer of so many bits would be
    the longest path of an interconnect.

    Rules
    -----
    1. A unit that ``asks`` does so until it is ``taken``. Each waits for one offer of each other unit at most.
    2. In the cycle after a unit was taken its ``values`` is what was offered, whatever it asks for by then.
    3. ``o`` outputs the offers in the order in which they were taken; ``o.payload.source`` is the number of the unit.
    4. One offer is taken in each cycle in which a unit asks, as long as ``o`` is ready.

    Parameters
    ----------
    shape : of an offer
    count : units, at least 1

    Ports
    -----
    asks, taken : a bit for each unit
    values : array of ``shape``
    o : stream of ``{value, source}``; a payload appears there :attr:`timing` after it was taken
    """

    timing = Timing(latency=2)

    def __init__(self, shape: ShapeLike, count: int) -> None:
        self._offer = StructLayout({"value": shape, "source": range(count)})
        super().__init__(
            {
                "asks": In(count),
                "taken": Out(count),
                "values": In(shape).array(count),
                "o": Out(stream.Signature(self._offer)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the arbiter, the register that selects the payload a cycle later, and a FIFO of ``PLACES`` payloads."""
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobin(len(self.asks))
        m.submodules.places = places = StreamFifo(self._offer, PLACES, counted=True)
        room, chosen = Signal(), Signal.like(self.asks)
        offers = [Cat(value, C(k, self._offer["source"].width)) for k, value in enumerate(self.values)]
        m.d.comb += [
            room.eq(places.level < PLACES - 1),
            arbiter.requests.eq(self.asks),
            arbiter.take.eq(room),
            self.taken.eq(arbiter.chosen & room.replicate(len(chosen))),
            places.i.valid.eq(chosen.any()),
            Value.cast(places.i.payload).eq(self._selected(chosen, offers)),
        ]
        m.d.sync += chosen.eq(self.taken)
        connect(m, places.o, wiring.flipped(self.o))
        return m

    @staticmethod
    def _selected(chosen: Value, offers: Sequence[Value]) -> Value:
        """The offer of the chosen unit; that of a single unit needs no selection, as it counts only where it is
        valid."""
        if len(offers) == 1:
            return offers[0]
        return reduce(or_, (offer & bit.replicate(len(offer)) for bit, offer in zip(chosen, offers, strict=True)))
