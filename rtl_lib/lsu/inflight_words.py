"""The places of stores in flight, grouped by words: for stores of which many consecutive ones write to one word."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Member, Out

from rtl_lib.library import shared
from rtl_lib.lsu.store import RETIRED_BITS
from rtl_lib.mem.ports import require_power_of_two

__all__ = ["WordTable", "contents"]


def contents(bits: int, entries: int) -> dict[str, Member]:
    """Ports of a table that shows what it holds: ``bits`` of each entry, and the entry that is filled next."""
    return {"held": Out(data.ArrayLayout(bits, entries)), "at": Out(range(entries))}


@shared
class WordTable(wiring.Component):
    """The places of those stores of one store unit that are not yet in memory, those to one word in one entry.

    A store unit collects up to 128 stores before it sends them, and memory takes some hundred cycles more. An entry for
    each store would need too many comparators; if places go up or down by one, an entry for each word is enough, with a
    bit for each place in it.

    Rules
    -----
    1. Places enter in program order, one a cycle. A place in the same word as the place before joins its entry, unless
       the entry has as many stores as a word has places, or an access waits for it: an access that waits for an entry
       waits for earlier stores only.
    2. The oldest entry leaves when all its stores are in memory: the store unit reports how many became visible
       (``retired``), in order.
    3. ``match`` says of each entry whether it contains one of the queried places.
    4. An entry that left is not ``occupied`` for a cycle at least.

    Parameters
    ----------
    place_bits : width of a place; entries : words in the circular buffer, a power of two; per_word : places in a word,
        a power of two
    queries : places compared at a time
    shown : whether the contents are ports, for a user that compares them itself

    Ports
    -----
    held, at : with ``shown``: the word in each entry, and the entry that a place that enters is in then
    enter, room, queries, match, occupied, retired : as for :class:`~rtl_lib.lsu.hazard.StoreTable`
    asked : the queries of this cycle count: their access waits for the entries that match
    newest : the entry that was allocated or joined last
    """

    def __init__(self, place_bits: int, entries: int, per_word: int, queries: int, shown: bool = False) -> None:
        require_power_of_two("entries", entries, 4)
        require_power_of_two("per_word", per_word, 2)
        self.place_bits, self.entries, self.per_word, self.shown = place_bits, entries, per_word, shown
        place = data.StructLayout({"valid": 1, "place": place_bits})
        super().__init__(
            {
                "enter": In(place),
                "room": Out(1),
                "queries": In(data.ArrayLayout(place, queries)),
                "asked": In(1),
                "match": Out(entries),
                "occupied": Out(entries),
                "retired": In(RETIRED_BITS),
                "newest": Out(range(entries), init=entries - 1),
                **(contents(place_bits - (per_word.bit_length() - 1), entries) if shown else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build entries of a word number, a mask of its places and a count of its stores, and a comparator for each."""
        m = Module()
        shift, entries = self.per_word.bit_length() - 1, range(self.entries)
        words = [Signal(self.place_bits - shift, name=f"word{k}", reset_less=True) for k in entries]
        masks = [Signal(self.per_word, name=f"mask{k}", reset_less=True) for k in entries]
        counts = Array(Signal(range(self.per_word + 1), name=f"count{k}", reset_less=True) for k in entries)
        oldest, used = Signal(entries), Signal(range(self.entries + 1))
        newest, following, joins, leaves = self.newest, Signal.like(self.newest), Signal(), Signal()
        # a copy of the newest entry, as selecting it among all takes too long before a comparison
        word, mask, count = Signal.like(words[0]), Signal.like(masks[0]), Signal(range(self.per_word + 1))
        # the newest entry exists and may grow; an access waits for it; a new entry begins
        grows, waited, opens = Signal(), Signal(), Signal()
        enters, place, bit = self.enter.valid, self.enter.place[shift:], 1 << self.enter.place[:shift]

        def found(held, bits):
            return Cat(
                query.valid & (query.place[shift:] == held) & bits.bit_select(query.place[:shift], 1)
                for query in self.queries
            ).any()

        m.d.comb += [
            following.eq(newest + 1),
            self.room.eq(used < self.entries - 1),
            self.match.eq(
                Cat(on & found(held, bits) for on, held, bits in zip(self.occupied, words, masks, strict=True))
            ),
            waited.eq(self.asked & grows & found(word, mask)),
            joins.eq(enters & grows & (place == word) & ~waited),
            opens.eq(enters & ~joins),
            leaves.eq(self._over(m, counts, oldest, leaves, joins)),
        ]
        with m.If(joins):
            m.d.sync += [mask.eq(mask | bit), count.eq(count + 1), grows.eq(count != self.per_word - 1)]
        with m.Elif(opens):
            m.d.sync += [word.eq(place), mask.eq(bit), count.eq(1), newest.eq(following), grows.eq(1)]
        with m.Elif(waited | (leaves & (oldest == newest))):
            m.d.sync += grows.eq(0)
        for k in entries:
            with m.If(joins & (newest == k)):
                m.d.sync += [masks[k].eq(mask | bit), counts[k].eq(count + 1)]
            with m.Elif(opens & (following == k)):
                m.d.sync += [words[k].eq(place), masks[k].eq(bit), counts[k].eq(1), self.occupied[k].eq(1)]
            with m.Elif(leaves & (oldest == k)):
                m.d.sync += self.occupied[k].eq(0)
        m.d.sync += [oldest.eq(oldest + leaves), used.eq(used + opens - leaves)]
        if self.shown:
            m.d.comb += [self.at.eq(Mux(joins, newest, following)), *(o.eq(w) for o, w in zip(self.held, words))]
        return m

    def _over(self, m: Module, counts, oldest, leaves, joins):
        """Whether all stores of the oldest entry are in memory. Their number is looked up a cycle ahead."""
        due, known, then = Signal.like(counts[0]), Signal(), Signal.like(oldest)
        # visible stores whose places are still in the table; one report may contain more than that
        done = Signal(range(self.entries * self.per_word + (1 << RETIRED_BITS)))
        after, behind = Signal.like(due), Signal.like(oldest)
        m.d.comb += [behind.eq(oldest + 1), after.eq(counts[behind]), then.eq(Mux(leaves, behind, oldest))]
        there = Mux(leaves, self.occupied.bit_select(behind, 1), self.occupied.bit_select(oldest, 1))
        m.d.sync += [
            due.eq(Mux(leaves, after, counts[oldest])),
            known.eq(there & ~(joins & (self.newest == then))),
            done.eq(done + self.retired - Mux(leaves, due, 0)),
        ]
        return known & (done >= due) & ~(joins & (self.newest == oldest))
