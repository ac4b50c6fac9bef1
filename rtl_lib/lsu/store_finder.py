"""Store-to-load forwarding: finds the newest store in flight to the address of a load."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared
from rtl_lib.lsu.hazard import StoreTable, hazard_layout
from rtl_lib.lsu.inflight_words import WordTable
from rtl_lib.lsu.store import RETIRED_BITS

__all__ = ["NewestStores", "StoreFinder", "finder_layout", "slots_of"]


def slots_of(entries: int, per_word: int) -> int:
    """The slots of a store operation: one for each place that its table can hold."""
    return entries * max(1, per_word)


def finder_layout(asks: Sequence[Sequence[int]], slot_bits: int, stores: int) -> data.StructLayout:
    """The answer to a token: for each place that it compares, and each store operation that this is compared with,
    whether a store in flight has it (``hit``) and the ``slot`` of the newest such store; then the slot of each of its
    own stores."""
    found = data.StructLayout({"hit": 1, "slot": slot_bits})
    return data.StructLayout(
        {"found": data.ArrayLayout(found, sum(map(len, asks))), "stores": data.ArrayLayout(slot_bits, stores)}
    )


@shared
class NewestStores(wiring.Component):
    """The places of those stores of one store operation that are not yet in memory, and which of them are the newest
    to their place.

    Rules
    -----
    1. Places enter and leave as in a :class:`~rtl_lib.lsu.hazard.StoreTable`, or with ``per_word`` as in a
       :class:`~rtl_lib.lsu.inflight_words.WordTable`.
    2. A place that enters has slot ``at``, until its entry has left and is filled again.
    3. ``match`` says of each entry whether it holds the newest store to the queried place: a store that enters, here or
       in another table (``killed``), hides the earlier ones to its place.

    Parameters
    ----------
    place_bits, entries, per_word, certain : as for the tables; queries : places compared at a time
    killers : stores of a token, of all tables

    Ports
    -----
    enter, room, retired, fate : as for the tables; hidden : a later store of the same token has the place that enters
    killed : ``{valid, place}`` of each store of a token that enters
    queries : places; match : per query and entry (combinational); at : the slot of the place that enters
    """

    def __init__(self, place_bits: int, entries: int, per_word: int, queries: int, certain: bool, killers: int) -> None:
        self.place_bits, self.entries, self.per_word, self.certain = place_bits, entries, per_word, certain
        place = data.StructLayout({"valid": 1, "place": place_bits})
        super().__init__(
            {
                "enter": In(place),
                "hidden": In(1),
                "killed": In(data.ArrayLayout(place, killers)),
                "room": Out(1),
                "queries": In(data.ArrayLayout(place_bits, queries)),
                "match": Out(data.ArrayLayout(entries, queries)),
                "at": Out(range(slots_of(entries, per_word))),
                "retired": In(RETIRED_BITS),
                "fate": In(data.StructLayout({"valid": 1, "made": 1})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the table of places, and a bit for each place that the newest store to it sets and later ones clear."""
        m = Module()
        m.submodules.table = table = self._table(m)
        low = max(1, self.per_word).bit_length() - 1
        # the places of an entry whose newest store is in it
        live = [Signal(max(1, self.per_word), name=f"live{k}", reset_less=True) for k in range(self.entries)]
        m.d.comb += [
            table.enter.eq(self.enter),
            table.retired.eq(self.retired),
            self.room.eq(table.room),
            self.at.eq(Cat(self.enter.place[:low], table.at)),
        ]

        def bits(place):
            return (C(1) << place[:low]) if low else C(1)

        for k, mask in enumerate(live):
            held = table.held[k]
            hidden: Value = C(0, len(mask))
            for store in self.killed:
                hidden = hidden | Mux(store.valid & (store.place[low:] == held), bits(store.place), 0)
            kept = mask & ~hidden & table.occupied.bit_select(k, 1).replicate(len(mask))
            own = Mux(self.hidden, 0, bits(self.enter.place))
            m.d.sync += mask.eq(kept)
            with m.If(self.enter.valid & (table.at == k)):
                m.d.sync += mask.eq(kept | own)
            for query, match in zip(self.queries, self.match, strict=True):
                there = mask.bit_select(query[:low], 1) if low else mask[0]
                m.d.comb += match[k].eq(table.occupied[k] & there & (query[low:] == held))
        return m

    def _table(self, m: Module):
        if self.per_word:
            words = WordTable(self.place_bits, self.entries, self.per_word, 0, shown=True)
            m.d.comb += words.asked.eq(0)
            return words
        table = StoreTable(self.place_bits, self.entries, 0, self.certain, shown=True)
        m.d.comb += table.fate.eq(self.fate)
        return table


@shared
class StoreFinder(wiring.Component):
    """Tells each token, in program order, which stores in flight wrote the places that it reads.

    A store keeps its slot until a later token's store gets it. So a reader that finds a slot here, and reads the slot's
    value in program order, reads what that store wrote, also if the store is in memory by then.

    Rules
    -----
    1. Tokens leave in order of arrival, two cycles later, one a cycle; they wait only while a table has no room.
    2. A place that is compared with a store operation hits if the newest store to it, of an earlier token, is one of
       that operation and not yet in memory. So it hits at most one.
    3. Stores enter as the token is compared; of two stores of one token the later one in the order of numbers is newer.
    4. ``waits`` is high while a token waits for room.

    Parameters
    ----------
    place_bits, entries, asks, certain, per_word : as for :class:`~rtl_lib.lsu.hazard.HazardUnit`; slot_bits : of slots

    Ports
    -----
    i : stream of :func:`~rtl_lib.lsu.hazard.hazard_layout`; o : stream of :func:`finder_layout`
    retired{k}, fate{k}, waits : as for :class:`~rtl_lib.lsu.hazard.HazardUnit`
    """

    def __init__(
        self,
        place_bits: int,
        entries: Sequence[int],
        asks: Sequence[Sequence[int]],
        certain: Sequence[bool],
        per_word: Sequence[int],
        slot_bits: int,
    ) -> None:
        self.place_bits, self.asks, self.certain = place_bits, tuple(asks), tuple(certain)
        self.entries, self.per_word, self.slot_bits = tuple(entries), tuple(per_word), slot_bits
        if max(map(slots_of, self.entries, self.per_word)) > 1 << slot_bits:
            raise ValueError(f"tables of {entries!r} entries, words of {per_word!r}, need more than {slot_bits} bits")
        if any(many and not sure for many, sure in zip(self.per_word, self.certain, strict=True)):
            raise ValueError(f"stores that may not be made are not kept by words: {self.certain!r}, {self.per_word!r}")
        told = {}
        for k in range(len(self.certain)):
            told[f"retired{k}"] = In(RETIRED_BITS)
            told[f"fate{k}"] = In(data.StructLayout({"valid": 1, "made": 1}))
        super().__init__(
            {
                "i": In(stream.Signature(hazard_layout(place_bits, len(self.asks), len(self.certain)))),
                "o": Out(stream.Signature(finder_layout(self.asks, slot_bits, len(self.certain)))),
                "waits": Out(1),
                **told,
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a table for each store operation, and the two stages in which a token is compared with all of them."""
        m = Module()
        tables, stores = self._tables(m), self.i.payload.stores
        go, taken, compared = Signal(), Signal(), Signal()
        room = Cat(table.room for table in tables).all()
        m.d.comb += [
            go.eq(~self.o.valid | self.o.ready),
            self.i.ready.eq(go & room),
            taken.eq(self.i.valid & self.i.ready),
            self.waits.eq(self.i.valid & ~room),
        ]
        for k, table in enumerate(tables):
            later = Cat(s.valid & (s.place == stores[k].place) for s in stores[k + 1 :]) if stores[k + 1 :] else C(0)
            m.d.comb += [
                table.enter.valid.eq(taken & stores[k].valid),
                table.enter.place.eq(stores[k].place),
                table.hidden.eq(later.any()),
            ]
            for killed, store in zip(table.killed, stores, strict=True):
                m.d.comb += [killed.valid.eq(taken & store.valid), killed.place.eq(store.place)]
        with m.If(go):
            m.d.sync += [compared.eq(taken), self.o.valid.eq(compared)]
            self._answer(m, tables)
        return m

    def _answer(self, m: Module, tables) -> None:
        """Two registers: which entry matches, then its number."""
        answers, asked = iter(self.o.payload.found), [0] * len(tables)
        for place, numbers in zip(self.i.payload.asking, self.asks, strict=True):
            for k in numbers:
                table, low = tables[k], max(1, self.per_word[k]).bit_length() - 1
                match, inside = Signal(self.entries[k]), Signal(low)
                m.d.comb += table.queries[asked[k]].eq(place.place)
                on = place.valid.replicate(self.entries[k])
                m.d.sync += [match.eq(table.match[asked[k]] & on), inside.eq(place.place[:low])]
                asked[k] += 1
                answer = next(answers)
                m.d.sync += [answer.hit.eq(match.any()), answer.slot.eq(Cat(inside, _number(match)))]
        for k, table in enumerate(tables):
            slot = Signal.like(table.at)
            m.d.sync += [slot.eq(table.at), self.o.payload.stores[k].eq(slot)]

    def _tables(self, m: Module):
        tables = []
        for k, certain in enumerate(self.certain):
            queries = sum(k in numbers for numbers in self.asks)
            table = NewestStores(
                self.place_bits, self.entries[k], self.per_word[k], queries, certain, len(self.certain)
            )
            m.submodules[f"table{k}"] = table
            m.d.comb += [table.retired.eq(getattr(self, f"retired{k}")), table.fate.eq(getattr(self, f"fate{k}"))]
            tables.append(table)
        return tables


def _number(match):
    """The position of the only bit that is set, as a sum of products; 0 if there is none."""
    width = (len(match) - 1).bit_length()
    return Cat(Cat(match[e] for e in range(len(match)) if e >> b & 1).any() for b in range(width))
