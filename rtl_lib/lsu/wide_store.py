"""Store unit for several adjacent elements at once, at any alignment to memory words."""

from typing import Any

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.library import shared
from rtl_lib.lsu.observe import Observation
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.wide import Lanes, rotate
from rtl_lib.mem.ports import Fence, WritePort

__all__ = ["WideStoreUnit"]


@shared
class WideStoreUnit(wiring.Component):
    """Stores of ``lanes`` adjacent elements, which may lie in two words of memory.

    Each store is split into its part of one word and its part of the next word. The second part waits for the first
    part of the next store, which for consecutive stores belongs to the same word; a store unit for whole words with
    strobes accepts both in one cycle.

    Rules
    -----
    1. The final contents of memory are those of executing the stores one after the other
       (:func:`~rtl_lib.lsu.wide.wide_store`).
    2. One store is accepted every cycle as long as each begins in the word where the one before ended (``descending``:
       ends where that one began), or stores lie in one word each, and memory keeps up. Others take up to two cycles.
    3. Words, bursts and fences are those of :class:`~rtl_lib.lsu.store.StoreUnit`, rules 2 to 5.

    Parameters
    ----------
    lanes, lane_bytes, word_bytes, masked : as for :class:`~rtl_lib.lsu.wide_load.WideLoadUnit`
    descending : the addresses of stores mostly decrease
    The others as for :class:`~rtl_lib.lsu.store.StoreUnit`.

    Ports
    -----
    i : stream of ``{addr, data}``, or ``{addr, data, mask}``: a bit for each lane that is written
    fence, over, idle, mem, observe : as for :class:`~rtl_lib.lsu.store.StoreUnit`
    """

    def __init__(
        self,
        *,
        lanes: int,
        lane_bytes: int,
        word_bytes: int,
        masked: bool,
        descending: bool = False,
        addr_bits: int = 64,
        max_burst: int = 16,
        **options: Any,
    ) -> None:
        self.lanes, self.masked, self.descending = Lanes(lanes, lane_bytes, word_bytes), masked, descending
        self._inner = {
            "access_bytes": word_bytes,
            "word_bytes": word_bytes,
            "addr_bits": addr_bits,
            "max_burst": max_burst,
            "strobe_bytes": lane_bytes,
            **options,
        }
        mask = {"mask": lanes} if masked else {}
        super().__init__(
            {
                "i": In(
                    stream.Signature(data.StructLayout({"addr": addr_bits, "data": 8 * lanes * lane_bytes, **mask}))
                ),
                "fence": In(Fence()),
                "over": In(1),
                "idle": Out(1),
                "mem": Out(WritePort(word_bytes, addr_bits, max_burst)),
                "observe": Out(Observation()),
            }
        )
        #: a part of one word
        self._part = data.StructLayout(
            {"word": addr_bits - self.lanes.word_shift, "data": 8 * word_bytes, "strobe": self.lanes.places}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the rotation of the lanes to their places, the register of a second part, and the unit that stores the
        words."""
        m = Module()
        m.submodules.inner = inner = StoreUnit(**self._inner)
        connect(m, inner.mem, wiring.flipped(self.mem))
        connect(m, wiring.flipped(self.fence.response), inner.fence.response)

        turned, first, second, word = self._turn(m)
        waiting = self._merge(m, turned, first, second, word, inner.i)
        busy = turned.valid | waiting
        m.d.comb += [
            inner.fence.request.valid.eq(self.fence.request.valid & ~busy),
            self.fence.request.ready.eq(inner.fence.request.ready & ~busy),
            inner.over.eq(self.over & ~busy),
            self.idle.eq(inner.idle & ~busy),
            self.observe.accepted.eq(self.i.valid & self.i.ready),
            self.observe.stalled.eq(self.i.valid & ~self.i.ready),
            *(getattr(self.observe, name).eq(getattr(inner.observe, name)) for name in ("burst", "word", "error")),
        ]
        return m

    def _turn(self, m: Module):
        """Move each lane to its position in a word; returns a stream of stores, the two parts of the one on offer, and
        the word of the first part of the store after it."""
        store, count, places, bits = self.i.payload, self.lanes.count, self.lanes.places, self.lanes.bits
        turned = stream.Signature(0).create()
        word, place = self.lanes.split(store.addr)
        ring = [store.data.word_select(k, bits) if k < count else None for k in range(places)]
        mask = store.mask if self.masked else Const(-1, count)
        on = rotate(m, [mask[k] if k < count else Const(0, 1) for k in range(places)], place, places, left=True)
        behind = Signal(places)

        parts = [Signal(self._part, name=f"part_{k}") for k in range(2)]
        low = Signal.like(parts[0].word)
        m.d.comb += [
            behind.eq(self.lanes.behind(place)),
            self.i.ready.eq(~self.fence.request.valid & (~turned.valid | turned.ready)),
            *(part.word.eq(low + k) for k, part in enumerate(parts)),
            parts[1].data.eq(parts[0].data),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                low.eq(word),
                parts[0].data.eq(Cat(rotate(m, ring, place, places, left=True))),
                *(part.strobe.eq(Cat(on) & (behind if k else ~behind)) for k, part in enumerate(parts)),
            ]
        m.d.sync += turned.valid.eq((self.i.valid & self.i.ready) | (turned.valid & ~turned.ready))
        return turned, *((*parts[::-1], (word + 1)[: len(word)]) if self.descending else (*parts, word))

    def _merge(self, m: Module, turned, first, second, coming, out):
        """Send parts to ``out``, each second part together with the first part after it if that has the same word;
        returns whether one waits. The words are compared as a store arrives, with that of the part which waits when the
        store is on offer."""
        waiting, kept, fits, same = Signal(), Signal(self._part), Signal(), Signal()
        both, leaves = Signal(self.lanes.places), Signal()
        moved = out.valid & out.ready
        m.d.comb += [
            fits.eq(~waiting | same),
            both.eq(first.strobe | Mux(waiting, kept.strobe, 0)),
            leaves.eq(turned.valid & fits),
            out.valid.eq(Mux(leaves, both.any(), waiting)),
            turned.ready.eq(fits & (out.ready | ~both.any())),
            out.payload.addr.eq(Mux(leaves, first.word, kept.word) << self.lanes.word_shift),
            out.payload.strobe.eq(Mux(leaves, both, kept.strobe)),
        ]
        for n in range(self.lanes.places):
            new = first.data.word_select(n, self.lanes.bits)
            old = kept.data.word_select(n, self.lanes.bits)
            m.d.comb += out.payload.data.word_select(n, self.lanes.bits).eq(Mux(leaves & first.strobe[n], new, old))
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += same.eq(coming == Mux(turned.valid, second.word, kept.word))
        with m.If(turned.valid & turned.ready):
            m.d.sync += [waiting.eq(second.strobe.any()), kept.eq(second)]
        with m.Elif(moved & ~leaves):
            m.d.sync += waiting.eq(0)
        return waiting
