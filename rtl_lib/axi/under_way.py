"""What an AXI master has asked for and not yet been answered, remembered across a reset of the kernel."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["UnderWay"]


class UnderWay(wiring.Component):
    """Counts bursts under way, and tells which answers belong to requests from before a reset.

    The memory answers in order, so these come first: it is enough to count them. The counters are not reset with
    the domain; they start at zero with the configuration of the device.

    Rules
    -----
    1. ``begin`` and ``end`` each count one burst, during reset too. ``begin`` is not given while ``full``.
    2. ``stale`` is high while the answer that comes next was asked for before the last reset.

    Ports
    -----
    begin, end : a burst was asked for, was answered completely
    full : ``limit`` bursts are under way
    stale : the next answer is to be dropped
    in_reset : the domain is in reset
    """

    def __init__(self, limit):
        self.limit = limit
        super().__init__({"begin": In(1), "end": In(1), "full": Out(1), "stale": Out(1), "in_reset": Out(1)})

    def elaborate(self, platform):
        m = Module()
        count = Signal(range(self.limit + 1), reset_less=True)
        old, following = Signal.like(count), Signal.like(count)  # old: those from before the last reset
        m.d.comb += [
            self.in_reset.eq(ResetSignal("sync", allow_reset_less=True)),
            following.eq(count + self.begin - self.end),
            self.full.eq(count == self.limit),
            self.stale.eq(old != 0),
        ]
        m.d.sync += count.eq(following)
        with m.If(self.in_reset):
            m.d.sync += old.eq(following)
        with m.Elif(self.stale):
            m.d.sync += old.eq(old - self.end)
        return m
