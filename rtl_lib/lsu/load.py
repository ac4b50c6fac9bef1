"""Load unit for any order of addresses: neighbours share words, words share bursts."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.burst import BurstBuilder
from rtl_lib.lsu.observe import Observation
from rtl_lib.lsu.words import WordBuffer
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort

__all__ = ["LoadUnit", "load"]


def load(memory, addresses, access_bytes):
    """Golden: the little-endian values of ``access_bytes`` bytes at ``addresses`` of the bytes ``memory``."""
    return [int.from_bytes(memory[a:a + access_bytes], "little") for a in addresses]


@shared
class LoadUnit(wiring.Component):
    """Burst-coalescing load.

    Rules
    -----
    1. Data leaves in the order of the addresses, one for each. :func:`load` gives the values.
    2. An address in the same word as the address before it fetches nothing, unless ``flush`` was high in between or
       with it. The words fetched are :func:`~rtl_lib.lsu.burst.words_read` for each stretch between flushes.
    3. Consecutive words share a burst of up to ``max_burst`` words within ``burst_align`` bytes. A burst waits at most
       ``patience`` cycles for its next word; a word that comes when nothing is outstanding does not wait.
    4. Space for its words is reserved before a request is sent, so responses are never refused.
    5. One address is taken, and one word fetched, every cycle as long as memory keeps up, ``depth`` covers the
       accesses and ``pending`` the words under way.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    access_bytes, word_bytes : bytes, powers of two, the first no larger
    addr_bits : width of byte addresses
    depth : accesses under way
    pending : words under way or not yet used, at least ``max_burst``
    max_burst : words; burst_align : bytes, a power of two up to 4096; patience : cycles

    Ports
    -----
    i : stream of byte addresses; o : stream of data
    error : the memory answered the access on offer at ``o`` with an error
    flush : the word in use is out of date for addresses taken in this cycle or later
    mem : :class:`ReadPort`
    observe : :class:`Observation`; ``error`` there is a response that carries one
    """

    def __init__(self, *, access_bytes, word_bytes, addr_bits=64, depth=256, max_burst=16, pending=64,
                 burst_align=1024, patience=4):
        geometry = {"word_bytes": word_bytes, "addr_bits": addr_bits, "max_burst": max_burst}
        self._builder = {**geometry, "burst_align": burst_align}
        self._words = {"access_bytes": access_bytes, "word_bytes": word_bytes, "pending": pending, "max_reserve": 1}
        self.access_bytes, self.word_bytes, self.depth, self.patience = access_bytes, word_bytes, depth, patience
        if pending < max_burst:
            raise ValueError(f"pending must be at least max_burst, {max_burst} words, not {pending!r}")
        super().__init__({
            "i": In(stream.Signature(addr_bits)),
            "o": Out(stream.Signature(8 * access_bytes)),
            "error": Out(1),
            "flush": In(1),
            "mem": Out(ReadPort(**geometry)),
            "observe": Out(Observation()),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = WordBuffer(**self._words)
        m.submodules.builder = builder = BurstBuilder(**self._builder)
        m.submodules.requests = requests = StreamFifo(self.mem.request.payload.shape(), 2)
        m.submodules.accesses = accesses = StreamFifo(words.select.payload.shape(), self.depth)
        connect(m, accesses.o, words.select)
        connect(m, builder.o, requests.i)
        connect(m, requests.o, wiring.flipped(self.mem.request))
        connect(m, wiring.flipped(self.mem.response), words.response)
        connect(m, words.o, wiring.flipped(self.o))
        m.d.comb += self.error.eq(words.error)

        fresh = self._compare(m, builder.i.payload)
        room = accesses.i.ready & (~fresh | (words.free != 0))
        m.d.comb += [
            builder.i.valid.eq(self.i.valid & fresh & room),
            self.i.ready.eq(room & (~fresh | builder.i.ready)),
            accesses.i.valid.eq(self.i.valid & self.i.ready),
            accesses.i.payload.next.eq(fresh),
            accesses.i.payload.offset.eq(self.i.payload[exact_log2(self.access_bytes):]),
            words.reserve.eq(accesses.i.valid & fresh),
            builder.urgent.eq(words.free == words.pending),
        ]
        self._wait(m, builder, words.reserve)
        self._observe(m)
        return m

    def _compare(self, m, word):
        """Split off the word number; return whether the word must be fetched."""
        current, known, fresh = Signal.like(word), Signal(), Signal()
        m.d.comb += [
            word.eq(self.i.payload[exact_log2(self.word_bytes):]),
            fresh.eq(~known | self.flush | (word != current)),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [current.eq(word), known.eq(1)]
        with m.Elif(self.flush):
            m.d.sync += known.eq(0)
        return fresh

    def _wait(self, m, builder, word_added):
        """Close the burst when it has waited long enough for another word."""
        age = Signal(range(self.patience + 1))
        m.d.comb += builder.close.eq(age == self.patience)
        with m.If(word_added | ~builder.open):
            m.d.sync += age.eq(0)
        with m.Elif(~builder.close):
            m.d.sync += age.eq(age + 1)

    def _observe(self, m):
        request, response = self.mem.request, self.mem.response
        m.d.comb += [
            self.observe.accepted.eq(self.i.valid & self.i.ready),
            self.observe.stalled.eq(self.i.valid & ~self.i.ready),
            self.observe.burst.eq(request.valid & request.ready),
            self.observe.word.eq(response.valid),
            self.observe.error.eq(response.valid & response.payload.error),
        ]
