"""What many units want of one bank, in turn."""

from functools import reduce
from operator import or_

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.contract import Timing
from rtl_lib.interconnect.arbiter import RoundRobin
from rtl_lib.mem.fifo import StreamFifo

__all__ = ["Funnel"]

#: Of the queue at the end: one that leaves, one on its way there, and one that was taken before either is seen.
PLACES = 3


class Funnel(wiring.Component):
    """Merges the offers of several units into one stream, in turn, in two steps: a cycle to choose, a cycle to fetch
    what was chosen. In one cycle, the choice and then a selection of so many bits would be the longest path of an
    interconnect.

    Rules
    -----
    1. Who ``asks`` does so until it is ``taken``. Each waits for one offer of each other at most.
    2. In the cycle after one was taken its ``values`` is what was offered, whatever it asks for by then.
    3. ``o`` gives what was taken, in that order; ``o.payload.source`` says of whom.
    4. One is taken in each cycle in which somebody asks, as long as ``o`` is ready.

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

    def __init__(self, shape, count):
        self._offer = StructLayout({"value": shape, "source": range(count)})
        super().__init__(
            {
                "asks": In(count),
                "taken": Out(count),
                "values": In(shape).array(count),
                "o": Out(stream.Signature(self._offer)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobin(len(self.asks))
        m.submodules.places = places = StreamFifo(self._offer, PLACES)
        room, chosen = Signal(), Signal.like(self.asks)
        offers = [Cat(value, C(k, self._offer["source"].width)) for k, value in enumerate(self.values)]
        m.d.comb += [
            room.eq(places.level < PLACES - 1),
            arbiter.requests.eq(self.asks),
            arbiter.take.eq(room),
            self.taken.eq(arbiter.chosen & room.replicate(len(chosen))),
            places.i.valid.eq(chosen.any()),
            Value.cast(places.i.payload).eq(
                reduce(or_, (offer & bit.replicate(len(offer)) for bit, offer in zip(chosen, offers, strict=True)))
            ),
        ]
        m.d.sync += chosen.eq(self.taken)
        connect(m, places.o, wiring.flipped(self.o))
        return m
