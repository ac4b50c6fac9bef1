"""Streaming load unit for runs of consecutive elements: given a run once, it generates the addresses and prefetches."""

from collections.abc import Iterable
from typing import Any

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.burst import MAX_ALIGN
from rtl_lib.lsu.observe import Observation
from rtl_lib.lsu.word_assembler import WordBuffer
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort, require_power_of_two

__all__ = ["StreamLoadUnit", "run_addresses", "run_layout"]


def run_layout(addr_bits: int, count_bits: int) -> data.StructLayout:
    """A run: byte address of its first element, number of elements."""
    return data.StructLayout({"addr": addr_bits, "count": count_bits})


def run_addresses(runs: Iterable[tuple[int, int]], access_bytes: int) -> list[int]:
    """Golden: the addresses of all elements of ``runs``, pairs of address and count."""
    return [addr + n * access_bytes for addr, count in runs for n in range(count)]


@shared
class StreamLoadUnit(wiring.Component):
    """Loads runs of consecutive elements.

    Rules
    -----
    1. The elements of all runs leave in order: a :class:`~rtl_lib.lsu.load.LoadUnit` given :func:`run_addresses`
       would give the same data. A run of no elements has no effect.
    2. The words of a run are fetched in bursts as long as ``max_burst``, ``burst_align`` and the end of the run
       allow, as far ahead as ``pending`` words, whether or not data is taken.
    3. Each run fetches its own words; none is kept from one run to the next.
    4. One element leaves every cycle as long as memory keeps up, also from one run to the next.
    5. Space for its words is reserved before a request is sent, so responses are never refused.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    As for :class:`~rtl_lib.lsu.load.LoadUnit`, and
    count_bits : width of ``count``
    runs : runs that may be in flight

    Ports
    -----
    start : stream of ``{addr, count}``
    o, error, mem, observe : as for LoadUnit; ``accepted`` is an element taken at ``o``, ``stalled`` an element of a
        run for which the reader waits, and which has not arrived
    """

    def __init__(
        self,
        *,
        access_bytes: int,
        word_bytes: int,
        addr_bits: int = 64,
        count_bits: int = 32,
        runs: int = 4,
        max_burst: int = 16,
        pending: int = 64,
        burst_align: int = 1024,
    ) -> None:
        require_power_of_two("burst_align", burst_align, word_bytes, MAX_ALIGN)
        self._words: dict[str, Any] = {
            "access_bytes": access_bytes,
            "word_bytes": word_bytes,
            "pending": pending,
            "max_reserve": max_burst,
        }
        self.access_bytes, self.word_bytes, self.runs, self.max_burst = access_bytes, word_bytes, runs, max_burst
        self.align_words = burst_align // word_bytes
        super().__init__(
            {
                "start": In(stream.Signature(run_layout(addr_bits, count_bits))),
                "o": Out(stream.Signature(8 * access_bytes)),
                "error": Out(1),
                "mem": Out(ReadPort(word_bytes, addr_bits, max_burst)),
                "observe": Out(Observation()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the queue of runs, the counter that requests their words in bursts, and the one that cuts elements out
        of them."""
        m = Module()
        m.submodules.words = words = WordBuffer(**self._words)
        offset, count = words.select.payload.offset, self.start.payload.count
        run = data.StructLayout({"offset": len(offset), "count": len(count)})
        m.submodules.running = running = StreamFifo(run, self.runs)
        m.submodules.requests = requests = StreamFifo(self.mem.request.payload.shape(), 2)
        connect(m, requests.o, wiring.flipped(self.mem.request))
        connect(m, wiring.flipped(self.mem.response), words.response)
        connect(m, words.o, wiring.flipped(self.o))

        fetching = self._fetch(m, words, requests.i)
        wanted = count != 0
        m.d.comb += [
            self.error.eq(words.error),
            self.start.ready.eq(~fetching & running.i.ready),
            running.i.valid.eq(self.start.valid & ~fetching & wanted),
            running.i.payload.offset.eq(self.start.payload.addr[exact_log2(self.access_bytes) :]),
            running.i.payload.count.eq(count),
        ]
        self._walk(m, running.o, words.select)
        self._observe(m, words)
        return m

    def _fetch(self, m: Module, words, request):
        """Send the bursts of one run after the other; returns whether one remains to be sent in the next cycle."""
        start = self.start.payload
        word_shift, pieces = exact_log2(self.word_bytes), words.pieces
        word = Signal(len(start.addr) - word_shift)
        left = Signal(len(start.count) + 1)  # words
        size, fetching, sent = Signal.like(request.payload.words), Signal(), Signal()
        first = start.addr[exact_log2(self.access_bytes) : word_shift]

        to_border = self.align_words - word[: exact_log2(self.align_words)]
        most = Mux(to_border < self.max_burst, to_border, self.max_burst)
        m.d.comb += [
            size.eq(Mux(left < most, left, most)),
            request.payload.addr.eq(word << word_shift),
            request.payload.words.eq(size),
            request.valid.eq((left != 0) & (words.free >= size)),
            sent.eq(request.valid & request.ready),
            words.reserve.eq(Mux(sent, size, 0)),
            fetching.eq((left != 0) & ~(sent & (left == size))),
        ]
        with m.If(self.start.valid & self.start.ready):
            m.d.sync += [
                word.eq(start.addr[word_shift:]),
                left.eq(Mux(start.count == 0, 0, (start.count + first + (pieces - 1)) >> exact_log2(pieces))),
            ]
        with m.Elif(sent):
            m.d.sync += [word.eq(word + size), left.eq(left - size)]
        return fetching

    def _walk(self, m: Module, running, select) -> None:
        """Select the elements of each run."""
        left, fresh, offset = Signal.like(running.payload.count), Signal(), Signal.like(running.payload.offset)
        taken = Signal()
        m.d.comb += [
            select.valid.eq(left != 0),
            select.payload.offset.eq(offset),
            select.payload.next.eq(fresh | (offset == 0)),
            taken.eq(select.valid & select.ready),
            running.ready.eq((left == 0) | (taken & (left == 1))),
        ]
        with m.If(running.valid & running.ready):
            m.d.sync += [left.eq(running.payload.count), offset.eq(running.payload.offset), fresh.eq(1)]
        with m.Elif(taken):
            m.d.sync += [left.eq(left - 1), offset.eq(offset + 1), fresh.eq(0)]

    def _observe(self, m: Module, words) -> None:
        response = self.mem.response
        m.d.comb += [
            self.observe.accepted.eq(self.o.valid & self.o.ready),
            self.observe.stalled.eq(self.o.ready & ~self.o.valid & words.select.valid),
            self.observe.burst.eq(self.mem.request.valid & self.mem.request.ready),
            self.observe.word.eq(response.valid),
            self.observe.error.eq(response.valid & response.payload.error),
        ]
