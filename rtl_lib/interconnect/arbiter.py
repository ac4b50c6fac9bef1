"""Round-robin arbiter."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RoundRobin", "next_in_turn"]


def next_in_turn(requests: Sequence[bool], last: int) -> int | None:
    """Golden: the first requester after ``last``, cyclically, in a list of bools; None if there is none."""
    order = [(last + 1 + n) % len(requests) for n in range(len(requests))]
    return next((n for n in order if requests[n]), None)


class RoundRobin(wiring.Component):
    """Selects one of several requesters (:func:`next_in_turn`).

    Rules
    -----
    1. ``grant`` names the first requester after the one last taken; it may change until ``take`` is high.
    2. ``any`` is high when there is a requester; ``take`` without one has no effect.
    3. A requester waits for each of the others at most once.

    Ports
    -----
    requests, take : as above
    grant, chosen : the requester as a number, and one-hot, which is available earlier; no bit is set without a
        requester
    any : whether there is a requester
    """

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(
            {"requests": In(count), "take": In(1), "grant": Out(range(count)), "chosen": Out(count), "any": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """Build a mask of the requesters after the one last taken, and the choice of the lowest request within it."""
        m = Module()
        behind = Signal(self.count)  # requesters after the one last taken
        later = self.requests & behind
        after = Cat(self.chosen[:n].any() for n in range(self.count))
        m.d.comb += [
            self.any.eq(self.requests.any()),
            self.chosen.eq(Mux(later.any(), _lowest(later), _lowest(self.requests))),
            self.grant.eq(
                Cat(Cat(self.chosen[n] for n in range(self.count) if n >> k & 1).any() for k in range(len(self.grant)))
            ),
        ]
        with m.If(self.take & self.any):
            m.d.sync += behind.eq(after)
        return m


def _lowest(bits: Value) -> Value:
    """The lowest bit that is set, one-hot: computed in parallel from all bits below each, not by a priority chain, so
    it takes few levels of logic."""
    return Cat(bits[n] & ~bits[:n].any() for n in range(len(bits)))
