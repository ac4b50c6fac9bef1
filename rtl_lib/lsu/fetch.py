"""The common part of all load units: combines the words to fetch into bursts, and queues accesses until their words
arrive."""

from typing import Any

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.burst import MAX_ALIGN, BurstBuilder
from rtl_lib.lsu.burst_queue import BurstQueue
from rtl_lib.lsu.word_assembler import WordBuffer, select_layout
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort, require_power_of_two

__all__ = ["FetchPath", "access_layout"]


def access_layout(
    access_bytes: int, word_bytes: int, addr_bits: int, kept_places: int = 0, ahead: bool = False, drops: bool = False
) -> data.StructLayout:
    """An access: the number of its word (byte address / ``word_bytes``), and what to select (:func:`select_layout`);
    with ``ahead`` also whether that word was ``asked`` for before."""
    return data.StructLayout(
        {
            "word": addr_bits - exact_log2(word_bytes),
            "select": select_layout(access_bytes, word_bytes, kept_places, drops),
            **({"asked": 1} if ahead else {}),
        }
    )


@shared
class FetchPath(wiring.Component):
    """Fetches the words of accesses that request the ``next`` word, and answers all accesses in order.

    Rules
    -----
    1. An access with ``select.next`` fetches its word; the others use a word fetched before (see
       :class:`~rtl_lib.lsu.word_assembler.WordBuffer`). Data leaves in the order of the accesses.
    2. Consecutive words share a burst of up to ``max_burst`` words within ``burst_align`` bytes. A burst waits at most
       ``patience`` cycles for its next word; a word that comes when nothing is outstanding does not wait.
    3. Space for its words is reserved before a request is sent, so responses are never refused.
    4. One access is accepted, and one word fetched, every cycle as long as memory keeps up, ``depth`` covers the
       accesses and ``pending`` the words in flight.
    5. Words may be requested ``ahead`` of their accesses, which come in the same order; these requests have priority
       over an access that fetches its word. With ``drops``, an access may be to ``drop`` such a word: it has no answer.
    6. An access to the word in use that comes while no other is in flight does not go through the queue of accesses:
       its data is offered in the next cycle, three cycles after the access otherwise.
    7. With ``own_words`` each access is a whole word and fetches it. Then the words that arrive are the answers, in
       order, and no queue of accesses is needed: the words reserved limit those in flight.

    Parameters
    ----------
    access_bytes, word_bytes : bytes, powers of two, the first no larger
    addr_bits : width of byte addresses
    depth : accesses in flight
    pending : words in flight or not yet used, at least ``max_burst``
    kept : words that stay after their use, in addition to those
    max_burst : words; burst_align : bytes, a power of two up to 4096; patience : cycles
    reads_ahead : whether the port ``ahead`` exists; drops : whether words that were requested may be dropped
    counted : whether the port ``level`` exists
    own_words : rule 7; ``select`` of an access is then not looked at

    Ports
    -----
    i : stream of :func:`access_layout`
    ahead : stream of word numbers
    o : stream of data; ``error`` : the memory answered the access on offer with an error
    mem : :class:`ReadPort`
    free : words that may be requested; empty : no access is in flight; level : accesses in flight
    answered : the oldest of them has got its word
    last : the word that was requested last
    """

    def __init__(
        self,
        *,
        access_bytes: int,
        word_bytes: int,
        addr_bits: int,
        depth: int,
        max_burst: int,
        pending: int,
        burst_align: int,
        patience: int,
        kept: int = 0,
        reads_ahead: bool = False,
        drops: bool = False,
        counted: bool = False,
        own_words: bool = False,
    ) -> None:
        require_power_of_two("word_bytes", word_bytes)
        require_power_of_two("burst_align", burst_align, word_bytes, MAX_ALIGN)
        if pending < max_burst:
            raise ValueError(f"pending must be at least max_burst, {max_burst} words, not {pending!r}")
        if own_words and (access_bytes != word_bytes or kept or reads_ahead or drops or counted):
            raise ValueError("accesses with words of their own are whole words, of which none is kept or read ahead")
        geometry = {"word_bytes": word_bytes, "addr_bits": addr_bits, "max_burst": max_burst}
        self._geometry, self._builder = geometry, {**geometry, "burst_align": burst_align}
        self._words: dict[str, Any] = {
            "access_bytes": access_bytes,
            "word_bytes": word_bytes,
            "pending": pending,
            "max_reserve": 1,
            "kept": kept,
            "drops": drops,
        }
        self.depth, self.patience = depth, patience
        self.reads_ahead, self.counted, self.own_words = reads_ahead, counted, own_words
        access = access_layout(access_bytes, word_bytes, addr_bits, pending + kept if kept else 0, reads_ahead, drops)
        super().__init__(
            {
                "i": In(stream.Signature(access)),
                **({"ahead": In(stream.Signature(access["word"].shape))} if reads_ahead else {}),
                "o": Out(stream.Signature(8 * access_bytes)),
                "error": Out(1),
                "mem": Out(ReadPort(**geometry)),
                "free": Out(range(pending + 1)),
                "empty": Out(1),
                **({"level": Out(range(depth + 1))} if counted else {}),
                "answered": Out(1),
                "last": Out(access["word"].shape),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the burst builder, the queues of requests and accesses, and the buffer in which words arrive."""
        m = Module()
        m.submodules.words = words = WordBuffer(**self._words)
        m.submodules.builder = builder = BurstBuilder(**self._builder)
        m.submodules.requests = requests = BurstQueue(**self._geometry)
        requests.follow(m, builder)
        connect(m, builder.o, requests.i)
        connect(m, requests.o, wiring.flipped(self.mem.request))
        connect(m, wiring.flipped(self.mem.response), words.response)
        connect(m, words.o, wiring.flipped(self.o))

        m.d.comb += [
            builder.i.payload.eq(self.i.payload.word),
            self.error.eq(words.error),
            words.reserve.eq(builder.i.valid & builder.i.ready),
            builder.urgent.eq(words.free == words.pending),
            self.free.eq(words.free),
            self.last.eq(builder.last),
            self.answered.eq(words.select.valid & words.select.ready),
        ]
        (self._fetch_each if self.own_words else self._fetch)(m, builder, words)
        self._wait(m, builder, words.reserve)
        return m

    def _fetch_each(self, m: Module, builder, words) -> None:
        """Fetch the word of each access, and answer with the words as they arrive."""
        place = words.free != 0
        m.d.comb += [
            builder.i.valid.eq(self.i.valid & place),
            self.i.ready.eq(builder.i.ready & place),
            words.select.valid.eq(1),
            words.select.payload.next.eq(1),
            self.empty.eq(words.free == words.pending),
        ]

    def _fetch(self, m: Module, builder, words) -> None:
        """Fetch the words of accesses that ask for the next one, or those requested ahead, and queue the accesses."""
        m.submodules.accesses = accesses = StreamFifo(words.select.payload.shape(), self.depth, self.counted)
        asks, place = self.i.payload.select.next, words.free != 0
        if self.reads_ahead:
            asks = asks & ~self.i.payload.asked
        room = accesses.i.ready & (~asks | place)
        fetch, first = self.i.valid & asks & room, Const(0)
        if self.reads_ahead:
            first = self.ahead.valid
            fetch = Mux(first, place, fetch)
            m.d.comb += self.ahead.ready.eq(builder.i.ready & place)
            with m.If(first):
                m.d.comb += builder.i.payload.eq(self.ahead.payload)
        m.d.comb += [
            builder.i.valid.eq(fetch),
            self.i.ready.eq(room & (~asks | (builder.i.ready & ~first))),
            accesses.i.valid.eq(self.i.valid & self.i.ready & ~self._direct(m, accesses, words)),
            accesses.i.payload.eq(self.i.payload.select),
            self.empty.eq(accesses.empty),
            *([self.level.eq(accesses.level)] if self.counted else []),
        ]

    def _direct(self, m: Module, accesses, words):
        """Let the oldest access select its piece; returns whether that is the access at ``i``, which was not queued.

        One that reads a place of the buffer is always queued: its address would come from the comparison of words, too
        late for a block RAM.
        """
        select, queued = self.i.payload.select, accesses.o.payload
        again = select.again if "again" in dict(select.shape()) else Const(0)
        offered = Signal()
        m.d.comb += [
            offered.eq(self.i.valid & accesses.empty & ~select.next & ~again),
            words.select.valid.eq(accesses.o.valid | offered),
            words.select.payload.eq(Mux(accesses.o.valid, queued, select)),
            accesses.o.ready.eq(words.select.ready),
        ]
        return offered & words.select.ready

    def _wait(self, m: Module, builder, word_added) -> None:
        """Close the burst when it has waited long enough for another word."""
        age = Signal(range(self.patience + 1))
        m.d.comb += builder.close.eq(age == self.patience)
        with m.If(word_added | ~builder.open):
            m.d.sync += age.eq(0)
        with m.Elif(~builder.close):
            m.d.sync += age.eq(age + 1)
