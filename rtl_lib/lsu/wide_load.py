"""Load unit for several adjacent elements at once, at any alignment to memory words."""

from typing import Any

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.library import shared
from rtl_lib.lsu.cached_load import CachedLoadUnit
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.observe import Observation
from rtl_lib.lsu.wide import Lanes, rotate
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort

__all__ = ["WideLoadUnit"]


@shared
class WideLoadUnit(wiring.Component):
    """Loads of ``lanes`` adjacent elements, which may lie in two words of memory.

    Before a load unit for whole words it determines which words an access needs; after it, it keeps the last two
    words, one with an even number and one with an odd one, and cuts accesses from them. So accesses that advance by no
    more than a word, up or down, need no more than one new word each.

    Rules
    -----
    1. Data leaves in the order of the accesses, one for each: :func:`~rtl_lib.lsu.wide.wide_load` gives the values.
    2. A word of which no lane is enabled is not requested. Neither is a word that is still kept, unless ``flush`` was
       high since it was requested, or as the access was accepted.
    3. An access is accepted in every cycle as long as each needs one new word at most, and memory keeps up; one that
       needs two takes two cycles.
    4. ``error`` says that the memory refused a word in which the access on offer has an enabled lane.

    Parameters
    ----------
    lanes : elements of an access, at most as many as a word has
    lane_bytes, word_bytes : bytes, powers of two; addresses are multiples of ``lane_bytes``
    masked : whether accesses come with a mask
    words : places of the inner unit's cache (see :class:`~rtl_lib.lsu.cached_load.CachedLoadUnit`), 0 for none
    depth : accesses in flight
    The others as for :class:`~rtl_lib.lsu.fetch.FetchPath`.

    Ports
    -----
    i : stream of ``{addr}``, or ``{addr, mask}``: byte address of lane 0, a bit for each lane that is enabled
    o : stream of all lanes, lane 0 lowest; disabled lanes are 0
    error, flush, mem, observe : as for :class:`~rtl_lib.lsu.load.LoadUnit`
    """

    def __init__(
        self,
        *,
        lanes: int,
        lane_bytes: int,
        word_bytes: int,
        masked: bool,
        words: int = 0,
        addr_bits: int = 64,
        depth: int = 256,
        max_burst: int = 16,
        **options: Any,
    ) -> None:
        self.lanes, self.masked, self.depth = Lanes(lanes, lane_bytes, word_bytes), masked, depth
        self._inner = {
            "access_bytes": word_bytes,
            "word_bytes": word_bytes,
            "addr_bits": addr_bits,
            "depth": depth,
            "max_burst": max_burst,
            **options,
        }
        if words:
            self._inner["words"] = words
        mask = {"mask": lanes} if masked else {}
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"addr": addr_bits, **mask}))),
                "o": Out(stream.Signature(8 * lanes * lane_bytes)),
                "error": Out(1),
                "flush": In(1),
                "mem": Out(ReadPort(word_bytes, addr_bits, max_burst)),
                "observe": Out(Observation()),
            }
        )
        # an access whose words have been requested; for its first word and the one after it: whether it needs the word
        # and whether it waits for it
        self._access = data.StructLayout({"odd": 1, "place": range(self.lanes.places), **mask, "wants": 2, "comes": 2})

    def elaborate(self, platform: object) -> Module:
        """Build the choice of words that an access needs, the unit that loads them, and the cut of the lanes out of two
        words."""
        m = Module()
        m.submodules.inner = inner = (CachedLoadUnit if "words" in self._inner else LoadUnit)(**self._inner)
        m.submodules.accesses = accesses = StreamFifo(self._access, self.depth)
        connect(m, inner.mem, wiring.flipped(self.mem))
        m.d.comb += inner.flush.eq(self.flush)
        self._ask(m, inner.i, accesses.i)
        self._cut(m, *self._gather(m, inner, accesses.o))
        m.d.comb += [
            self.observe.accepted.eq(self.i.valid & self.i.ready),
            self.observe.stalled.eq(self.i.valid & ~self.i.ready),
            *(getattr(self.observe, name).eq(getattr(inner.observe, name)) for name in ("burst", "word", "error")),
        ]
        return m

    def _ask(self, m: Module, request, out) -> None:
        """Request those words of one access after the other that are not kept; the last one as ``out`` accepts the
        access."""
        busy, half, ends = Signal(), Signal(), Signal()  # half: the first of two words has been requested
        first, behind = (Signal(len(self.i.payload.addr) - self.lanes.word_shift) for _ in range(2))
        access, taken, asked = Signal(self._access), self.i.valid & self.i.ready, request.valid & request.ready
        due, kept, number = Signal(2), Signal(2), Signal.like(first)  # number: of the requested word

        m.d.comb += [
            due.eq(access.wants & ~kept & Cat(~half, 1)),
            number.eq(Mux(due[0], first, behind)),
            self.i.ready.eq(~busy | ends),
            request.valid.eq(busy & due.any() & (due.all() | out.ready)),
            request.payload.eq(number << self.lanes.word_shift),
            out.valid.eq(busy & ~due.all() & (request.ready | ~due.any())),
            out.payload.eq(access),
            out.payload.odd.eq(first[0]),
            out.payload.comes.eq(due | half),
            ends.eq(out.valid & out.ready),
        ]
        m.d.sync += busy.eq(taken | (busy & ~ends))
        with m.If(asked):
            m.d.sync += half.eq(due.all())
        with m.Elif(ends):
            m.d.sync += half.eq(0)
        with m.If(taken):
            self._split(m, (first, behind), access)
        self._keep(m, taken, kept, asked, number)

    def _split(self, m: Module, numbers, access) -> None:
        """Register the access on offer: its words, its start in the first one, and the enabled lanes of each word."""
        word, place = self.lanes.split(self.i.payload.addr)
        beyond = Signal(self.lanes.count)  # lanes of the second word
        mask = self.i.payload.mask if self.masked else Const(-1, self.lanes.count)
        m.d.comb += beyond.eq(self.lanes.beyond(place))
        m.d.sync += [number.eq(word + k) for k, number in enumerate(numbers)]
        m.d.sync += [access.place.eq(place), access.wants.eq(Cat((mask & ~beyond).any(), (mask & beyond).any()))]
        if self.masked:
            m.d.sync += access.mask.eq(mask)

    def _keep(self, m: Module, taken, kept, asked, number) -> None:
        """Remember the last word of each parity that was requested, and register for each of an access's two words
        whether it is one: as the access is accepted, so that no comparison precedes the request for its words."""
        latest, known = [Signal.like(number, name=f"latest_{parity}") for parity in range(2)], Signal(2)
        word, _ = self.lanes.split(self.i.payload.addr)
        for parity in range(2):
            with m.If(asked & (number[0] == parity)):
                m.d.sync += [latest[parity].eq(number), known[parity].eq(1)]
        with m.If(taken):
            for k in range(2):
                mine, odd = (word + k)[: len(word)], word[0] ^ k
                was = known.bit_select(odd, 1) & (Mux(odd, latest[1], latest[0]) == mine)
                m.d.sync += kept[k].eq(Mux(asked & (number[0] == odd), number == mine, was))
        with m.If(self.flush):
            m.d.sync += [known.eq(0), kept.eq(0)]

    def _gather(self, m: Module, inner, accesses):
        """Receive the words of each access; returns the two words, whether they are refused, and the stream of
        accesses that the words belong to."""
        words = [Signal.like(inner.o.payload, name=f"word_{parity}") for parity in range(2)]
        refused, half = Signal(2), Signal()
        access, gathered = accesses.payload, stream.Signature(self._access).create()
        due, room, comes = Signal(2), Signal(), Signal()
        m.d.comb += [
            due.eq(access.comes & Cat(~half, 1)),
            room.eq(accesses.valid & (~gathered.valid | gathered.ready)),
            inner.o.ready.eq(room & due.any()),
            comes.eq(inner.o.valid & inner.o.ready),
            accesses.ready.eq(room & ~due.all() & (inner.o.valid | ~due.any())),
        ]
        m.d.sync += gathered.valid.eq((accesses.valid & accesses.ready) | (gathered.valid & ~gathered.ready))
        with m.If(accesses.valid & accesses.ready):
            m.d.sync += [gathered.payload.eq(access), half.eq(0)]
        with m.Elif(comes):
            m.d.sync += half.eq(1)
        for parity in range(2):
            with m.If(comes & ((access.odd ^ ~due[0]) == parity)):
                m.d.sync += [words[parity].eq(inner.o.payload), refused[parity].eq(inner.error)]
        return words, refused, gathered

    def _cut(self, m: Module, words, refused, gathered) -> None:
        """Rotate the words so that lane 0 comes first."""
        access, bits = gathered.payload, self.lanes.bits
        odd, ring = Signal(self.lanes.places), []  # which word each lane is taken from
        m.d.comb += odd.eq(self.lanes.behind(access.place) ^ access.odd.replicate(self.lanes.places))
        for n in range(self.lanes.places):
            ring.append(Signal(bits, name=f"place_{n}"))
            m.d.comb += ring[n].eq(Mux(odd[n], words[1].word_select(n, bits), words[0].word_select(n, bits)))
        lanes = rotate(m, ring, access.place, self.lanes.count)
        m.d.comb += gathered.ready.eq(~self.o.valid | self.o.ready)
        with m.If(gathered.ready):
            m.d.sync += [
                self.o.valid.eq(gathered.valid),
                self.o.payload.eq(
                    Cat(Mux(access.mask[k], lane, 0) if self.masked else lane for k, lane in enumerate(lanes))
                ),
                self.error.eq((access.wants & Mux(access.odd, refused[::-1], refused)).any()),
            ]
