"""Run-time memory disambiguation: an access waits only for earlier stores to its own address."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared
from rtl_lib.lsu.inflight_words import WordTable, contents
from rtl_lib.lsu.store import RETIRED_BITS

__all__ = ["HazardUnit", "StoreTable", "hazard_layout"]


def hazard_layout(place_bits: int, asking: int, stores: int) -> data.StructLayout:
    """The payload of a token: the places of its accesses to compare and those that its stores write, each ``valid`` if
    the access is made.

    Accesses overlap when their places are equal; a place is an address without the bits inside the largest access.
    """
    place = data.StructLayout({"valid": 1, "place": place_bits})
    return data.StructLayout({"asking": data.ArrayLayout(place, asking), "stores": data.ArrayLayout(place, stores)})


@shared
class StoreTable(wiring.Component):
    """A circular buffer of the places of those stores of one store unit that are not yet in memory.

    Rules
    -----
    1. Places enter in program order and leave in program order, one a cycle.
    2. The oldest leaves when its fate is known and is either "not made", or "made" and the store is in memory: the
       store unit reports how many stores became visible (``retired``), in order.
    3. With ``certain`` every store that enters is made; ``fate`` is ignored.

    Parameters
    ----------
    place_bits : width of a place; entries : places in the buffer, a power of two
    queries : places compared at a time; certain : whether every store that enters is made
    shown : whether the contents are ports, for a user that compares them itself

    Ports
    -----
    enter : ``{valid, place}``, only while ``room``; room : at least two places are free
    held, at : with ``shown``: the place in each entry, and the entry that is filled if a place enters
    queries : ``{valid, place}``; match : per entry, whether it is occupied by one of these places (combinational)
    occupied : per entry; retired : stores that became visible in this cycle
    fate : ``{valid, made}`` of the stores that entered, in order
    """

    def __init__(self, place_bits: int, entries: int, queries: int, certain: bool, shown: bool = False) -> None:
        if entries < 4 or entries & (entries - 1):
            raise ValueError(f"entries must be a power of two from 4 on, not {entries!r}")
        self.place_bits, self.entries, self.certain, self.shown = place_bits, entries, certain, shown
        place = data.StructLayout({"valid": 1, "place": place_bits})
        super().__init__(
            {
                "enter": In(place),
                "room": Out(1),
                "queries": In(data.ArrayLayout(place, queries)),
                "match": Out(entries),
                "occupied": Out(entries),
                "retired": In(RETIRED_BITS),
                "fate": In(data.StructLayout({"valid": 1, "made": 1})),
                **(contents(place_bits, entries) if shown else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a circular buffer of places with their states, and a comparator for each entry and place asked for."""
        m = Module()
        places = Array(Signal(self.place_bits, name=f"place{k}", reset_less=True) for k in range(self.entries))
        head, tail, used = Signal(range(self.entries)), Signal(range(self.entries)), Signal(range(self.entries + 1))
        done = Signal(RETIRED_BITS + 8)  # visible stores whose places are still in the table
        leaves = Signal()
        known, made = self._fate(m, head, leaves)
        m.d.comb += leaves.eq((used != 0) & known & (~made | (done != 0)))
        m.d.sync += done.eq(done + self.retired - (leaves & made))
        m.d.comb += [
            self.room.eq(used < self.entries - 1),
            self.match.eq(
                Cat(
                    on & Cat(query.valid & (place == query.place) for query in self.queries).any()
                    for on, place in zip(self.occupied, places, strict=True)
                )
            ),
        ]
        with m.If(self.enter.valid):
            m.d.sync += [places[tail].eq(self.enter.place), self.occupied.bit_select(tail, 1).eq(1), tail.eq(tail + 1)]
        with m.If(leaves):
            m.d.sync += [self.occupied.bit_select(head, 1).eq(0), head.eq(head + 1)]
        m.d.sync += used.eq(used + self.enter.valid - leaves)
        if self.shown:
            m.d.comb += [self.at.eq(tail), *(out.eq(place) for out, place in zip(self.held, places, strict=True))]
        return m

    def _fate(self, m: Module, head: Value, leaves: Value) -> tuple[Value, Value]:
        """(whether the fate of the oldest store is known, whether it is made)."""
        if self.certain:
            return C(1), C(1)
        made = Signal(self.entries)
        following, known = Signal(range(self.entries)), Signal(range(self.entries + 1))
        with m.If(self.fate.valid):
            m.d.sync += [made.bit_select(following, 1).eq(self.fate.made), following.eq(following + 1)]
        m.d.sync += known.eq(known + self.fate.valid - leaves)
        return known != 0, made.bit_select(head, 1)


@shared
class HazardUnit(wiring.Component):
    """Passes tokens in program order, each when no store of an earlier token that is in flight has a place that it
    accesses.

    Rules
    -----
    1. Tokens leave in order of arrival.
    2. A token leaves when none of the places that earlier tokens entered and that are still in a :class:`StoreTable`,
       or a :class:`~rtl_lib.lsu.inflight_words.WordTable`, is one that it compares with this table. Its own stores
       enter as it is compared, so every later token sees them.
    3. Without a match, one token passes a cycle, three cycles after it arrived.
    4. ``waits`` is high while a token is held by a match.

    Parameters
    ----------
    place_bits : width of a place; entries : of each table, or of one for all
    asks : for each place that a token compares, the numbers of the stores it is compared with
    certain : for each store, whether it is made whenever it enters
    per_word : for each store, 0, or the number of places in a word if they are kept by words; such stores are certain

    Ports
    -----
    i : stream of :func:`hazard_layout`; o : stream without payload; waits : see rule 4
    table{k} : inputs of the :class:`StoreTable` of store k: ``retired`` and ``fate``
    """

    def __init__(
        self,
        place_bits: int,
        entries: int | tuple[int, ...],
        asks: Sequence[Sequence[int]],
        certain: Sequence[bool],
        per_word: Sequence[int] = (),
    ) -> None:
        self.place_bits, self.asks, self.certain = place_bits, tuple(asks), tuple(certain)
        self.per_word = tuple(per_word) or (0,) * len(self.certain)
        self.entries = tuple(entries) if isinstance(entries, tuple) else (entries,) * len(self.certain)
        if any(many and not sure for many, sure in zip(self.per_word, self.certain, strict=True)):
            raise ValueError(f"stores that may not be made are not kept by words: {self.certain!r}, {self.per_word!r}")
        if {k for one in self.asks for k in one} != set(range(len(self.certain))):
            raise ValueError(f"each of {len(self.certain)} stores must be asked for, and no other, not {asks!r}")
        told = {}
        for k in range(len(self.certain)):
            told[f"retired{k}"] = In(RETIRED_BITS)
            told[f"fate{k}"] = In(data.StructLayout({"valid": 1, "made": 1}))
        super().__init__(
            {
                "i": In(stream.Signature(hazard_layout(place_bits, len(self.asks), len(self.certain)))),
                "o": Out(stream.Signature(0)),
                "waits": Out(1),
                **told,
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a table for each store unit, and two stages: one compares a token, the next holds it while a store
        blocks it."""
        m = Module()
        tables = self._tables(m)
        compared, held = Signal(), Signal()  # whether each stage holds a token
        masks = [Signal(table.entries, name=f"mask{k}") for k, table in enumerate(tables)]
        blocked = [mask & table.occupied for mask, table in zip(masks, tables, strict=True)]
        still = [Signal(table.entries, name=f"still{k}") for k, table in enumerate(tables)]
        conflict, moves, leaves = Signal(), Signal(), Signal()
        m.d.comb += [
            conflict.eq(Cat(still).any()),
            leaves.eq(held & ~conflict & (~self.o.valid | self.o.ready)),
            moves.eq(compared & (~held | leaves)),
            self.i.ready.eq((~compared | moves) & Cat(table.room for table in tables).all()),
            self.waits.eq(held & conflict),
        ]
        taken = self.i.valid & self.i.ready
        for table, mask, rest, blocks, place in zip(tables, masks, still, blocked, self.i.payload.stores, strict=True):
            m.d.comb += [table.enter.valid.eq(taken & place.valid), table.enter.place.eq(place.place)]
            if isinstance(table, WordTable):
                m.d.comb += table.asked.eq(taken)
            m.d.sync += [mask.eq(Mux(taken, table.match, blocks)), rest.eq(Mux(moves, blocks, rest & table.occupied))]
        m.d.sync += [
            compared.eq(taken | (compared & ~moves)),
            held.eq(moves | (held & ~leaves)),
            self.o.valid.eq(leaves | (self.o.valid & ~self.o.ready)),
        ]
        return m

    def _tables(self, m: Module) -> list[StoreTable | WordTable]:
        tables = []
        for k, certain in enumerate(self.certain):
            asking = [place for place, wanted in zip(self.i.payload.asking, self.asks, strict=True) if k in wanted]
            table: WordTable | StoreTable
            if self.per_word[k]:
                table = WordTable(self.place_bits, self.entries[k], self.per_word[k], len(asking))
            else:
                table = StoreTable(self.place_bits, self.entries[k], len(asking), certain)
                m.d.comb += table.fate.eq(getattr(self, f"fate{k}"))
            m.submodules[f"table{k}"] = table
            m.d.comb += [query.eq(place) for query, place in zip(table.queries, asking, strict=True)]
            m.d.comb += table.retired.eq(getattr(self, f"retired{k}"))
            tables.append(table)
        return tables
