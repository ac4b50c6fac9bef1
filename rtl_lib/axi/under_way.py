"""Counts the unanswered requests of an AXI master, across a reset of the kernel."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.steps import reached

__all__ = ["UnderWay"]


class UnderWay(wiring.Component):
    """Counts bursts in flight, and tells which responses belong to requests from before a reset.

    The memory answers in order, so responses from before the reset come first: it is enough to count them. The
    counters are not reset with the domain; they start at zero when the device is configured.

    Rules
    -----
    1. ``begin`` and ``end`` each count one burst, during reset too. ``begin`` must not be high while ``full``.
    2. ``stale`` is high while the next response belongs to a request from before the last reset.

    Ports
    -----
    begin, end : a burst was requested; its response is complete
    full : ``limit`` bursts are in flight
    stale : the next response is to be dropped
    in_reset : the domain is in reset
    """

    def __init__(self, limit) -> None:
        self.limit = limit
        super().__init__({"begin": In(1), "end": In(1), "full": Out(1), "stale": Out(1), "in_reset": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build two counters that a reset does not clear: of all bursts in flight, and of those from before the
        reset."""
        m = Module()
        count = Signal(range(self.limit + 1), reset_less=True)
        old, following = Signal.like(count), Signal.like(count)  # old: those from before the last reset
        one_more = count + Cat(Const(1, 1), self.end.replicate(len(count) - 1))  # or one less: one carry chain for both
        m.d.comb += [
            self.in_reset.eq(ResetSignal("sync", allow_reset_less=True)),
            following.eq(Mux(self.begin ^ self.end, one_more, count)),
            self.full.eq(reached(count, self.limit)),
            self.stale.eq(old != 0),
        ]
        m.d.sync += count.eq(following)
        with m.If(self.in_reset):
            m.d.sync += old.eq(following)
        with m.Elif(self.stale):
            m.d.sync += old.eq(old - self.end)
        return m
