"""The bursts that a unit has built, on their way to the memory."""

from typing import Any

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.lsu.burst import BurstBuilder
from rtl_lib.mem.ports import burst_layout
from rtl_lib.steps import next_place

__all__ = ["BurstQueue"]

#: For two bursts that are complete, the open one, and one that begins as it is sent.
_PLACES = 4


class BurstQueue(wiring.Component):
    """A queue behind a :class:`~rtl_lib.lsu.burst.BurstBuilder`. The word in which a burst begins is stored when it
    comes, the number of its words when the burst is sent: the builder keeps no first word, and need not choose between
    that and a word that is sent alone.

    Rules
    -----
    1. Bursts leave in order, a cycle after they were sent at the earliest.
    2. It is ready while fewer than two bursts are complete; ready and valid come from registers.

    Parameters
    ----------
    word_bytes, addr_bits, max_burst : of the port, as for :class:`~rtl_lib.mem.ports.ReadPort`

    Ports
    -----
    begins, word : of the builder
    i : stream of numbers of words
    o : stream of :func:`~rtl_lib.mem.ports.burst_layout`
    """

    def __init__(self, word_bytes: int, addr_bits: int, max_burst: int) -> None:
        self._zeros = exact_log2(word_bytes)
        super().__init__(
            {
                "begins": In(1),
                "word": In(addr_bits - self._zeros),
                "i": In(stream.Signature(range(max_burst + 1))),
                "o": Out(stream.Signature(burst_layout(addr_bits, max_burst))),
            }
        )

    def follow(self, m: Module, builder: BurstBuilder) -> None:
        """Store where the bursts of ``builder`` begin."""
        m.d.comb += [self.begins.eq(builder.begins), self.word.eq(builder.i.payload)]

    def elaborate(self, platform: object) -> Module:
        """Build two memories of four places, which have a pointer to write to each, and one to read from both."""
        m = Module()
        put, take, full, ready = self.i.valid & self.i.ready, self.o.valid & self.o.ready, Signal(), self.i.ready
        first, first_read = self._memory(m, "first", len(self.word), self.begins)
        sizes, sizes_read = self._memory(m, "sizes", len(self.i.payload), put)
        oldest = Signal(range(_PLACES))
        m.d.comb += [
            *(first.data.eq(self.word), sizes.data.eq(self.i.payload)),
            *(first_read.addr.eq(oldest), sizes_read.addr.eq(oldest)),
            self.o.payload.addr.eq(first_read.data << self._zeros),
            self.o.payload.words.eq(sizes_read.data),
            ready.eq(~full),
        ]
        with m.If(take):
            m.d.sync += oldest.eq(next_place(oldest, _PLACES))
        with m.If(put & ~take):
            m.d.sync += [self.o.valid.eq(1), full.eq(self.o.valid)]
        with m.Elif(take & ~put):
            m.d.sync += [self.o.valid.eq(full), full.eq(0)]
        return m

    @staticmethod
    def _memory(m: Module, name: str, bits: int, put: Value) -> tuple[Any, Any]:
        """The two ports of a memory of so many ``bits``, whose next place is taken where ``put``. It is written in each
        cycle, as it is free: ``put`` comes late, and moves a pointer only."""
        m.submodules[name] = memory = Memory(shape=bits, depth=_PLACES, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        m.d.comb += write.en.eq(1)
        with m.If(put):
            m.d.sync += write.addr.eq(next_place(write.addr, _PLACES))
        return write, read
