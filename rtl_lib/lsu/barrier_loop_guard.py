"""Keeps the places of a circular buffer from being reused while an access still waits for a word in them."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared

__all__ = ["PlaceGuard"]


@shared
class PlaceGuard(wiring.Component):
    """Counts words placed while an access waits for a word that lies so deep in the circular buffer that at most
    ``margin`` more may be placed.

    Time is divided into intervals of ``margin / 2`` words. An interval ends when all deep accesses of the one before
    are answered, which the last of them decides, as accesses are answered in order: so a deep access sees the rest of
    its own interval, and all of the next one, at most.

    Rules
    -----
    1. From the cycle after an access with ``deep`` until it is answered no more than ``margin`` words are placed, if
       none is while ``hold`` is high.
    2. ``hold`` is low when no deep access is in flight, and never stays high longer than the deep accesses in flight.

    Parameters
    ----------
    depth : most accesses in flight; margin : words, an even number

    Ports
    -----
    deep : a deep access is accepted; placed : an access that places a word is accepted
    level : accesses in flight before this cycle; answered : the oldest of them is answered
    hold : no access may place a word
    """

    def __init__(self, *, depth: int, margin: int) -> None:
        if margin < 2 or margin % 2:
            raise ValueError(f"margin must be an even number of words, not {margin!r}")
        self.stretch = margin // 2
        super().__init__(
            {"deep": In(1), "placed": In(1), "level": In(range(depth + 1)), "answered": In(1), "hold": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the counter of words in the interval, and those of the accesses that must leave before it may end."""
        m = Module()
        before = Signal.like(self.level)  # accesses in flight up to the last deep one of the interval before
        recent = Signal.like(self.level)  # the same for this interval
        left = Signal.like(self.level)
        since = Signal(range(self.stretch + 1))
        full, ends = Signal(), Signal()
        m.d.comb += [
            full.eq(since == self.stretch),
            ends.eq(full & (before == 0)),
            self.hold.eq(full & (before != 0)),
            left.eq(Mux(recent == 0, 0, recent - self.answered)),
        ]
        m.d.sync += [
            since.eq(Mux(ends, 0, since) + self.placed),
            recent.eq(Mux(self.deep, self.level + 1 - self.answered, Mux(ends, 0, left))),
            before.eq(Mux(ends, left, Mux(before == 0, 0, before - self.answered))),
        ]
        return m
