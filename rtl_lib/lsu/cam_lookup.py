"""Lookup of a cache whose places are allocated in circular order: finds the cached word of an access."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import overload

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ports import require_power_of_two

__all__ = ["WordFinder", "fold", "words_placed"]


@overload
def fold(word: int, bits: int) -> int: ...
@overload
def fold(word: Value, bits: int) -> Value: ...
def fold(word: int | Value, bits: int) -> int | Value:
    """Golden and hardware: all bits of a word number, folded to ``bits`` by exclusive or."""
    if isinstance(word, int):
        folded = 0
        while word:
            folded, word = folded ^ word & (1 << bits) - 1, word >> bits
        return folded
    parts = [word[low : low + bits] for low in range(0, len(word), bits)]
    whole: Value = Const(0, bits)
    for part in parts:
        whole = whole ^ part
    return whole


def words_placed(words: Iterable[int], places: int, kept: int, index_bits: int) -> list[int]:
    """Golden: the words that miss, in order, if each access arrives after the one before it is decided."""
    hints: dict[int, int] = {}
    placed: list[int] = []
    for word in words:
        n = hints.get(fold(word, index_bits))
        if n is None or placed[n] != word or len(placed) - n > kept:
            hints[fold(word, index_bits)] = len(placed)
            placed.append(word)
    return placed


@dataclass(frozen=True)
class _Step:
    """The step in which a hint is read: whether all move on, and whether there is an ``access``; its hint, and the
    owner that was read with the hint of the step before."""

    go: Value
    busy: Value
    access: Signal
    hint: Value
    owner: Value


@shared
class WordFinder(wiring.Component):
    """Remembers the word that each place of a circular buffer was allocated to.

    A table of hints, indexed by the folded word number, returns the place where a word may be; a second table returns
    the word that is in that place. Only the second one decides, so the first needs neither tags nor clearing: a flush
    takes one cycle, and the contents of the tables after reset do not matter.

    An access reads a hint in its first step, the owner of that place in its second one, and leaves. The output of a
    block RAM is late in its cycle, and what follows the comparison with the owner is long: ``registered`` puts a
    register between them, which the access passes in a third step.

    Rules
    -----
    1. Accesses leave in order of arrival, :meth:`timing_of` later, one a cycle.
    2. An access with ``next`` (a miss) is allocated the next place in circular order when it leaves.
    3. An access with ``again`` uses the word in ``place``: that place was allocated to its word, it was one of the last
       ``kept`` allocated, and no flush has come in between. While ``calm`` is high, it may have been one of the last
       ``reach``; with ``deep`` it was not one of the last ``kept``.
    4. An access with neither uses the same word as the access before it. It need not come here: ``in_use`` is the word
       of the access before, while none is inside and no flush has come since that one left.
    5. :func:`words_placed` are the words that miss while ``calm`` is low, and with ``reach`` instead of ``kept`` those
       while it is high; accesses in quick succession whose words share an index may miss less often.

    Parameters
    ----------
    word_bits, offset_bits : widths of word numbers and of the data that accompanies them
    places : a power of two; kept : fewer; reach : ``kept`` to ``places`` - 1
    index_bits : the table of hints has 2 ** index_bits entries
    registered : whether the result of the comparison with the owner is registered

    Ports
    -----
    i : stream of ``{word, offset}``
    o : stream of ``{word, next, again, deep, place, offset}``
    calm : places further back may be used, too
    flush : words placed so far are stale for accesses accepted in this cycle or later
    in_use : ``{valid, word}``, see rule 4
    """

    @staticmethod
    def timing_of(registered: bool) -> Timing:
        """The timing of a finder."""
        return Timing(latency=3 if registered else 2)

    def __init__(
        self,
        *,
        word_bits: int,
        offset_bits: int,
        places: int,
        kept: int,
        index_bits: int,
        reach: int | None = None,
        registered: bool = False,
    ) -> None:
        require_power_of_two("places", places, 2)
        if not 0 < kept < places:
            raise ValueError(f"kept must be 1 to {places - 1}, fewer than the places, not {kept!r}")
        reach = kept if reach is None else reach
        if not kept <= reach < places:
            raise ValueError(
                f"reach must be {kept} to {places - 1}, from what is kept on, fewer than the places, not {reach!r}"
            )
        self.places, self.kept, self.reach, self.index_bits = places, kept, reach, index_bits
        self.registered = registered
        found: dict[str, ShapeLike] = {
            "word": word_bits,
            "next": 1,
            "again": 1,
            "deep": 1,
            "place": range(places),
            "offset": offset_bits,
        }
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"word": word_bits, "offset": offset_bits}))),
                "o": Out(stream.Signature(data.StructLayout(found))),
                "calm": In(1),
                "flush": In(1),
                "in_use": Out(data.StructLayout({"valid": 1, "word": word_bits})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the table of hints, the table of the words in the places, and the pipeline that reads one after the
        other."""
        m = Module()
        go, busy, current = Signal(), Signal(), Signal()  # current: the word of the access before is not stale
        looked_up, youngest = Signal.like(self.i.payload), Signal.like(self.o.payload.place)
        m.d.comb += [go.eq(~self.o.valid | self.o.ready), self.i.ready.eq(go)]
        with m.If(go):
            m.d.sync += busy.eq(self.i.valid)
        with m.If(go & self.i.valid):
            m.d.sync += looked_up.eq(self.i.payload)
        hint, owner = self._tables(m, go, busy, looked_up.word, youngest)
        step = _Step(go, busy, looked_up, hint, owner)
        inside = self._decide_later(m, step, youngest, current) if self.registered else self._decide(m, step, youngest)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += current.eq(1)
        with m.If(self.flush):
            m.d.sync += current.eq(0)
        m.d.comb += [
            self.in_use.valid.eq(current & ~self.flush & ~busy & ~inside),
            self.in_use.word.eq(self.o.payload.word),
        ]
        return m

    def _decide(self, m: Module, step, youngest):
        """Compare with the owner, and decide at once; returns whether an access is behind the first step."""
        found, checked, hint_used = self.o.payload, Signal.like(self.i.payload), Signal.like(self.o.payload.place)
        same, latest = Signal(), Signal.like(found.place)  # latest: place of the access before
        known, deep = self._ring(m, found, youngest)
        m.d.comb += [
            found.word.eq(checked.word),
            found.offset.eq(checked.offset),
            found.place.eq(Mux(same, latest, hint_used)),
            found.next.eq(~known | (~same & (step.owner != checked.word))),
            found.again.eq(known & ~same & (step.owner == checked.word)),
            found.deep.eq(found.again & deep),
        ]
        with m.If(step.go):
            m.d.sync += self.o.valid.eq(step.busy)
        with m.If(step.go & step.busy):  # the access before has left: its place is ``latest`` from now on
            m.d.sync += [checked.eq(step.access), hint_used.eq(step.hint), same.eq(step.access.word == checked.word)]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += latest.eq(Mux(found.next, youngest, found.place))
        return self.o.valid

    def _decide_later(self, m: Module, step, youngest, current):
        """Compare with the owner, and decide a step later; returns whether an access is behind the first step.

        While an access is compared, the one before it is decided, which may allocate a place: so it is decided here for
        both cases, and chosen there. The place that is allocated is not that of a hint that still counts, as it was
        allocated longest ago.

        The hint of an access was read before the two accesses in front of it had left. It is compared with both.
        """
        found, compared, decided = self.o.payload, Signal.like(self.i.payload), Signal.like(self.i.payload)
        valid, hint_used, latest = Signal(), Signal.like(found.place), Signal.like(found.place)
        same, near, changed = Signal(), Signal(), Signal()  # the word of the access before, of that before it
        moved, repeats, place = Signal(), Signal(), Signal.like(found.place)
        hits, deeps = Signal(2), Signal(2)  # if the access before allocates no place, and if it does
        leaves, placed = self.o.valid & self.o.ready, Signal()
        candidate = Mux(near, latest, hint_used)  # with ``near``, ``latest`` is not yet that of the access before
        age, in_date = self._age(m, candidate, youngest, placed)
        dated, matches = age < in_date, near | ((step.owner == compared.word) & ~changed)
        with m.If(step.go):
            m.d.sync += [valid.eq(step.busy), self.o.valid.eq(valid)]
        with m.If(step.go & step.busy):
            m.d.sync += [
                compared.eq(step.access),
                hint_used.eq(step.hint),
                same.eq(step.access.word == compared.word),
                near.eq(step.access.word == decided.word),
                changed.eq(placed & (step.hint == youngest)),  # so the owner read is the one before, or undefined
            ]
        with m.If(step.go & valid):
            m.d.sync += [
                decided.eq(compared),
                place.eq(candidate),
                repeats.eq(same),
                moved.eq(placed),
                hits.eq(Cat(dated & matches, dated & (age != self.reach - 1) & matches)),
                deeps.eq(Cat(age >= self.kept, age >= self.kept - 1)),
            ]
        with m.If(self.flush):
            m.d.sync += hits.eq(0)
        hit, deep = Signal(), Signal()
        m.d.comb += [
            placed.eq(leaves & found.next),
            deep.eq(Mux(moved, deeps[1], deeps[0])),
            hit.eq(Mux(moved, hits[1], hits[0]) & (self.calm | ~deep)),
            found.word.eq(decided.word),
            found.offset.eq(decided.offset),
            found.place.eq(place),
            found.next.eq(~Mux(repeats, current, hit)),
            found.again.eq(~repeats & hit),
            found.deep.eq(found.again & deep),
        ]
        with m.If(placed):
            m.d.sync += latest.eq(youngest)
        with m.Elif(leaves & ~repeats):
            m.d.sync += latest.eq(place)
        return valid | self.o.valid

    def _ring(self, m: Module, found, youngest):
        """Return whether the place of the access on offer is valid, and whether it lies deep."""
        deep = Signal()
        age, in_date = self._age(m, found.place, youngest, self.o.valid & self.o.ready & found.next)
        m.d.comb += deep.eq(age >= self.kept)
        return (age < in_date) & (self.calm | ~deep), deep

    def _age(self, m: Module, place, youngest, placed):
        """Count the words ``placed``; return how many were since the one in ``place``, and how many of the last count,
        of ``reach`` at most."""
        age, in_date = Signal.like(place), Signal(range(self.reach + 1))
        with m.If(placed):
            m.d.sync += youngest.eq(youngest + 1)
        with m.If(self.flush):
            m.d.sync += in_date.eq(0)
        with m.Elif(placed & (in_date != self.reach)):
            m.d.sync += in_date.eq(in_date + 1)
        m.d.comb += age.eq(youngest - 1 - place)
        return age, in_date

    def _tables(self, m: Module, go, busy, word, youngest):
        """Return the hint for the word looked up, and the word in the place of the hint of the cycle before.

        Both tables are written when a miss leaves, and reads see a write of the same cycle. Only the access directly
        after a miss, or the two after it, have read the table of hints too early for that: ``same`` and ``near`` are
        for these. Where the owner is registered, a write of the same cycle does not count, which saves the multiplexer
        behind a block RAM: ``changed`` is for that.
        """
        found = self.o.payload
        m.submodules.hints = hints = Memory(shape=len(youngest), depth=1 << self.index_bits, init=[])
        unchecked = {"no_rw_check": 1} if self.registered else {}
        m.submodules.owners = owners = Memory(shape=len(word), depth=self.places, init=[], attrs=unchecked)
        hint_write, owner_write = hints.write_port(), owners.write_port()
        hint_read = hints.read_port(transparent_for=[hint_write])
        owner_read = owners.read_port(transparent_for=[] if self.registered else [owner_write])
        m.d.comb += [
            hint_read.en.eq(go & self.i.valid),
            hint_read.addr.eq(fold(self.i.payload.word, self.index_bits)),
            owner_read.en.eq(go & busy),
            owner_read.addr.eq(hint_read.data),
            hint_write.en.eq(self.o.valid & self.o.ready & found.next),
            hint_write.addr.eq(fold(found.word, self.index_bits)),
            hint_write.data.eq(youngest),
            owner_write.en.eq(hint_write.en),
            owner_write.addr.eq(youngest),
            owner_write.data.eq(found.word),
        ]
        return hint_read.data, owner_read.data
