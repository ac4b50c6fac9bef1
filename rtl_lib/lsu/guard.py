"""Keeps the places of a ring from being given out again while somebody still waits for what lies in them."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared

__all__ = ["PlaceGuard"]


@shared
class PlaceGuard(wiring.Component):
    """Counts words placed while an access waits for one that lies so deep in the ring that ``margin`` more are all it can stand.

    Accesses are answered in order, so the last deep one decides: when as many accesses are answered as were under way with it,
    nobody waits for a deep word.

    Rules
    -----
    1. From the cycle after an access with ``deep`` until it is answered no more than ``margin`` words are placed, if none is while ``hold`` is
       high.
    2. ``hold`` is low when no deep access is under way, and never stays high longer than those take.

    Parameters
    ----------
    depth : most accesses under way; margin : words, at least 1

    Ports
    -----
    deep : a deep access is taken; placed : one that places a word
    level : accesses under way before this cycle; answered : the oldest of them is answered
    hold : no access may place a word
    """

    def __init__(self, *, depth, margin):
        self.margin = margin
        super().__init__({
            "deep": In(1),
            "placed": In(1),
            "level": In(range(depth + 1)),
            "answered": In(1),
            "hold": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        ahead = Signal.like(self.level)  # accesses up to the last deep one, that one included
        since = Signal(range(self.margin + 1))
        m.d.comb += self.hold.eq((ahead != 0) & (since == self.margin))
        with m.If(self.deep):
            m.d.sync += ahead.eq(self.level + 1 - self.answered)
        with m.Elif(self.answered & (ahead != 0)):
            m.d.sync += ahead.eq(ahead - 1)
        with m.If(ahead == 0):
            m.d.sync += since.eq(0)
        with m.Elif(self.placed):
            m.d.sync += since.eq(since + 1)
        return m
