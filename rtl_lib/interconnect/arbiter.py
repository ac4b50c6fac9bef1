"""One of several, in turn."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RoundRobin", "next_in_turn"]


def next_in_turn(requests, last):
    """Golden: the first requester after ``last`` in a ring of bools, or None when there is none."""
    order = [(last + 1 + n) % len(requests) for n in range(len(requests))]
    return next((n for n in order if requests[n]), None)


class RoundRobin(wiring.Component):
    """Chooses among requesters (:func:`next_in_turn`).

    Rules
    -----
    1. ``grant`` names the first requester after the one last taken; it may change until ``take`` is high.
    2. ``any`` is high when there is a requester; ``take`` without one has no effect.
    3. A requester waits for each of the others at most once.
    """

    def __init__(self, count):
        self.count = count
        super().__init__({"requests": In(count), "take": In(1), "grant": Out(range(count)), "any": Out(1)})

    def elaborate(self, platform):
        m = Module()
        last = Signal(range(self.count), init=self.count - 1)
        m.d.comb += self.any.eq(self.requests.any())
        # Later assignments win: the lowest requester of all, then the lowest after the last one.
        for behind in (False, True):
            for n in reversed(range(self.count)):
                with m.If(self.requests[n] & (n > last if behind else True)):
                    m.d.comb += self.grant.eq(n)
        with m.If(self.take & self.any):
            m.d.sync += last.eq(self.grant)
        return m
