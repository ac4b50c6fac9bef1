"""Keeps the places of a ring from being given out again while somebody still waits for what lies in them."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared

__all__ = ["PlaceGuard"]


@shared
class PlaceGuard(wiring.Component):
    """Counts words placed while an access waits for one that lies so deep in the ring that ``margin`` more are all it
    can stand.

    Time is cut into stretches of ``margin / 2`` words. A stretch ends when all deep accesses of the one before are
    answered, which the last of them decides, as accesses are answered in order: so a deep access sees what is left of
    its own stretch, and all of the next one, at most.

    Rules
    -----
    1. From the cycle after an access with ``deep`` until it is answered no more than ``margin`` words are placed, if
       none is while ``hold`` is high.
    2. ``hold`` is low when no deep access is under way, and never stays high longer than those take that are.

    Parameters
    ----------
    depth : most accesses under way; margin : words, an even number

    Ports
    -----
    deep : a deep access is taken; placed : one that places a word
    level : accesses under way before this cycle; answered : the oldest of them is answered
    hold : no access may place a word
    """

    def __init__(self, *, depth, margin):
        if margin < 2 or margin % 2:
            raise ValueError(f"margin must be an even number of words, not {margin!r}")
        self.stretch = margin // 2
        super().__init__(
            {"deep": In(1), "placed": In(1), "level": In(range(depth + 1)), "answered": In(1), "hold": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        before = Signal.like(self.level)  # accesses under way up to the last deep one of the stretch before
        recent = Signal.like(self.level)  # and of this one
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
