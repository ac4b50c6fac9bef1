"""Words evicted from a cache that have not reached memory: none of them may be read from memory before."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared
from rtl_lib.mem.ports import require_power_of_two

__all__ = ["Departures"]


@shared
class Departures(wiring.Component):
    """Compares a key with those of all words that are leaving.

    Rules
    -----
    1. ``enter`` takes the key of a word that begins to leave; ``gone`` is high in a cycle in which the one that
       entered first has left. They leave in the order in which they entered.
    2. ``leaving`` says whether ``asked`` is the key of a word that is leaving, one that enters in this cycle included.
       It may still be high in the cycle of ``gone``.
    3. ``enter`` is ready while fewer than ``places`` are leaving; ready is a register.

    Parameters
    ----------
    key_bits : of a key; words of equal keys are not distinguished
    places : words that may be leaving at once, a power of two
    """

    def __init__(self, *, key_bits: int, places: int) -> None:
        self.places = require_power_of_two("places", places, 2)
        super().__init__(
            {"enter": In(stream.Signature(key_bits)), "gone": In(1), "asked": In(key_bits), "leaving": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """Build a circular buffer of keys, each with a comparator."""
        m = Module()
        keys = [Signal(len(self.asked), name=f"key{k}") for k in range(self.places)]
        inside = Signal(self.places)
        newest, oldest = Signal(range(self.places)), Signal(range(self.places))
        enters = Signal()
        m.d.comb += [
            self.enter.ready.eq(~inside.bit_select(newest, 1)),
            enters.eq(self.enter.valid & self.enter.ready),
            self.leaving.eq(
                Cat(inside[k] & (key == self.asked) for k, key in enumerate(keys)).any()
                | enters & (self.enter.payload == self.asked)
            ),
        ]
        with m.If(self.gone):
            m.d.sync += [inside.bit_select(oldest, 1).eq(0), oldest.eq(oldest + 1)]
        with m.If(enters):
            m.d.sync += [inside.bit_select(newest, 1).eq(1), newest.eq(newest + 1)]
        for k, key in enumerate(keys):
            with m.If(enters & (newest == k)):
                m.d.sync += key.eq(self.enter.payload)
        return m
