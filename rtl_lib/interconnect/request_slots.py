"""The requests of a unit that wait for a bank: a buffer that still shows a payload in the cycle after it was taken."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.contract import Timing

__all__ = ["RequestSlots"]


class RequestSlots(wiring.Component):
    """Cuts every combinational path between its sides, at full rate, as :class:`~rtl_lib.stream.SkidBuffer` does; the
    payload of an offer may also be selected a cycle after it was taken, as a
    :class:`~rtl_lib.interconnect.funnel.Funnel` does, without a register for it.

    Rules
    -----
    1. Payloads leave in order of arrival, each once, :attr:`timing` after they came at the earliest.
    2. ``o.valid`` and ``i.ready`` come from registers, ``o.payload`` from registers and one multiplexer.
    3. In the cycle after a payload was taken ``late`` is that payload.
    4. A payload moves in every cycle while the source offers and the consumer takes.

    Parameters
    ----------
    shape : of the payload

    Ports
    -----
    i, o : streams of ``shape``
    late : ``shape``
    """

    timing = Timing(latency=1)

    def __init__(self, shape: ShapeLike) -> None:
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)), "late": Out(shape)})

    def elaborate(self, platform: object) -> Module:
        """Build two registers that are filled in turn: what was taken stays in its register for a cycle at least, for
        the next payload goes to the other one."""
        m = Module()
        slots = [Signal.like(self.i.payload, name=f"slot{k}", reset_less=True) for k in range(2)]
        head = Signal()  # the slot on offer
        before = Signal()  # that of the cycle before
        full = Signal()
        put, take = self.i.valid & self.i.ready, self.o.valid & self.o.ready
        m.d.comb += [
            self.i.ready.eq(~full),
            Value.cast(self.o.payload).eq(Mux(head, slots[1], slots[0])),
            Value.cast(self.late).eq(Mux(before, slots[1], slots[0])),
        ]
        m.d.sync += before.eq(head)
        with m.If(take):
            m.d.sync += head.eq(~head)
        with m.If(put & ~take):
            m.d.sync += [self.o.valid.eq(1), full.eq(self.o.valid)]
        with m.Elif(take & ~put):
            m.d.sync += [self.o.valid.eq(full), full.eq(0)]
        for k, slot in enumerate(slots):
            with m.If(put & ((head ^ self.o.valid) == k)):
                m.d.sync += slot.eq(self.i.payload)
        return m
