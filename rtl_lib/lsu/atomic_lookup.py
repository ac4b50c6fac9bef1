"""Tag lookup of the atomic cache: where the word of an operation is, or will be when the operation executes."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.lsu.cam_lookup import fold
from rtl_lib.lsu.departure_queue import Departures
from rtl_lib.mem.ports import require_power_of_two
from rtl_lib.mem.ram import Ram

__all__ = ["AtomicLookup"]

#: bits of the epoch, the number of invalidations; when it overflows, all places are cleared one after the other
EPOCH_BITS = 6
#: bits of a word number that distinguish leaving words of the same place
KEY_BITS = 6


@shared
class AtomicLookup(wiring.Component):
    """Direct-mapped lookup: maps each word of memory to a place by its number, and requests words that miss.

    The table holds the state of each place after all operations that have passed the lookup. So a word is requested at
    once, while the operations ahead still use the word that it replaces.

    Rules
    -----
    1. Operations leave in order of arrival, :attr:`timing` later at the earliest, with the ``place`` of their word.
    2. With ``miss`` the word is not in its place yet: ``reads`` has requested it, in the order in which misses leave.
       With ``leaves`` another word is evicted for it; ``gone`` says that it has left, in that order.
    3. A word that is leaving is not requested before it is gone: its operation waits, and all after it.
    4. After ``forget`` no place holds a word. It comes while nothing is inside and nothing is leaving; nothing is
       accepted while ``busy``.

    Parameters
    ----------
    shape : of the value that passes through
    word_bits : of a word's number; places : of the cache, a power of two; leaving : evicted words in flight at most

    Ports
    -----
    i : stream of ``{word, value}``; o : stream of ``{value, word, place, miss, leaves}``; reads : stream of word
        numbers
    gone, forget : strobes; busy : places are being cleared
    """

    timing = Timing(latency=3)

    def __init__(self, *, shape: ShapeLike, word_bits: int, places: int, leaving: int) -> None:
        require_power_of_two("places", places, 2)
        self.shape, self.word_bits, self.places, self.places_leaving = shape, word_bits, places, leaving
        self.place_bits = exact_log2(places)
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"word": word_bits, "value": shape}))),
                "o": Out(
                    stream.Signature(
                        data.StructLayout(
                            {"value": shape, "word": word_bits, "place": self.place_bits, "miss": 1, "leaves": 1}
                        )
                    )
                ),
                "reads": Out(stream.Signature(word_bits)),
                "gone": In(1),
                "forget": In(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the table of words, the queue of words that are leaving, and the three stages of the lookup."""
        m = Module()
        m.submodules.table = table = Ram(width=self.word_bits + EPOCH_BITS, depth=self.places)
        m.submodules.departures = departures = Departures(
            key_bits=self.place_bits + KEY_BITS, places=self.places_leaving
        )
        m.d.comb += departures.gone.eq(self.gone)
        # three stages that move together: read the table, compare, act on the result
        asked, found, done = (self._stage(name) for name in ("asked", "found", "done"))
        step = Signal()
        here, replaces, blocked, old = Signal(), Signal(), Signal(), Signal(self.word_bits)
        epoch = self._forget(m, table)
        m.d.comb += [self.i.ready.eq(step & ~self.busy), table.read.en.eq(step), table.read.addr.eq(asked["place"])]
        with m.If(step):
            m.d.sync += [
                asked["valid"].eq(self.i.valid & self.i.ready),
                asked["word"].eq(self.i.payload.word),
                asked["place"].eq(fold(self.i.payload.word, self.place_bits)),
                asked["value"].eq(self.i.payload.value),
            ]
            m.d.sync += [found[name].eq(asked[name]) for name in asked]
            m.d.sync += [done[name].eq(found[name]) for name in found]
            self._compare(m, table, epoch, found, done, (here, replaces, old))
        self._wait_for_those_leaving(m, departures, step, (found, done), blocked)
        self._issue(m, departures, done, (here, replaces, blocked, old), step)
        with m.If(self.reads.valid & self.reads.ready):
            m.d.comb += [
                table.write.en.eq(1),
                table.write.addr.eq(done["place"]),
                table.write.data.eq(Cat(done["word"], epoch)),
            ]
        return m

    def _stage(self, name):
        return {
            "valid": Signal(name=f"{name}_valid"),
            "word": Signal(self.word_bits, name=f"{name}_word"),
            "place": Signal(self.place_bits, name=f"{name}_place"),
            "value": Signal(self.shape, name=f"{name}_value"),
        }

    def _forget(self, m: Module, table):
        """The epoch, which distinguishes valid entries from earlier ones; the table is cleared after a reset, and when
        the epoch overflows."""
        epoch, clearing, place = Signal(EPOCH_BITS, init=1), Signal(init=1), Signal(self.place_bits)
        m.d.comb += self.busy.eq(clearing)
        with m.If(self.forget):
            m.d.sync += epoch.eq(epoch + 1)
            with m.If(epoch.all()):
                m.d.sync += [clearing.eq(1), epoch.eq(1)]
        with m.If(clearing):
            m.d.comb += [table.write.en.eq(1), table.write.addr.eq(place), table.write.data.eq(0)]
            m.d.sync += [place.eq(place + 1), clearing.eq(~place.all())]
        return epoch

    def _compare(self, m: Module, table, epoch, found, done, results) -> None:
        """The word that the place will hold: that of the last access to it, if that is not in the table yet, or was not
        when the table was read."""
        here, replaces, old = results
        last = {name: Signal.like(done[name], name=f"last_{name}") for name in ("valid", "word", "place")}
        m.d.sync += [last[name].eq(done[name]) for name in last]
        entry, known = table.read.data[: self.word_bits], table.read.data[self.word_bits :] == epoch
        close, near = (each["valid"] & (each["place"] == found["place"]) for each in (done, last))
        m.d.sync += [
            here.eq(
                Mux(
                    close,
                    done["word"] == found["word"],
                    Mux(near, last["word"] == found["word"], known & (entry == found["word"])),
                )
            ),
            replaces.eq(close | near | known),
            old.eq(Mux(close, done["word"], Mux(near, last["word"], entry))),
        ]

    def _key(self, word, place):
        return Cat(place, word[:KEY_BITS])

    def _wait_for_those_leaving(self, m: Module, departures, step, stages, blocked) -> None:
        """Whether the word of the last stage is leaving: compared while the access moves there, and again while it
        waits."""
        found, done = stages
        word, place = (Mux(step, found[name], done[name]) for name in ("word", "place"))
        m.d.comb += departures.asked.eq(self._key(word, place))
        m.d.sync += blocked.eq(departures.leaving)

    def _issue(self, m: Module, departures, done, results, step) -> None:
        here, replaces, blocked, old = results
        payload, may_read = self.o.payload, Signal()
        m.d.comb += [
            may_read.eq(~blocked & (departures.enter.ready | ~replaces)),
            self.reads.valid.eq(done["valid"] & ~here & may_read & self.o.ready),
            self.reads.payload.eq(done["word"]),
            self.o.valid.eq(done["valid"] & (here | may_read & self.reads.ready)),
            departures.enter.valid.eq(self.reads.valid & self.reads.ready & replaces),
            departures.enter.payload.eq(self._key(old, done["place"])),
            payload.value.eq(done["value"]),
            payload.word.eq(done["word"]),
            payload.place.eq(done["place"]),
            payload.miss.eq(~here),
            payload.leaves.eq(~here & replaces),
            step.eq(~done["valid"] | self.o.valid & self.o.ready),
        ]
