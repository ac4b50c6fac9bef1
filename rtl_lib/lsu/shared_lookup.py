"""Lookup of one load in a cache that several loads fill: finds the place of a word."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.lsu.cam_lookup import fold
from rtl_lib.mem.ports import require_power_of_two

__all__ = ["SharedLookup", "placed_layout"]


def placed_layout(word_bits: int, places: int) -> data.StructLayout:
    """A place that is allocated to a word in this cycle."""
    return data.StructLayout({"valid": 1, "word": word_bits, "place": range(places)})


@shared
class SharedLookup(wiring.Component):
    """Remembers the word that each place of a circular buffer was allocated to, whoever allocated it.

    As in :class:`~rtl_lib.lsu.cam_lookup.WordFinder` a table of hints, indexed by the folded word number, returns a
    place, and a second table the word in that place, which alone decides. But places are also allocated while an
    access is inside: each access is compared with every place that is allocated meanwhile.

    Rules
    -----
    1. Accesses leave in order of arrival, :attr:`timing` later, one a cycle.
    2. With ``hit``, ``place`` was allocated to the word of the access, as one of the last ``in_date`` places. This may
       change from cycle to cycle while the access is on offer.
    3. A word that was allocated as one of the last ``in_date`` places, in an earlier cycle, hits, unless a word that
       shares its index was allocated since.

    Parameters
    ----------
    word_bits, offset_bits : widths of word numbers and of the data that accompanies them
    places : a power of two; index_bits : the table of hints has 2 ** index_bits entries

    Ports
    -----
    i : stream of ``{word, offset}``
    o : stream of ``{word, hit, place, offset}``
    placed : :func:`placed_layout`; places are allocated in circular order
    youngest : the place that is allocated next
    in_date : places, counted from the one allocated last, whose words may be used
    """

    timing = Timing(latency=2)

    def __init__(self, *, word_bits: int, offset_bits: int, places: int, index_bits: int) -> None:
        require_power_of_two("places", places, 2)
        self.places, self.index_bits = places, index_bits
        found: dict[str, ShapeLike] = {"word": word_bits, "hit": 1, "place": range(places), "offset": offset_bits}
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"word": word_bits, "offset": offset_bits}))),
                "o": Out(stream.Signature(data.StructLayout(found))),
                "placed": In(placed_layout(word_bits, places)),
                "youngest": In(range(places)),
                "in_date": In(range(places + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the two tables, the pipeline that reads one after the other, and the comparison of its accesses with
        the place that is allocated."""
        m = Module()
        go, busy = Signal(), Signal()
        looked_up, checked = Signal.like(self.i.payload), Signal.like(self.i.payload)
        place, sure, lost = Signal.like(self.youngest), Signal(), Signal()
        age, found, placed = Signal.like(self.youngest), self.o.payload, self.placed
        hint, owner = self._tables(m, go, busy)
        early, early_place = self._allocated_meanwhile(m, go, busy, looked_up.word)
        m.d.comb += [
            go.eq(~self.o.valid | self.o.ready),
            self.i.ready.eq(go),
            age.eq(self.youngest - 1 - place),
            found.word.eq(checked.word),
            found.offset.eq(checked.offset),
            found.place.eq(place),
            found.hit.eq((sure | (owner == checked.word)) & ~lost & (age < self.in_date)),
        ]
        with m.If(go):
            m.d.sync += [busy.eq(self.i.valid), self.o.valid.eq(busy)]
        with m.If(go & self.i.valid):
            m.d.sync += looked_up.eq(self.i.payload)
        with m.If(go & busy):
            m.d.sync += [checked.eq(looked_up), lost.eq(0), sure.eq(early), place.eq(Mux(early, early_place, hint))]
        with m.Elif(placed.valid & (placed.word == checked.word)):
            m.d.sync += [sure.eq(1), lost.eq(0), place.eq(placed.place)]
        with m.Elif(placed.valid & (placed.place == place)):
            m.d.sync += lost.eq(1)
        return m

    def _allocated_meanwhile(self, m: Module, go: Value, busy: Value, word: Value) -> tuple[Value, Value]:
        """Whether the word looked up was allocated since its hint was read, and where: what ``hint`` does not say."""
        before, place, placed = Signal(), Signal.like(self.youngest), self.placed
        now = placed.valid & (placed.word == word)
        kept = before & ~(placed.valid & (placed.place == place))
        with m.If(go):
            m.d.sync += before.eq(0)
        with m.Else():
            m.d.sync += before.eq(now | kept)
            with m.If(now):
                m.d.sync += place.eq(placed.place)
        return now | kept, Mux(now, placed.place, place)

    def _tables(self, m: Module, go: Value, busy: Value) -> tuple[Value, Value]:
        """Return the hint for the word looked up, and the word in the place of the hint of the cycle before. Reads see
        the write of the same cycle."""
        placed = self.placed
        m.submodules.hints = hints = Memory(shape=len(placed.place), depth=1 << self.index_bits, init=[])
        m.submodules.owners = owners = Memory(shape=len(placed.word), depth=self.places, init=[])
        hint_write, owner_write = hints.write_port(), owners.write_port()
        hint_read = hints.read_port(transparent_for=[hint_write])
        owner_read = owners.read_port(transparent_for=[owner_write])
        m.d.comb += [
            hint_read.en.eq(go & self.i.valid),
            hint_read.addr.eq(fold(self.i.payload.word, self.index_bits)),
            owner_read.en.eq(go & busy),
            owner_read.addr.eq(hint_read.data),
            hint_write.en.eq(placed.valid),
            hint_write.addr.eq(fold(placed.word, self.index_bits)),
            hint_write.data.eq(placed.place),
            owner_write.en.eq(placed.valid),
            owner_write.addr.eq(placed.place),
            owner_write.data.eq(placed.word),
        ]
        return hint_read.data, owner_read.data
