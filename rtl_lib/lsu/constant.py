"""The constant cache: one for all loads of constant memory, with a copy of its words for each load."""

from collections.abc import Sequence
from typing import Any

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from rtl_lib.interconnect.arbiter import RoundRobin
from rtl_lib.library import shared
from rtl_lib.lsu.load import load_ports
from rtl_lib.lsu.word_assembler import cut
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort, require_power_of_two

__all__ = ["MOST_FILL", "ConstantCache", "ConstantLoadUnit", "ConstantPort", "cache_fill", "cache_places"]

#: most words that a miss fetches
MOST_FILL = 8


def cache_places(size: int, word_bytes: int) -> int:
    """Words of a cache of at least ``size`` bytes, a power of two, so that they fill their index."""
    return max(2, 1 << (-(-size // word_bytes) - 1).bit_length())


def cache_fill(places: int, latency: int) -> int:
    """Words of a block, a power of two, of a cache of so many ``places`` before memory that answers after ``latency``
    cycles. Tables are read as a whole in the end, so a missing word is fetched with its neighbours, as long as they
    take no more than an eighth of the time that it takes itself."""
    return min(MOST_FILL, places, 1 << (max(1, latency // 8).bit_length() - 1))


class ConstantPort(wiring.Signature):
    """Between a load and the cache, from the load's view: one ``{data, error}`` for each byte address, in order.

    ``fetched`` : strobe: a word was fetched from memory for this load; ``burst`` : it was the first of a burst.
    """

    def __init__(self, access_bytes: int, addr_bits: int) -> None:
        self.access_bytes, self.addr_bits = access_bytes, addr_bits
        super().__init__(
            {
                "request": Out(stream.Signature(addr_bits)),
                "response": In(stream.Signature(data.StructLayout({"data": 8 * access_bytes, "error": 1}))),
                "fetched": In(1),
                "burst": In(1),
            }
        )


@shared
class ConstantLoadUnit(wiring.Component):
    """Constant-pipelined load of a kernel: a port to the cache, and a queue of the responses that are not taken yet:
    other loads of the same iteration may take as long as memory does, and many iterations are in flight meanwhile.

    Parameters
    ----------
    access_bytes : size of an element; depth : responses it has room for

    Ports
    -----
    i, o, error, observe : as of :class:`~rtl_lib.lsu.load.LoadUnit`; ``flush`` has no effect, as constants are not
        written during a run
    mem : :class:`ConstantPort`
    """

    def __init__(self, *, access_bytes: int, addr_bits: int = 64, depth: int = 2) -> None:
        self.depth = depth
        super().__init__(load_ports(access_bytes, addr_bits, ConstantPort(access_bytes, addr_bits)))

    def elaborate(self, platform: object) -> Module:
        """Build the connection to the cache, and a FIFO of ``depth`` responses."""
        m = Module()
        request, response = self.mem.request, self.mem.response
        m.submodules.answers = answers = StreamFifo(response.payload.shape(), self.depth)
        connect(m, flipped(response), answers.i)
        m.d.comb += [
            request.valid.eq(self.i.valid),
            request.payload.eq(self.i.payload),
            self.i.ready.eq(request.ready),
            self.o.valid.eq(answers.o.valid),
            self.o.payload.eq(answers.o.payload.data),
            answers.o.ready.eq(self.o.ready),
            self.error.eq(answers.o.payload.error),
            self.observe.accepted.eq(self.i.valid & self.i.ready),
            self.observe.stalled.eq(self.i.valid & ~self.i.ready),
            self.observe.burst.eq(self.mem.burst),
            self.observe.word.eq(self.mem.fetched),
            self.observe.error.eq(response.valid & response.ready & response.payload.error),
        ]
        return m


@shared
class ConstantCache(wiring.Component):
    """Caches words of memory that no kernel writes while kernels run, for several loads at once.

    Every load has a copy of all words and their tags, so that hits of one load never wait for another. A miss is
    fetched for all of them, with its aligned block of ``fill`` words in one burst; misses are served one after the
    other, in rotation among the loads.

    Rules
    -----
    1. Each load is answered in order: :func:`~rtl_lib.lsu.load.load` gives the values.
    2. A load that hits is answered in the next cycle, one in every cycle; one that misses waits, and so do the loads
       after it on the same port.
    3. A word is fetched once for all loads, and stays until another one of the same place (word number modulo
       ``words``) is fetched.
    4. No load accepted in the cycle of ``forget`` or later is answered with data fetched before. That takes no time, as
       each place is tagged with the number of the period between two ``forget`` in which it was filled; but once in
       2**period_bits - 1 times, and at reset, loads wait ``words`` cycles.
    5. A word that memory refuses is answered with ``error`` and not cached; a load that does not wait for it takes no
       notice, as it may lie behind the end of memory.

    Parameters
    ----------
    accesses : bytes of each load, powers of two up to ``word_bytes``
    words : a power of two; fill : words of a block, a power of two up to ``words`` and ``max_burst``; period_bits : of
        the number of a period, stored with each place; word_bytes, addr_bits, max_burst : of the memory

    Ports
    -----
    loads : list of :class:`ConstantPort`, from the cache's view
    forget : strobe: memory may have been written
    mem : :class:`ReadPort`
    """

    def __init__(
        self,
        *,
        accesses: Sequence[int],
        words: int,
        word_bytes: int,
        fill: int = 1,
        addr_bits: int = 64,
        max_burst: int = 16,
        period_bits: int = 8,
    ) -> None:
        require_power_of_two("words", words, 2)
        require_power_of_two("fill", fill, 1, min(words, max_burst))
        for size in accesses:
            require_power_of_two("each of accesses", size, 1, word_bytes)
        self.accesses, self.words, self.word_bytes = tuple(accesses), words, word_bytes
        self.word_bits, self.index_bits = addr_bits - exact_log2(word_bytes), exact_log2(words)
        self.period_bits, self.fill = period_bits, fill
        self._line = data.StructLayout(
            {"period": period_bits, "tag": self.word_bits - self.index_bits, "data": 8 * word_bytes}
        )
        super().__init__(
            {
                **{f"load{k}": In(ConstantPort(size, addr_bits)) for k, size in enumerate(self.accesses)},
                "forget": In(1),
                "mem": Out(ReadPort(word_bytes, addr_bits, max_burst)),
            }
        )

    @property
    def loads(self) -> list[Any]:
        """The ports of the loads, in the order of ``accesses``."""
        return [getattr(self, f"load{k}") for k in range(len(self.accesses))]

    def elaborate(self, platform: object) -> Module:
        """Build a copy of words and tags for each load, and the single path that fetches missing words for all
        copies."""
        m = Module()
        # the data written into every copy
        self.put, self.place, self.line = Signal(), Signal(self.index_bits), Signal(self._line)
        self.emptying = Signal(init=1)
        # number of the current period; 0 marks places that hold nothing
        self.period = Signal(self.period_bits, init=1)
        # a word has arrived, the first of a burst, or memory refused it; and which
        self.answered, self.first, self.refused = Signal(), Signal(), Signal()
        self.arrived = Signal(self.word_bits)
        self.wanted, self.owner = Signal(self.word_bits), Signal(range(len(self.accesses)))
        misses = [self._look_up(m, k, port) for k, port in enumerate(self.loads)]
        self._fetch(m, misses)
        self._empty(m)
        return m

    def _look_up(self, m: Module, k, port):
        """Answer the loads of one port; returns whether one waits for a word, and for which."""
        m.submodules[f"copy{k}"] = copy = Memory(shape=self._line, depth=self.words, init=[])
        write, read = copy.write_port(), copy.read_port()
        busy, looked, bad = Signal(name=f"busy{k}"), Signal(name=f"looked{k}"), Signal(name=f"bad{k}")
        held = Signal(len(port.request.payload), name=f"held{k}")  # the address being looked up
        # an answer on offer stays valid across a forget: the period that counts is the one in which the load was
        # accepted, or looked up again
        period = Signal(self.period_bits, name=f"period{k}")
        word, line, response = held[exact_log2(self.word_bytes) :], read.data, port.response
        hit = looked & (line.period == period) & (line.tag == word[self.index_bits :])
        waits = busy & looked & ~hit & ~bad
        done, taken = response.valid & response.ready, port.request.valid & port.request.ready
        again = busy & ~looked & ~bad & ~self.emptying
        asked = Mux(busy & ~done, held, port.request.payload)[exact_log2(self.word_bytes) :]
        m.d.comb += [
            write.en.eq(self.put),
            write.addr.eq(self.place),
            write.data.eq(self.line),
            port.request.ready.eq((~busy | done) & ~self.emptying & ~self.forget),
            read.en.eq(taken | again),
            read.addr.eq(asked[: self.index_bits]),
            response.valid.eq(busy & (hit | bad)),
            response.payload.error.eq(bad),
            port.fetched.eq(self.answered & (self.owner == k)),
            port.burst.eq(self.answered & self.first & (self.owner == k)),
        ]
        cut(
            m,
            response.payload.data,
            line.data,
            held[exact_log2(port.signature.access_bytes) : exact_log2(self.word_bytes)],
        )
        # a read during a write returns the old contents: look up again
        clash = self.put & (self.place == read.addr)
        served = self.answered & waits & (self.arrived == word)
        with m.If(read.en):
            m.d.sync += period.eq(self.period)
        with m.If(taken):
            m.d.sync += [busy.eq(1), looked.eq(~clash), bad.eq(0), held.eq(port.request.payload)]
        with m.Elif(done):
            m.d.sync += [busy.eq(0), looked.eq(0), bad.eq(0)]
        with m.Elif(again):
            m.d.sync += looked.eq(~clash)
        with m.Elif(served):
            m.d.sync += [looked.eq(0), bad.eq(served & self.refused)]
        return waits, word

    def _fetch(self, m: Module, misses) -> None:
        """Fetch the blocks of the requested words one after the other."""
        m.submodules.arbiter = arbiter = RoundRobin(len(misses))
        request, response, late = self.mem.request, self.mem.response, Signal()  # late: fetched before a forget
        inside = exact_log2(self.fill)
        coming = Signal(self.word_bits)  # the word that memory sends next
        place = coming[:inside]  # of it in its block
        m.d.comb += [
            arbiter.requests.eq(Cat(waits for waits, _ in misses)),
            request.payload.addr.eq(self.wanted[inside:] << inside + exact_log2(self.word_bytes)),
            request.payload.words.eq(self.fill),
            response.ready.eq(1),
        ]
        m.d.sync += [self.answered.eq(0), self.put.eq(0)]
        with m.FSM():
            with m.State("IDLE"), m.If(arbiter.any & ~self.emptying & ~self.forget):
                m.d.comb += arbiter.take.eq(1)
                m.d.sync += [self.owner.eq(arbiter.grant), late.eq(0)]
                with m.Switch(arbiter.grant):
                    for k, (_, word) in enumerate(misses):
                        with m.Case(k):
                            m.d.sync += self.wanted.eq(word)
                m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += request.valid.eq(1)
                m.d.sync += coming.eq(self.wanted[inside:] << inside)
                with m.If(request.ready):
                    m.next = "WAIT"
            with m.State("WAIT"), m.If(response.valid):
                useful = ~late & ~self.forget
                m.d.sync += [
                    self.answered.eq(useful),
                    self.first.eq(place == 0),
                    self.refused.eq(response.payload.error),
                    self.put.eq(useful & ~response.payload.error),
                    self.arrived.eq(coming),
                    self.place.eq(coming[: self.index_bits]),
                    self.line.period.eq(self.period),
                    self.line.tag.eq(coming[self.index_bits :]),
                    self.line.data.eq(response.payload.data),
                    place.eq(place + 1),
                ]
                with m.If(place == self.fill - 1):
                    m.next = "PUT"
            with m.State("PUT"):
                m.next = "IDLE"
        with m.If(self.forget):
            m.d.sync += late.eq(1)

    def _empty(self, m: Module) -> None:
        """Begin a new period at each ``forget``. Before the numbers wrap, and after reset, every place is marked as
        empty; whatever is fetched meanwhile is dropped."""
        count = Signal(self.index_bits + 1)
        with m.If(self.emptying):
            m.d.sync += [self.put.eq(~count[-1]), self.place.eq(count), self.line.period.eq(0), count.eq(count + 1)]
            with m.If(count[-1]):
                m.d.sync += self.emptying.eq(0)
        with m.If(self.forget):
            m.d.sync += self.period.eq(Mux(self.period.all(), 1, self.period + 1))
            with m.If(self.period.all() | self.emptying):
                m.d.sync += [self.emptying.eq(1), count.eq(0)]
