"""The requests of a unit that wait for a bank: a buffer that gives the rest of a payload in the cycle after it was
taken."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl_lib.contract import Timing

__all__ = ["RequestSlots"]


class RequestSlots(wiring.Component):
    """Cuts every combinational path between its sides, at full rate, as :class:`~rtl_lib.stream.SkidBuffer` does. Only
    what decides whether an offer is taken is ``shown`` with it; the rest, ``late``, is selected a cycle after it was
    taken, as a :class:`~rtl_lib.interconnect.funnel.Funnel` does, and lies in a memory.

    Rules
    -----
    1. Payloads leave in order of arrival, each once, :attr:`timing` after they came at the earliest.
    2. ``o.valid`` and ``i.ready`` come from registers, ``o.payload`` from registers and one multiplexer, ``late`` from
       a memory of two words.
    3. In the cycle after a payload was taken ``late`` is the rest of that payload.
    4. A payload moves in every cycle while the source offers and the consumer takes.

    Parameters
    ----------
    shown, late : shapes of the two parts of a payload

    Ports
    -----
    i : stream of ``{shown, late}``
    o : stream of ``shown``
    late : ``late``
    """

    timing = Timing(latency=1)

    def __init__(self, shown: ShapeLike, late: ShapeLike) -> None:
        payload = data.StructLayout({"shown": shown, "late": late})
        super().__init__({"i": In(stream.Signature(payload)), "o": Out(stream.Signature(shown)), "late": Out(late)})

    def elaborate(self, platform: object) -> Module:
        """Build two slots that are filled in turn: what was taken stays in its slot for a cycle at least, for the next
        payload goes to the other one. The parts that are shown are registers."""
        m = Module()
        slots = [Signal.like(self.i.payload.shown, name=f"slot{k}", reset_less=True) for k in range(2)]
        m.submodules.rest = rest = Memory(shape=Value.cast(self.late).shape(), depth=2, init=[])
        write, read = rest.write_port(), rest.read_port(domain="comb")
        head = Signal()  # the slot on offer
        before = Signal()  # that of the cycle before
        full = Signal()
        put, take = self.i.valid & self.i.ready, self.o.valid & self.o.ready
        m.d.comb += [
            self.i.ready.eq(~full),
            Value.cast(self.o.payload).eq(Mux(head, slots[1], slots[0])),
            *(write.en.eq(put), write.addr.eq(head ^ self.o.valid), write.data.eq(self.i.payload.late)),
            *(read.addr.eq(before), Value.cast(self.late).eq(read.data)),
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
                m.d.sync += slot.eq(self.i.payload.shown)
        return m
