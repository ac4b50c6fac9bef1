"""A cache that the same load of several copies of a kernel uses: each word comes from memory once for all."""

from typing import Any

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from rtl_lib.interconnect.arbiter import RoundRobin
from rtl_lib.library import shared
from rtl_lib.lsu.burst import MAX_ALIGN, BurstBuilder
from rtl_lib.lsu.burst_queue import BurstQueue
from rtl_lib.lsu.load import load_ports
from rtl_lib.lsu.shared_lookup import SharedLookup, placed_layout
from rtl_lib.lsu.word_assembler import cut
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort, require_power_of_two
from rtl_lib.mem.ram import Ram
from rtl_lib.steps import count, reached

__all__ = ["LEAST_PENDING", "SharedCache", "SharedLoadUnit", "SharedPort"]

#: places that may be allocated after the oldest access of a load was looked at, and before that has an effect
SLACK = 4
LEAST_PENDING = 2 * SLACK


class SharedPort(wiring.Signature):
    """Between a load and the cache, from the load's view: one ``{data, error}`` for each byte address, in order, which
    is never refused.

    ``fetched``, ``burst`` : strobes: a word is fetched from memory for this load; a burst, the last word of which is.
    ``flush`` : words fetched so far are stale for addresses accepted in this cycle or later.
    """

    def __init__(self, access_bytes: int, addr_bits: int) -> None:
        self.access_bytes, self.addr_bits = access_bytes, addr_bits
        answer = data.StructLayout({"data": 8 * access_bytes, "error": 1})
        super().__init__(
            {
                "request": Out(stream.Signature(addr_bits)),
                "response": In(stream.Signature(answer)),
                "flush": Out(1),
                "fetched": In(1),
                "burst": In(1),
            }
        )


@shared
class SharedLoadUnit(wiring.Component):
    """Load through a cache that copies of the kernel share: a port to it, and room for all answers under way. So the
    cache never waits for a kernel, and no copy for another one that does not take its answers.

    Parameters
    ----------
    access_bytes : size of an element; depth : accesses in flight

    Ports
    -----
    As of :class:`~rtl_lib.lsu.load.LoadUnit`; ``mem`` is a :class:`SharedPort`.
    """

    def __init__(self, *, access_bytes: int, addr_bits: int = 64, depth: int = 256) -> None:
        self.depth = depth
        super().__init__(load_ports(access_bytes, addr_bits, SharedPort(access_bytes, addr_bits)))

    def elaborate(self, platform: object) -> Module:
        """Build the count of accesses in flight, and the FIFO of answers; while it is empty, an answer is offered at
        once."""
        m = Module()
        request, response = self.mem.request, self.mem.response
        m.submodules.answers = answers = StreamFifo(response.payload.shape(), self.depth)
        inside, room = Signal(range(self.depth + 1)), Signal()
        held, kept = Signal(), Signal.like(response.payload)  # an answer that was offered at once, and not taken
        direct, offered = Signal(), Signal.like(response.payload)
        taken, leaves = self.i.valid & self.i.ready, self.o.valid & self.o.ready
        count(m, inside, taken, leaves)
        m.d.comb += [
            room.eq(~reached(inside, self.depth)),
            request.valid.eq(self.i.valid & room),
            request.payload.eq(self.i.payload),
            self.i.ready.eq(request.ready & room),
            direct.eq(response.valid & ~held & answers.empty),
            answers.i.valid.eq(response.valid & ~direct),
            answers.i.payload.eq(response.payload),
            response.ready.eq(answers.i.ready),  # always: there is room for all accesses under way
            answers.o.ready.eq(self.o.ready & ~held),
            self.o.valid.eq(held | answers.o.valid | direct),
            offered.eq(Mux(held, kept, Mux(direct, response.payload, answers.o.payload))),
            self.o.payload.eq(offered.data),
            self.error.eq(offered.error),
            self.mem.flush.eq(self.flush),
            self.observe.accepted.eq(taken),
            self.observe.stalled.eq(self.i.valid & ~self.i.ready),
            self.observe.burst.eq(self.mem.burst),
            self.observe.word.eq(self.mem.fetched),
            self.observe.error.eq(response.valid & response.payload.error),
        ]
        m.d.sync += held.eq((held | direct) & ~self.o.ready)
        with m.If(direct):
            m.d.sync += kept.eq(response.payload)
        return m


@shared
class SharedCache(wiring.Component):
    """Caches words of memory that nobody writes meanwhile, for several loads at once.

    One circular buffer of ``words`` places is allocated in order, one place a cycle, to words that some load misses.
    Each load has a copy of the buffer and of what says where words are, so that hits of one never wait for another.
    A load that hits a word which is still on its way waits for that word in the order of its own accesses only.

    Rules
    -----
    1. Each load is answered in the order of its addresses: :func:`~rtl_lib.lsu.load.load` gives the values.
    2. A word that was fetched for one load is not fetched again for any until ``words - pending`` others were, or
       ``flush`` of any load; except for a word that shares an index with another, and for two loads that miss it in
       quick succession before either is looked up again.
    3. After a ``flush`` no address accepted in that cycle or later is answered from a word fetched before.
    4. An answer is never refused, so no load waits for what another one does with its answers.
    5. Bursts and rate are those of :class:`~rtl_lib.lsu.fetch.FetchPath`, rules 2 to 4, for all loads together; loads
       that miss in one cycle take turns.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    loads : how many; access_bytes : the size of their elements
    words : places in all, a power of two; at most ``pending`` of them are allocated while an access waits
    depth : accesses in flight of each load
    The others as for :class:`~rtl_lib.lsu.fetch.FetchPath`.

    Ports
    -----
    load0, load1, ... : :class:`SharedPort`, from the cache's view
    mem : :class:`ReadPort`
    """

    def __init__(
        self,
        *,
        loads: int,
        access_bytes: int,
        word_bytes: int,
        addr_bits: int = 64,
        words: int = 1024,
        depth: int = 256,
        max_burst: int = 16,
        pending: int = 64,
        burst_align: int = 1024,
        patience: int = 4,
    ) -> None:
        require_power_of_two("words", words, 2)
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        require_power_of_two("burst_align", burst_align, word_bytes, MAX_ALIGN)
        if not max(max_burst, LEAST_PENDING) <= pending < words:
            raise ValueError(f"pending must be {max(max_burst, LEAST_PENDING)} to {words - 1} words, not {pending!r}")
        self.many, self.access_bytes, self.word_bytes = loads, access_bytes, word_bytes
        self.words, self.depth, self.pending, self.patience = words, depth, pending, patience
        self.word_bits, self.place_bits = addr_bits - exact_log2(word_bytes), exact_log2(words)
        geometry = {"word_bytes": word_bytes, "addr_bits": addr_bits, "max_burst": max_burst}
        self._geometry, self._builder = geometry, {**geometry, "burst_align": burst_align}
        super().__init__(
            {
                **{f"load{k}": In(SharedPort(access_bytes, addr_bits)) for k in range(loads)},
                "mem": Out(ReadPort(**geometry)),
            }
        )

    @property
    def loads(self) -> list[Any]:
        """The ports of the loads."""
        return [getattr(self, f"load{k}") for k in range(self.many)]

    def elaborate(self, platform: object) -> Module:
        """Build the lookup, the queue and the copy of the words of each load, and the path that fetches for all."""
        m = Module()
        # words allocated and words arrived, modulo twice the places: their lower bits are places
        self.allocated, self.arrived = Signal(self.place_bits + 1), Signal(self.place_bits + 1)
        self.in_date = Signal(range(self.words - self.pending + 1))
        self.placed = Signal(placed_layout(self.word_bits, self.words))
        found = [self._look_up(m, k, port) for k, port in enumerate(self.loads)]
        near = [self._answer(m, k, port, queue) for k, (port, (_, queue)) in enumerate(zip(self.loads, found))]
        self._fetch(m, found, near)
        return m

    def _look_up(self, m: Module, k: int, port: Any) -> tuple[SharedLookup, StreamFifo]:
        """Find the words of a load; returns the access that was looked up, and the queue that it goes to."""
        offset_bits = exact_log2(self.word_bytes // self.access_bytes)
        m.submodules[f"lookup{k}"] = lookup = SharedLookup(
            word_bits=self.word_bits, offset_bits=offset_bits, places=self.words, index_bits=self.place_bits + 2
        )
        number = len(self.allocated)
        waiting = data.StructLayout({"word": number, "since": number, "offset": offset_bits})
        m.submodules[f"queue{k}"] = queue = StreamFifo(waiting, self.depth)
        address, found, entry = port.request.payload, lookup.o.payload, queue.i.payload
        youngest = self.allocated[: self.place_bits]
        earlier = Cat(found.place, self.allocated[-1] ^ (found.place >= youngest))  # the word in a place
        m.d.comb += [
            lookup.i.valid.eq(port.request.valid),
            port.request.ready.eq(lookup.i.ready),
            lookup.i.payload.word.eq(address[exact_log2(self.word_bytes) :]),
            lookup.i.payload.offset.eq(address[exact_log2(self.access_bytes) :]),
            lookup.placed.eq(self.placed),
            lookup.youngest.eq(youngest),
            lookup.in_date.eq(self.in_date),
            entry.word.eq(Mux(found.hit, earlier, self.allocated)),
            entry.since.eq(self.allocated),
            entry.offset.eq(found.offset),
        ]
        return lookup, queue

    def _answer(self, m: Module, k: int, port: Any, queue: Any) -> Value:
        """Answer the oldest access of a load when its word has arrived; returns whether its word is safe for some time:
        it lies in a place that is overwritten ``pending`` words after the access was looked up, or later."""
        response, shape = self.mem.response, data.StructLayout({"data": 8 * self.word_bytes, "error": 1})
        m.submodules[f"copy{k}"] = copy = Ram(width=shape.size, depth=self.words, collides=False)
        word, oldest = data.View(shape, copy.read.data), queue.o.payload
        behind, ahead = Signal.like(self.arrived, name=f"behind{k}"), Signal.like(self.arrived, name=f"ahead{k}")
        offset = Signal.like(oldest.offset, name=f"offset{k}")
        m.d.comb += [
            behind.eq(self.arrived - oldest.word - 1),
            ahead.eq(self.allocated - oldest.since),
            queue.o.ready.eq(~behind[-1]),
            copy.write.en.eq(response.valid),
            copy.write.addr.eq(self.arrived[: self.place_bits]),
            copy.write.data.eq(Cat(response.payload.data, response.payload.error)),
            copy.read.en.eq(queue.o.valid & queue.o.ready),
            copy.read.addr.eq(oldest.word[: self.place_bits]),
            port.response.payload.error.eq(word.error),
        ]
        m.d.sync += port.response.valid.eq(copy.read.en)
        with m.If(copy.read.en):
            m.d.sync += offset.eq(oldest.offset)
        cut(m, port.response.payload.data, word.data, offset)
        return ~queue.o.valid | (ahead < self.pending - SLACK)

    def _fetch(self, m: Module, found: list[tuple[Any, Any]], near: list[Value]) -> None:
        """Allocate a place to the word of one load that misses, in turns, and combine these words into bursts."""
        m.submodules.arbiter = arbiter = RoundRobin(self.many)
        m.submodules.builder = builder = BurstBuilder(**self._builder)
        m.submodules.requests = requests = BurstQueue(**self._geometry)
        requests.follow(m, builder)
        connect(m, builder.o, requests.i)
        connect(m, requests.o, flipped(self.mem.request))
        room, owner = Signal(), Signal(self.many)
        goes = builder.i.valid & builder.i.ready
        m.d.sync += room.eq(Cat(near).all())
        m.d.comb += [
            arbiter.requests.eq(Cat(lookup.o.valid & ~lookup.o.payload.hit & queue.i.ready for lookup, queue in found)),
            arbiter.take.eq(goes),
            builder.i.valid.eq(arbiter.any & room),
            builder.urgent.eq(self.allocated == self.arrived),
            self.mem.response.ready.eq(1),
            self.placed.valid.eq(goes),
            self.placed.place.eq(self.allocated[: self.place_bits]),
            builder.i.payload.eq(self.placed.word),
        ]
        for k, (port, (lookup, queue)) in enumerate(zip(self.loads, found, strict=True)):
            chosen, hit = arbiter.chosen[k], lookup.o.payload.hit
            m.d.comb += [
                lookup.o.ready.eq(queue.i.ready & (hit | (goes & chosen))),
                queue.i.valid.eq(lookup.o.valid & (hit | (goes & chosen))),
                port.fetched.eq(goes & chosen),
                port.burst.eq(self.mem.request.valid & self.mem.request.ready & owner[k]),
            ]
            with m.If(chosen):
                m.d.comb += self.placed.word.eq(lookup.o.payload.word)
        flush, full = Cat(port.flush for port in self.loads).any(), self.words - self.pending
        with m.If(goes):
            m.d.sync += [self.allocated.eq(self.allocated + 1), owner.eq(arbiter.chosen)]
        with m.If(flush):
            m.d.sync += self.in_date.eq(0)
        with m.Elif(goes & (self.in_date != full)):
            m.d.sync += self.in_date.eq(self.in_date + 1)
        with m.If(self.mem.response.valid):
            m.d.sync += self.arrived.eq(self.arrived + 1)
        self._wait(m, builder, goes)

    def _wait(self, m: Module, builder: Any, added: Value) -> None:
        """Close the burst when it has waited long enough for another word."""
        age = Signal(range(self.patience + 1))
        m.d.comb += builder.close.eq(reached(age, self.patience))
        with m.If(added | ~builder.open):
            m.d.sync += age.eq(0)
        with m.Elif(~builder.close):
            m.d.sync += age.eq(age + 1)
