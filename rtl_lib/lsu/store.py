"""Burst-coalescing store unit for any order of addresses: adjacent stores share words, adjacent words share bursts."""

from collections.abc import Iterable

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.burst import BurstBuilder
from rtl_lib.lsu.burst_queue import BurstQueue
from rtl_lib.lsu.gathered_words import GatheredWords
from rtl_lib.lsu.observe import Observation, observe_writes
from rtl_lib.lsu.write_acknowledge import Settlement
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import Fence, WritePort, require_power_of_two, store_layout
from rtl_lib.steps import elapsed

__all__ = ["MOST_COUNTED", "RETIRED_BITS", "StoreUnit", "store"]

#: A burst holds at most 2**RETIRED_BITS - 1 stores where they are counted.
RETIRED_BITS = 8
#: From this number of stores on no more join a burst where they are counted.
MOST_COUNTED = 1 << RETIRED_BITS - 1


def store(memory: bytearray, stores: Iterable[tuple[int, int]], access_bytes: int) -> None:
    """Golden: write ``stores``, pairs of address and value, one after the other into the bytearray ``memory``."""
    for addr, value in stores:
        memory[addr : addr + access_bytes] = value.to_bytes(access_bytes, "little")


@shared
class StoreUnit(wiring.Component):
    """Burst-coalescing store.

    Rules
    -----
    1. The final contents of memory are those of executing the stores one after the other (:func:`store`).
    2. A store to the same word as the one before it, or as one of those to the last ``words`` words, joins that word,
       until the word is sent: when a store to another word needs its place, and as bursts are (rule 3).
    3. Consecutive words share a burst of up to ``max_burst`` words within ``burst_align`` bytes. An open burst is sent
       when it is full, when a store to another address comes, when no store has come for ``patience`` cycles, for a
       fence, or when ``over``.
    4. A burst is requested when all its words have arrived.
    5. A fence is answered when every store accepted before it is acknowledged by the memory; fences are
       answered in order, and many may be in flight. While one is offered no store is accepted (at most 2
       cycles more than ``words``, if memory keeps up).
    6. One store is accepted, and one word sent, every cycle as long as memory keeps up.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    access_bytes, word_bytes : bytes, powers of two, the first no larger
    strobe_bytes : with 0 all of an access is written; else an access is a whole word, with a strobe for each
        ``strobe_bytes`` bytes
    addr_bits : width of byte addresses
    max_burst : words; buffer : words it has room for, at least ``max_burst``
    outstanding : bursts and fences that may wait for the memory
    burst_align : bytes, a power of two up to 4096; patience : cycles
    counted : whether stores are counted, so that ``retired`` can report when each is in memory
    words : that stores may join at a time, a power of two; 1 where they are counted or have strobes

    Ports
    -----
    i : stream of ``{addr, data}``, with strobes ``{addr, data, strobe}``
    retired : number of stores, the oldest first, that reached memory in this cycle; only where ``counted``
    hurry : an access waits for the open burst; only where ``counted``
    fence : :class:`~rtl_lib.mem.ports.Fence`
    over : no store is on its way to the unit
    idle : every store accepted so far is acknowledged and every fence answered
    mem : :class:`WritePort`
    observe : :class:`Observation`
    """

    def __init__(
        self,
        *,
        access_bytes: int,
        word_bytes: int,
        addr_bits: int = 64,
        max_burst: int = 16,
        buffer: int = 32,
        outstanding: int = 16,
        burst_align: int = 1024,
        patience: int = 16,
        counted: bool = False,
        strobe_bytes: int = 0,
        words: int = 1,
    ) -> None:
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        require_power_of_two("words", words, 1, 1 if counted or strobe_bytes else None)
        if strobe_bytes and access_bytes != word_bytes:
            raise ValueError(
                f"access_bytes must be the {word_bytes} of a word where bytes have strobes, not {access_bytes}"
            )
        if buffer < max_burst:
            raise ValueError(f"buffer must be at least max_burst, {max_burst} words, not {buffer!r}")
        geometry = {"word_bytes": word_bytes, "addr_bits": addr_bits, "max_burst": max_burst}
        self._geometry, self._builder = geometry, {**geometry, "burst_align": burst_align}
        self.access_bytes, self.word_bytes, self.buffer = access_bytes, word_bytes, buffer
        self.outstanding, self.patience, self.counted, self.words = outstanding, patience, counted, words
        self.strobe_bytes, self.lane_bytes = strobe_bytes, strobe_bytes or access_bytes
        lanes = word_bytes // strobe_bytes if strobe_bytes else 0
        super().__init__(
            {
                **({"retired": Out(RETIRED_BITS), "hurry": In(1)} if counted else {}),
                "i": In(stream.Signature(store_layout(addr_bits, access_bytes, lanes))),
                "fence": In(Fence()),
                "over": In(1),
                "idle": Out(1),
                "mem": Out(WritePort(**geometry)),
                "observe": Out(Observation()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the register in which stores to one word are joined, the burst builder, the queues to memory, and the
        queue of bursts not acknowledged."""
        m = Module()
        m.submodules.builder = builder = BurstBuilder(**self._builder)
        m.submodules.requests = requests = BurstQueue(**self._geometry)
        requests.follow(m, builder)
        m.submodules.words = words = StreamFifo(self.mem.data.payload.shape(), self.buffer)
        m.submodules.waiting = waiting = Settlement(self.outstanding, RETIRED_BITS if self.counted else 0)
        connect(m, waiting.answer, wiring.flipped(self.fence.response))
        connect(m, requests.o, wiring.flipped(self.mem.request))
        connect(m, words.o, wiring.flipped(self.mem.data))

        quiet, fence = self._quiet(m), self.fence.request
        gather = self._gather if self.words == 1 else self._gather_several
        held, count = gather(m, quiet, builder.i, words.i)
        behind = held | builder.open  # stores that must be sent before a fence
        stores, many = self._count(m, builder, count)
        m.d.comb += [
            builder.rest.eq(~held & (quiet | fence.valid)),  # without a held word none is offered
            builder.close.eq(many),
            builder.o.ready.eq(requests.i.ready & waiting.i.ready),
            requests.i.valid.eq(builder.o.valid & waiting.i.ready),
            requests.i.payload.eq(builder.o.payload),
            waiting.i.valid.eq((builder.o.valid & requests.i.ready) | (fence.valid & ~behind)),
            waiting.i.payload.fence.eq(~builder.o.valid),
            waiting.i.payload.stores.eq(stores),
            fence.ready.eq(~behind & waiting.i.ready),
            self.idle.eq(~behind & waiting.empty),
            waiting.ack.eq(self.mem.ack.valid),
            self.mem.ack.ready.eq(1),
        ]
        if self.counted:
            m.d.comb += self.retired.eq(waiting.retired)
        observe_writes(m, self)
        return m

    def _quiet(self, m: Module):
        """Whether the last store came ``patience`` cycles ago, or none is to be waited for."""
        hurry = self.over | self.hurry if self.counted else self.over
        return elapsed(m, self.i.valid & self.i.ready, self.patience) | (hurry & ~self.i.valid)

    def _count(self, m: Module, builder, count: int):
        """(stores in the open burst, whether no more should join it); both 0 if stores are not counted."""
        if not self.counted:
            return C(0), C(0)
        stores = Signal(RETIRED_BITS)
        taken, sent = builder.i.valid & builder.i.ready, builder.o.valid & builder.o.ready
        m.d.sync += stores.eq(Mux(sent, 0, stores) + Mux(taken, count, 0))
        return stores, builder.open & (stores >= MOST_COUNTED)

    def _gather(self, m: Module, quiet, word_out, data_out):
        """Combine stores to one word; returns whether one is held, and of how many stores where they are counted."""
        store, lanes = self.i.payload, self.word_bytes // self.lane_bytes
        word_shift = exact_log2(self.word_bytes)
        held, word, strobe = Signal(), Signal.like(word_out.payload), Signal(lanes)
        value = Signal(data.ArrayLayout(8 * self.lane_bytes, lanes))
        lane = Signal(lanes)  # of the store on offer
        joins, leaves, leaving = Signal(), Signal(), Signal()
        count = Signal(RETIRED_BITS - 1 if self.counted else 0)
        full = count == (1 << RETIRED_BITS - 1) - 1 if self.counted else C(0)

        m.d.comb += [
            lane.eq(store.strobe if self.strobe_bytes else 1 << store.addr[exact_log2(self.access_bytes) : word_shift]),
            joins.eq((store.addr[word_shift:] == word) & ~full),
            leaves.eq(held & (self.fence.request.valid | Mux(self.i.valid, ~joins, quiet))),
            leaving.eq(leaves & word_out.ready & data_out.ready),
            word_out.valid.eq(leaves & data_out.ready),
            data_out.valid.eq(leaves & word_out.ready),
            word_out.payload.eq(word),
            data_out.payload.data.eq(value),
            data_out.payload.strobe.eq(Cat(bit.replicate(self.lane_bytes) for bit in strobe)),
            # Not ``leaving``, which is the same for a store on offer, but would make ready depend on ``quiet``.
            self.i.ready.eq(~self.fence.request.valid & (~held | joins | (word_out.ready & data_out.ready))),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                held.eq(1),
                word.eq(store.addr[word_shift:]),
                strobe.eq(lane | Mux(held & ~leaving, strobe, 0)),
                count.eq(Mux(held & ~leaving, count, 0) + 1),
            ]
            for n in range(lanes):
                with m.If(lane[n]):
                    m.d.sync += value[n].eq(
                        store.data.word_select(n, len(value[n])) if self.strobe_bytes else store.data
                    )
        with m.Elif(leaving):
            m.d.sync += held.eq(0)
        return held, count

    def _gather_several(self, m: Module, quiet, word_out, data_out):
        """Combine stores to any of several words; returns as :meth:`_gather`."""
        geometry = {"access_bytes": self.access_bytes, "word_bytes": self.word_bytes}
        m.submodules.gathered = gathered = GatheredWords(
            **geometry, addr_bits=len(self.i.payload.addr), words=self.words
        )
        connect(m, wiring.flipped(self.i), gathered.i)
        word = gathered.o.payload
        m.d.comb += [
            gathered.close.eq(self.fence.request.valid),
            gathered.quiet.eq(quiet),
            gathered.o.ready.eq(word_out.ready & data_out.ready),
            word_out.valid.eq(gathered.o.valid & data_out.ready),
            data_out.valid.eq(gathered.o.valid & word_out.ready),
            word_out.payload.eq(word.word),
            data_out.payload.data.eq(word.data),
            data_out.payload.strobe.eq(Cat(bit.replicate(self.access_bytes) for bit in word.strobe)),
        ]
        return gathered.held, C(0)
