"""The unit that executes all atomic operations on external memory, so that nothing separates a read from its write."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.credits import CreditCounter
from rtl_lib.library import shared
from rtl_lib.lsu.atomic import ANSWERS, AtomicPort, atomic_request, atomic_response
from rtl_lib.lsu.atomic_lookup import AtomicLookup
from rtl_lib.lsu.atomic_words import NARROW, AtomicWords, operation_layout, reached
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort, WritePort, require_power_of_two, response_layout
from rtl_lib.stream import RoundRobin, SkidBuffer

__all__ = ["PATIENCE", "PLACES", "AtomicMemory"]

#: idle cycles after which changed words are written, and cycles after which they are written at the latest
PATIENCE, LONGEST = 16, 2048
#: operations between their lookup and their word, in LUT RAM; words in flight from memory, in block RAM
QUEUE, FILLS = 32, 64
#: words in flight to memory
LEAVING = 64
#: cached words
PLACES = 256


@shared
class AtomicMemory(wiring.Component):
    """A cache that computes: operations on words that it holds execute one a cycle; misses fetch their words ahead of
    execution.

    The cache is direct-mapped (:class:`~rtl_lib.lsu.atomic_lookup.AtomicLookup`) and write-back. A changed word
    (:class:`~rtl_lib.lsu.atomic_words.AtomicWords`) is written when another word needs its place, when no request has
    come for :data:`PATIENCE` cycles, after :data:`LONGEST` cycles, or for a fence.

    Rules
    -----
    1. Requests execute one after the other, each requester's in order: read, compute, and write into the cached word.
    2. A fence is answered when no cached word differs from memory, so every request answered before is in memory. Until
       then no operation executes.
    3. After ``flush`` the next request reads memory, once all changes have been written.
    4. A request is accepted only if its requester has room for the response: none waits for another's.
    5. Only the bytes that requests have changed are written.

    Parameters
    ----------
    askers : number of requesters; word_bytes, addr_bits : of the memory (with words of 4 bytes no
        operand has 8); places : cached words, a power of two
    functions : names of the functions in use, of FUNCTIONS; max_burst : of the ports (all bursts are of one word)

    Ports
    -----
    askers : array of :class:`AtomicPort`, from the unit's view
    reads, writes : :class:`ReadPort`, :class:`WritePort`
    """

    def __init__(
        self,
        *,
        askers: int,
        word_bytes: int,
        addr_bits: int,
        functions: Sequence[str],
        places: int = PLACES,
        max_burst: int = 16,
    ) -> None:
        require_power_of_two("word_bytes", word_bytes, NARROW)
        self.word_bytes, self.addr_bits, self.functions, self.places = word_bytes, addr_bits, tuple(functions), places
        self.offset_bits = exact_log2(word_bytes)
        self.operation = operation_layout(word_bytes, askers)
        super().__init__(
            {
                "askers": In(AtomicPort(addr_bits)).array(askers),
                "reads": Out(ReadPort(word_bytes, addr_bits, max_burst)),
                "writes": Out(WritePort(word_bytes, addr_bits, max_burst)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the merge of the kernels' requests, the lookup, the queue before the words, and the paths from and to
        memory."""
        m = Module()
        word_bits = self.addr_bits - self.offset_bits
        m.submodules.lookup = lookup = AtomicLookup(
            shape=self.operation, word_bits=word_bits, places=self.places, leaving=LEAVING
        )
        m.submodules.words = words = AtomicWords(
            word_bytes=self.word_bytes,
            word_bits=word_bits,
            places=self.places,
            functions=self.functions,
            sources=len(self.askers),
            leaving=LEAVING,
        )
        m.submodules.queue = queue = StreamFifo(lookup.o.payload.shape(), QUEUE)
        connect(m, lookup.o, queue.i)
        connect(m, queue.o, words.i)
        m.d.comb += lookup.gone.eq(words.gone)
        self._read(m, lookup, words)
        self._write(m, words)
        self._count(m, words)
        taken, open_ = self._merge(m, lookup, words)
        self._pace(m, lookup, words, taken, open_)
        return m

    # --- requesters

    def _merge(self, m: Module, lookup, words):
        """Requests of all requesters as one stream, while it is ``open_``; responses have queues of their own."""
        m.submodules.merge = merge = RoundRobin(atomic_request(self.addr_bits), len(self.askers))
        m.submodules.cut = cut = SkidBuffer(merge.o.payload.shape())
        connect(m, merge.o, cut.i)
        open_, request, operation = Signal(), cut.o.payload.value, lookup.i.payload.value
        for k, (port, i) in enumerate(zip(self.askers, merge.i, strict=True)):
            m.submodules[f"answers{k}"] = answers = StreamFifo(atomic_response(), ANSWERS)
            m.submodules[f"room{k}"] = room = CreditCounter(ANSWERS)
            connect(m, answers.o, wiring.flipped(port.response))
            m.d.comb += [
                i.valid.eq(port.request.valid & room.available & open_),
                i.payload.eq(port.request.payload),
                port.request.ready.eq(i.ready & room.available & open_),
                room.take.eq(i.valid & i.ready),
                room.give.eq(answers.o.valid & answers.o.ready),
                answers.i.valid.eq(words.answer.valid & (words.answer.source == k)),
                answers.i.payload.data.eq(words.answer.data),
                answers.i.payload.error.eq(words.answer.error),
                port.idle.eq(self._owes_nothing(m, k, words)),
                port.failed.eq(words.refused[k]),
                port.fetched.eq(words.filled & (words.answer.source == k)),
                port.dirtied.eq(words.dirtied & (words.answer.source == k)),
            ]
        m.d.comb += [
            lookup.i.valid.eq(cut.o.valid),
            cut.o.ready.eq(lookup.i.ready),
            lookup.i.payload.word.eq(request.addr[self.offset_bits :]),
            operation.offset.eq(request.addr),
            operation.source.eq(cut.o.payload.source),
            *(getattr(operation, name).eq(getattr(request, name)) for name in ("function", "wide", "a", "b")),
        ]
        return cut.i.valid & cut.i.ready, open_

    def _count(self, m: Module, words) -> None:
        """Numbers of places that were changed and cleaned so far, in the order of cleaning; both counts wrap."""
        bits = exact_log2(self.places) + 2
        self.changed, self.cleaned = Signal(bits), Signal(bits)
        m.d.sync += [self.changed.eq(self.changed + words.fresh), self.cleaned.eq(self.cleaned + words.cleaned)]

    def _owes_nothing(self, m: Module, k, words):
        """Whether all changes of a requester are in memory: the places that were changed up to then have been cleaned,
        and the words in flight at that time have arrived."""
        held, away = Signal(name=f"held{k}"), Signal(name=f"away{k}")
        mark, sent = Signal.like(self.changed, name=f"mark{k}"), Signal.like(words.sent, name=f"sent{k}")
        with m.If(words.changed & (words.answer.source == k)):
            m.d.sync += [held.eq(1), mark.eq(self.changed + words.fresh)]
        with m.Elif(held & reached(self.cleaned, mark)):
            m.d.sync += [held.eq(0), away.eq(1), sent.eq(words.sent)]
        with m.Elif(away & reached(words.arrived, sent)):
            m.d.sync += away.eq(0)
        return ~held & ~away

    # --- when words are written

    def _pace(self, m: Module, lookup, words, taken, open_) -> None:
        """Decide when words are written: for fences and flushes, and changes that have waited long."""
        under_way = Signal(range(len(self.askers) * ANSWERS + 1))
        fences, stale = [port.fence for port in self.askers], Signal()
        fenced, flushed = Signal(), Cat(port.flush for port in self.askers).any()
        m.d.sync += under_way.eq(under_way + taken - words.answer.valid)
        empty = under_way == 0
        m.d.comb += [
            fenced.eq(Cat(fence.request.valid for fence in fences).any()),
            words.hold.eq(fenced),
            words.clean.eq(fenced | stale & empty | self._due(m, words, empty)),
            open_.eq(~stale & ~flushed),
            lookup.forget.eq(stale & empty & words.settled),
        ]
        with m.If(flushed):
            m.d.sync += stale.eq(1)
        with m.Elif(lookup.forget):
            m.d.sync += stale.eq(0)
        for fence in fences:
            m.d.comb += fence.request.ready.eq(words.settled & ~fence.response.valid)
            with m.If(fence.response.ready):
                m.d.sync += fence.response.valid.eq(0)
            with m.If(fence.request.valid & fence.request.ready):
                m.d.sync += fence.response.valid.eq(1)

    def _due(self, m: Module, words, empty):
        age, quiet, overdue = Signal(range(LONGEST)), Signal(range(PATIENCE + 1)), Signal.like(self.changed)
        idle = empty & ~Cat(port.request.valid for port in self.askers).any()
        m.d.sync += [
            age.eq(Mux(words.settled, 0, age + 1)),
            quiet.eq(Mux(idle, quiet + (quiet != PATIENCE), 0)),
            overdue.eq(
                Mux(age == LONGEST - 1, self.changed - self.cleaned, overdue - (words.cleaned & (overdue != 0)))
            ),
        ]
        return (quiet == PATIENCE) | (overdue != 0)

    # --- memory

    def _read(self, m: Module, lookup, words) -> None:
        request, response, word_bits = self.reads.request, self.reads.response, len(lookup.reads.payload)
        m.submodules.asked = asked = StreamFifo(word_bits, 2)
        m.submodules.fills = fills = StreamFifo(response_layout(self.word_bytes), FILLS)
        m.submodules.wanted = wanted = CreditCounter(FILLS)
        connect(m, fills.o, words.fills)
        m.d.comb += [
            asked.i.valid.eq(lookup.reads.valid & wanted.available),
            asked.i.payload.eq(lookup.reads.payload),
            lookup.reads.ready.eq(asked.i.ready & wanted.available),
            wanted.take.eq(asked.i.valid & asked.i.ready),
            wanted.give.eq(fills.o.valid & fills.o.ready),
            request.valid.eq(asked.o.valid),
            asked.o.ready.eq(request.ready),
            request.payload.addr.eq(asked.o.payload << self.offset_bits),
            request.payload.words.eq(1),
            fills.i.valid.eq(response.valid),
            fills.i.payload.eq(response.payload),
            response.ready.eq(1),
        ]

    def _write(self, m: Module, words) -> None:
        request, content, sent = self.writes.request, self.writes.data, Signal(2)
        done = sent | Cat(request.ready, content.ready)
        m.d.comb += [
            request.valid.eq(words.write.valid & ~sent[0]),
            request.payload.addr.eq(words.write.payload.word << self.offset_bits),
            request.payload.words.eq(1),
            content.valid.eq(words.write.valid & ~sent[1]),
            content.payload.eq(words.write.payload.content),
            words.write.ready.eq(done.all()),
            self.writes.ack.ready.eq(1),
            words.acked.eq(self.writes.ack.valid),
            words.failed.eq(self.writes.ack.payload.error),
        ]
        m.d.sync += sent.eq(Mux(words.write.valid & ~done.all(), done, 0))
