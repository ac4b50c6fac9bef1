"""Combines consecutive words into bursts."""

from collections.abc import Iterable

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.mem.ports import require_power_of_two

__all__ = ["MAX_ALIGN", "BurstBuilder", "words_read"]

#: No AXI burst may cross a boundary of this many bytes.
MAX_ALIGN = 4096


def words_read(addresses: Iterable[int], word_bytes: int) -> list[int]:
    """Golden: the word addresses to fetch for byte ``addresses``, without repeats of the previous word."""
    words = [address // word_bytes * word_bytes for address in addresses]
    return [word for n, word in enumerate(words) if n == 0 or word != words[n - 1]]


class BurstBuilder(wiring.Component):
    """Holds one open burst, and sends it when it is complete or must not wait longer.

    Rules
    -----
    1. The words of all bursts sent, one after the other, are the words accepted.
    2. No burst is longer than ``max_burst`` words or crosses a multiple of ``burst_align`` bytes.
    3. A burst is sent when it is full, when ``close`` is high, when ``rest`` is, or when a word comes that does not
       continue it.
    4. A word that comes while no burst is open and ``urgent`` is high is sent alone, in the same cycle.
    5. One word is accepted every cycle as long as ``o`` is ready.

    Parameters
    ----------
    word_bytes, addr_bits : of the memory
    max_burst : words
    burst_align : bytes, a power of two from ``word_bytes`` to 4096

    Ports
    -----
    i : stream of word numbers (byte address / ``word_bytes``)
    begins : the word accepted in this cycle is the first of a burst, which is sent after those begun before
    o : stream of numbers of words, for a FIFO: an offer not taken at once may grow or be withdrawn
    close : no more words for now
    rest : as ``close``, without a path to ``i.ready``; low where a word is offered
    urgent : waiting for more words would not pay
    open : a burst is open
    last : the word that was accepted last
    """

    def __init__(self, *, word_bytes: int, addr_bits: int, max_burst: int, burst_align: int) -> None:
        require_power_of_two("burst_align", burst_align, word_bytes, MAX_ALIGN)
        self.word_bytes, self.max_burst = word_bytes, max_burst
        self.align_bits = exact_log2(burst_align // word_bytes)
        super().__init__(
            {
                "i": In(stream.Signature(addr_bits - exact_log2(word_bytes))),
                "begins": Out(1),
                "o": Out(stream.Signature(range(max_burst + 1))),
                "close": In(1),
                "rest": In(1),
                "urgent": In(1),
                "open": Out(1),
                "last": Out(addr_bits - exact_log2(word_bytes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a register of the last word, and a comparator with the word that would continue the open burst."""
        m = Module()
        # All words of a burst have the upper bits of the last one: otherwise they would lie behind the border that no
        # burst crosses, where ``following`` is 0. So only the low bits of the word that would continue it are kept.
        following = Signal(self.align_bits)
        words = Signal(range(self.max_burst + 1))
        full, ends, extends, alone = Signal(), Signal(), Signal(), Signal()
        taken, sent = self.i.valid & self.i.ready, self.o.valid & self.o.ready
        upper = self.last[self.align_bits :]

        m.d.comb += [
            full.eq((words == self.max_burst) | (following == 0)),
            ends.eq(full | self.close),
            extends.eq(self.open & ~ends & (self.i.payload == Cat(following, upper))),
            alone.eq(~self.open & self.urgent),
            self.i.ready.eq(Mux(self.open, extends | self.o.ready, ~self.urgent | self.o.ready)),
            self.o.valid.eq((self.open & (ends | self.rest | (self.i.valid & ~extends))) | (alone & self.i.valid)),
            self.begins.eq(taken & ~extends),
            self.o.payload.eq(Mux(alone, 1, words)),
        ]
        with m.If(taken):
            m.d.sync += self.last[: self.align_bits].eq(self.i.payload)
        with m.If(self.begins):  # of a word that extends the burst the upper bits are those of the last one
            m.d.sync += upper.eq(self.i.payload[self.align_bits :])
        with m.If(taken & ~alone):
            m.d.sync += [self.open.eq(1), following.eq(self.i.payload + 1)]
            with m.If(extends):
                m.d.sync += words.eq(words + 1)
            with m.Else():
                m.d.sync += words.eq(1)
        with m.Elif(sent):
            m.d.sync += self.open.eq(0)
        return m
