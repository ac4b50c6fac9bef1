"""The places of stores on their way, kept by words: for stores of which many come to a word one after the other."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared
from rtl_lib.lsu.store import RETIRED_BITS
from rtl_lib.mem.ports import require_power_of_two

__all__ = ["WordTable"]


@shared
class WordTable(wiring.Component):
    """The places of the stores of one store unit that are not yet in memory, those to one word in one entry.

    A store unit gathers up to 128 stores before it sends them, and memory takes some hundred cycles more. An entry for each
    is too many comparisons; but where places go up or down by one, an entry for each word is enough, with a bit for each place in it.

    Rules
    -----
    1. Places enter in program order, one a cycle. One in the same word as the place before joins its entry, unless an entry
       has as many stores as a word has places, or somebody waits for it: what waits for an entry waits for earlier stores only.
    2. The oldest entry leaves when all its stores are in memory: the store unit says how many became visible (``retired``), in order.
    3. ``match`` says of each entry whether it has one of the places asked for.
    4. An entry that left is not ``occupied`` for a cycle at least.

    Parameters
    ----------
    place_bits : width of a place; entries : words in the ring, a power of two; per_word : places in a word, a power of two
    queries : places compared at a time

    Ports
    -----
    enter, room, queries, match, occupied, retired : as for :class:`~rtl_lib.lsu.hazard.StoreTable`
    asked : what is asked for counts: whoever asks waits for what matches
    newest : the entry that stores came to last
    """

    def __init__(self, place_bits, entries, per_word, queries):
        require_power_of_two("entries", entries, 4)
        require_power_of_two("per_word", per_word, 2)
        self.place_bits, self.entries, self.per_word = place_bits, entries, per_word
        place = data.StructLayout({"valid": 1, "place": place_bits})
        super().__init__({
            "enter": In(place),
            "room": Out(1),
            "queries": In(data.ArrayLayout(place, queries)),
            "asked": In(1),
            "match": Out(entries),
            "occupied": Out(entries),
            "retired": In(RETIRED_BITS),
            "newest": Out(range(entries), init=entries - 1),
        })

    def elaborate(self, platform):
        m = Module()
        shift = self.per_word.bit_length() - 1
        words = Array(Signal(self.place_bits - shift, name=f"word{k}", reset_less=True) for k in range(self.entries))
        masks = Array(Signal(self.per_word, name=f"mask{k}", reset_less=True) for k in range(self.entries))
        counts = Array(Signal(range(self.per_word + 1), name=f"count{k}", reset_less=True) for k in range(self.entries))
        oldest, newest, used = Signal(range(self.entries)), self.newest, Signal(range(self.entries + 1))
        grows = Signal()  # the newest entry is there, and may take more
        joins, leaves, following = Signal(), Signal(), Signal.like(newest)
        word, bit = self.enter.place[shift:], 1 << self.enter.place[:shift]

        m.d.comb += [
            following.eq(newest + 1),
            self.room.eq(used < self.entries - 1),
            self.match.eq(Cat(on & Cat(query.valid & (query.place[shift:] == held) & mask.bit_select(query.place[:shift], 1) for query in self.queries).any()
                              for on, held, mask in zip(self.occupied, words, masks, strict=True))),
            joins.eq(self.enter.valid & grows & (word == words[newest]) & ~(self.asked & self.match.bit_select(newest, 1))),
            leaves.eq((used != 0) & self._over(m, counts[oldest], leaves) & ~(joins & (oldest == newest))),
        ]
        with m.If(joins):
            m.d.sync += [masks[newest].eq(masks[newest] | bit), counts[newest].eq(counts[newest] + 1), grows.eq(counts[newest] != self.per_word - 1)]
        with m.Elif(self.enter.valid):
            m.d.sync += [words[following].eq(word), masks[following].eq(bit), counts[following].eq(1), newest.eq(following), grows.eq(1),
                         self.occupied.bit_select(following, 1).eq(1)]
        with m.Elif((self.asked & self.match.bit_select(newest, 1)) | (leaves & (oldest == newest))):
            m.d.sync += grows.eq(0)
        with m.If(leaves):
            m.d.sync += [self.occupied.bit_select(oldest, 1).eq(0), oldest.eq(oldest + 1)]
        m.d.sync += used.eq(used + (self.enter.valid & ~joins) - leaves)
        return m

    def _over(self, m, count, leaves):
        """Whether so many stores, the oldest that are still here, are in memory."""
        done = Signal(RETIRED_BITS + 8)  # visible stores whose places are still here
        m.d.sync += done.eq(done + self.retired - Mux(leaves, count, 0))
        return done >= count
