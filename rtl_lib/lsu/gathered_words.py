"""Joins stores to words while several words are open."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.mem.ports import require_power_of_two, store_layout

__all__ = ["GatheredWords"]


class GatheredWords(wiring.Component):
    """Open words, a queue in which stores find the word that they belong to: a write-combining buffer.

    Rules
    -----
    1. Memory ends with the same contents as if the stores were executed one after the other.
    2. A store to an open word joins it. Another one opens its word behind the others; if there are ``words`` of them,
       the oldest leaves in the same cycle.
    3. While ``close`` is high no store is accepted, and the words leave, the oldest first. While ``quiet`` is high they
       leave as well, unless a store is on offer.
    4. One store is accepted, or one word leaves, every cycle as long as ``o`` is ready.

    Two words of one address are never open together, and words leave in the order in which they were opened: so rule 1.

    Parameters
    ----------
    access_bytes, word_bytes : bytes, powers of two, the first no larger
    addr_bits : width of byte addresses
    words : open at a time, a power of two from 2 on

    Ports
    -----
    i : stream of ``{addr, data}``
    o : stream of ``{word, data, strobe}``: a word number, and a strobe for each ``access_bytes``. For a FIFO: an offer
        not taken at once may be withdrawn
    close, quiet : see rule 3
    held : a word is open
    """

    def __init__(self, *, access_bytes: int, word_bytes: int, addr_bits: int, words: int) -> None:
        require_power_of_two("words", words, 2)
        self.lanes, self.words = word_bytes // access_bytes, words
        self.access_bytes, self.word_bytes = access_bytes, word_bytes
        self.word_shift = exact_log2(word_bytes)
        layout = data.StructLayout({"word": addr_bits - self.word_shift, "data": 8 * word_bytes, "strobe": self.lanes})
        super().__init__(
            {
                "i": In(stream.Signature(store_layout(addr_bits, access_bytes))),
                "o": Out(stream.Signature(layout)),
                "close": In(1),
                "quiet": In(1),
                "held": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the queue: addresses and strobes in registers, which are compared and changed, data in a RAM."""
        m = Module()
        store, word = self.i.payload, self.i.payload.addr[self.word_shift :]
        is_open, oldest, newest = Signal(self.words), Signal(range(self.words)), Signal(range(self.words))
        numbers = Array(Signal.like(self.o.payload.word, name=f"word_{k}") for k in range(self.words))
        strobes = Array(Signal(self.lanes, name=f"strobe_{k}") for k in range(self.words))
        found = Cat(is_open[k] & (numbers[k] == word) for k in range(self.words))
        hit, full, leaving, accepted = Signal(), Signal(), Signal(), Signal()
        place, lane = Signal(range(self.words)), Signal(self.lanes)

        m.d.comb += [
            hit.eq(found.any()),
            full.eq(is_open.all()),
            self.held.eq(is_open.any()),
            self.o.valid.eq(self.held & (self.close | Mux(self.i.valid, full & ~hit, self.quiet))),
            leaving.eq(self.o.valid & self.o.ready),
            self.i.ready.eq(~self.close & (hit | ~full | leaving)),
            accepted.eq(self.i.valid & self.i.ready),
            lane.eq(1 << store.addr[exact_log2(self.access_bytes) : self.word_shift]),
            place.eq(Mux(hit, _number(found), newest)),
        ]
        with m.If(leaving):
            m.d.sync += [is_open.bit_select(oldest, 1).eq(0), oldest.eq(oldest + 1)]
        with m.If(accepted):
            m.d.sync += strobes[place].eq(lane | Mux(hit, strobes[place], 0))
        with m.If(accepted & ~hit):  # in a full queue the place of the oldest, which leaves
            m.d.sync += [is_open.bit_select(newest, 1).eq(1), numbers[newest].eq(word), newest.eq(newest + 1)]
        m.d.comb += [
            self.o.payload.word.eq(numbers[oldest]),
            self.o.payload.strobe.eq(strobes[oldest]),
            self.o.payload.data.eq(self._data(m, accepted, place, lane, oldest)),
        ]
        return m

    def _data(self, m: Module, accepted: Value, place: Value, lane: Value, oldest: Value) -> Value:
        """The data of the oldest word; that of the store on offer is written to the lane of the place when accepted."""
        m.submodules.storage = storage = Memory(shape=8 * self.word_bytes, depth=self.words, init=[])
        read, write = storage.read_port(domain="comb"), storage.write_port(granularity=8 * self.access_bytes)
        m.d.comb += [
            write.addr.eq(place),
            write.en.eq(Mux(accepted, lane, 0)),
            write.data.eq(self.i.payload.data.replicate(self.lanes)),
            read.addr.eq(oldest),
        ]
        return read.data


def _number(found: Value) -> Value:
    """The number of the only bit that is set."""
    bits = range(exact_log2(len(found)))
    return Cat(Cat(found[k] for k in range(len(found)) if k >> bit & 1).any() for bit in bits)
