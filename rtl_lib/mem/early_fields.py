"""Fields of a queue's payloads that are known some cycles before the rest of them."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared
from rtl_lib.steps import next_place

__all__ = ["EarlyFields"]


@shared
class EarlyFields(wiring.Component):
    """A memory in LUTs beside a :class:`~rtl_lib.mem.fifo.StreamFifo`, written as soon as its fields are known: they
    need no registers in which they would wait for the rest of the payload.

    Rules
    -----
    1. ``oldest`` is the value that was ``put`` first of those not taken, from the cycle after its ``put`` on.
    2. ``take`` removes it: high when the payload leaves the queue to which it belongs, so never before its ``put``.
    3. At most ``depth`` values are inside. The user counts payloads from the ``put`` on, and those that do not get
       into the queue have none.

    Parameters
    ----------
    width : bits of a value
    depth : values it holds, as many as payloads may be in the queue or on their way to it
    """

    def __init__(self, *, width: int, depth: int) -> None:
        self.width, self.depth = width, depth
        super().__init__({"put": In(1), "value": In(width), "take": In(1), "oldest": Out(width)})

    def elaborate(self, platform: object) -> Module:
        """Build the memory and its two pointers."""
        m = Module()
        m.submodules.fields = fields = Memory(shape=self.width, depth=self.depth, init=[])
        write, read = fields.write_port(), fields.read_port(domain="comb")
        m.d.comb += [write.en.eq(self.put), write.data.eq(self.value), self.oldest.eq(read.data)]
        for port, moves in ((write, self.put), (read, self.take)):
            with m.If(moves):
                m.d.sync += port.addr.eq(next_place(port.addr, self.depth))
        return m
