"""Counts the unanswered requests of an AXI master, across a reset of the kernel."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.steps import count, reached

__all__ = ["UnderWay"]


class UnderWay(wiring.Component):
    """Counts bursts in flight, and tells which responses belong to requests from before a reset.

    No burst is requested after a reset until all those from before it have been answered: so a flag tells their
    responses, and they need not be counted apart. Neither is reset with the domain; they start at zero when the device
    is configured.

    Rules
    -----
    1. ``begin`` and ``end`` each count one burst; ``end`` during reset too. ``begin`` must not be high while ``full``
       or in reset.
    2. ``stale`` is high while a request from before the last reset is not answered, and at most one cycle longer; it
       makes ``full``.

    Ports
    -----
    begin, end : a burst was requested; its response is complete
    full : no burst may be requested: ``limit`` of them are in flight, or some from before the last reset
    stale : the next response is to be dropped
    in_reset : the domain is in reset
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__({"begin": In(1), "end": In(1), "full": Out(1), "stale": Out(1), "in_reset": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build a counter that a reset does not clear, and a flag that is set from a reset until no burst is in
        flight."""
        m = Module()
        bursts = Signal(range(self.limit + 1), reset_less=True)
        left = Signal(reset_less=True)  # bursts from before the last reset may be in flight
        m.d.comb += [
            self.in_reset.eq(ResetSignal("sync", allow_reset_less=True)),
            self.full.eq(reached(bursts, self.limit) | left),
            self.stale.eq(left),
        ]
        count(m, bursts, self.begin, self.end)
        m.d.sync += left.eq((left | self.in_reset) & (bursts != 0))
        return m
