"""Load unit of a pipeline that stands still while a word is not here, for addresses that move on by small steps."""

from collections.abc import Iterable

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.lsu.burst import MAX_ALIGN, BurstBuilder
from rtl_lib.lsu.burst_queue import BurstQueue
from rtl_lib.lsu.observe import Observation
from rtl_lib.lsu.word_assembler import cut
from rtl_lib.mem.ports import ReadPort, require_power_of_two
from rtl_lib.mem.ram import Ram
from rtl_lib.steps import after, count, reached

__all__ = ["SteppingLoadUnit", "runs_of"]


def runs_of(addresses: Iterable[int], word_bytes: int) -> list[tuple[int, int]]:
    """Golden: the first and the last word of each run of words that ``addresses`` use one after the other, as byte
    addresses. The words requested are these runs, each followed by at most ``ahead`` words."""
    runs: list[tuple[int, int]] = []
    for word in (address // word_bytes * word_bytes for address in addresses):
        if runs and word == runs[-1][1] + word_bytes:
            runs[-1] = runs[-1][0], word
        elif not runs or word != runs[-1][1]:
            runs.append((word, word))
    return runs


@shared
class SteppingLoadUnit(wiring.Component):
    """Load inside a pipeline, whose data comes a fixed number of steps of the pipeline after its address.

    Where what is loaded decides the next address, a loop waits for the way to the unit and back. A unit inside the
    pipeline answers in a fixed number of steps, and holds the pipeline while it has not got a word. So that this is
    seldom, it requests words ahead of the accesses, which come to them if they are addresses of a stream that moves on.

    Rules
    -----
    1. The data of an address that is given in a step is offered :attr:`timing` steps later; a step is a cycle with
       ``go``. :func:`~rtl_lib.lsu.load.load` gives the values.
    2. ``ready`` is low while the word of an access is needed and has not arrived; ``go`` is low then. It depends on
       registers only.
    3. An access to the word of the access before, or to the next word, goes on in the run of words that is requested
       ahead; any other access begins a run, as does the first one and each that is given while or after ``flush`` was
       high. What was requested for the run before is dropped as it arrives.
    4. At most ``ahead`` words behind the one in use are requested: when at most half of them are left, all others. The
       runs are those of :func:`runs_of` between flushes.
    5. Responses are never refused: a place is reserved for each word before it is requested. A word that memory answers
       with an error is kept like any other: the error comes with the data of each access to it, and what becomes of
       that is known only to the pipeline.

    Parameters
    ----------
    access_bytes, word_bytes : bytes, powers of two, the first no larger; addresses are naturally aligned
    addr_bits : width of byte addresses
    ahead : words, a power of two from 2 on
    max_burst : words; burst_align : bytes, a power of two up to 4096

    Ports
    -----
    i : byte addresses, ``valid`` in a step only
    go : the pipeline makes a step; ready : it may
    data : of the access of :attr:`timing` steps ago; error : its word came with an error
    flush : words requested before are stale for addresses given in this cycle or later
    mem : :class:`ReadPort`
    observe : :class:`Observation`
    """

    timing = Timing(latency=4)

    def __init__(
        self,
        *,
        access_bytes: int,
        word_bytes: int,
        addr_bits: int = 64,
        ahead: int = 16,
        max_burst: int = 16,
        burst_align: int = 1024,
    ) -> None:
        require_power_of_two("word_bytes", word_bytes)
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        require_power_of_two("ahead", ahead, 2)
        require_power_of_two("burst_align", burst_align, word_bytes, MAX_ALIGN)
        self.access_bytes, self.word_bytes, self.ahead = access_bytes, word_bytes, ahead
        self.places = 2 * ahead  # a run may begin while the words of the one before are under way
        self._geometry = {"word_bytes": word_bytes, "addr_bits": addr_bits, "max_burst": max_burst}
        self._burst_align = burst_align
        super().__init__(
            {
                "i": In(data.StructLayout({"valid": 1, "addr": addr_bits})),
                "go": In(1),
                "ready": Out(1),
                "data": Out(8 * access_bytes),
                "error": Out(1),
                "flush": In(1),
                "mem": Out(ReadPort(**self._geometry)),
                "observe": Out(Observation()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the steps of an access, the requests ahead of it, and the words that have arrived."""
        m = Module()
        asks, begins = Signal(), Signal()
        word = Signal(len(self.i.addr) - exact_log2(self.word_bytes))
        fresh, waits, takes, offset = self._look_up(m, word, begins)
        drops, arrived, wanted, gone = self._words(m, takes, begins, asks, offset)
        m.d.comb += [self.ready.eq(~fresh | (~waits & (drops == 0) & (arrived != 0))), takes.eq(fresh & self.go)]
        self._ask(m, word, begins, asks, wanted, gone)
        request, response = self.mem.request, self.mem.response
        m.d.comb += [
            self.observe.accepted.eq(self.i.valid),
            self.observe.stalled.eq(~self.ready),
            self.observe.burst.eq(request.valid & request.ready),
            self.observe.word.eq(response.valid),
            self.observe.error.eq(response.valid & response.payload.error),
        ]
        return m

    def _look_up(self, m: Module, word: Signal, begins: Signal) -> tuple[Value, Value, Signal, Signal]:
        """The first two steps of an access: is it to the word in use, to the next one, or elsewhere? Returns whether
        the access in the third step needs another word, whether that is of a run which has not begun, the strobe with
        which it is taken, and the piece that the access in the fourth step selects."""
        shift, pieces = exact_log2(self.word_bytes), exact_log2(self.word_bytes // self.access_bytes)
        piece = slice(exact_log2(self.access_bytes), shift)
        valid, addr, anew = Signal(), Signal.like(self.i.addr), Signal()
        needs, jumps, begun, stale = Signal(), Signal(), Signal(), Signal(init=1)
        used, following = Signal.like(word), Signal.like(word)
        first, second, third = addr[shift:], Signal(pieces), Signal(pieces)
        with m.If(self.i.valid):
            m.d.sync += stale.eq(0)
        with m.Elif(self.flush):
            m.d.sync += stale.eq(1)
        with m.If(self.go):
            same = (first == used) & ~anew
            m.d.sync += [
                valid.eq(self.i.valid),
                addr.eq(self.i.addr),
                anew.eq(stale | self.flush),
                needs.eq(valid & ~same),
                jumps.eq(anew | (first != following)),
                word.eq(first),
                second.eq(addr[piece]),
                third.eq(second),
                begun.eq(0),
            ]
            with m.If(valid):
                m.d.sync += [used.eq(first), following.eq(first + 1)]
        with m.Elif(begins):
            m.d.sync += begun.eq(1)
        waits = jumps & ~begun
        m.d.comb += begins.eq(needs & waits)
        return needs, waits, Signal(name="takes"), third

    def _words(
        self, m: Module, takes: Signal, begins: Signal, asks: Signal, offset: Signal
    ) -> tuple[Signal, Signal, Signal, Signal]:
        """The words as they arrive, the oldest of which is taken or dropped, and the last step of an access. Returns
        how many words are to be dropped before those of the run, how many are here, how many of the run have been
        requested and not taken, and the strobe with which a word goes."""
        shape = data.StructLayout({"data": 8 * self.word_bytes, "error": 1})
        m.submodules.words = words = Ram(width=shape.size, depth=self.places, collides=False)
        kept = data.View(shape, words.read.data)
        arrived, drops, wanted = (Signal(range(self.places + 1), name=n) for n in ("arrived", "drops", "wanted"))
        oldest, dropped, gone = Signal.like(words.read.addr), Signal(), Signal()
        response = self.mem.response
        m.d.comb += [
            response.ready.eq(1),
            words.write.en.eq(response.valid),
            words.write.data.eq(Cat(response.payload.data, response.payload.error)),
            words.read.en.eq(takes),
            words.read.addr.eq(oldest),
            dropped.eq((drops != 0) & (arrived != 0)),
            gone.eq(takes | dropped),
        ]
        count(m, arrived, response.valid, gone)
        with m.If(begins):
            # an access that begins a run comes after one that has its word, so nothing is left to drop of a run before
            m.d.sync += [drops.eq(wanted), wanted.eq(0)]
        with m.Else():
            m.d.sync += drops.eq(drops - dropped)
            count(m, wanted, asks, takes)
        for place, moves in ((words.write.addr, response.valid), (oldest, gone)):
            with m.If(moves):
                m.d.sync += place.eq(after(place, self.places))
        piece = Signal.like(self.data)
        cut(m, piece, kept.data, offset)
        with m.If(self.go):
            m.d.sync += [self.data.eq(piece), self.error.eq(kept.error)]
        return drops, arrived, wanted, gone

    def _ask(self, m: Module, word: Signal, begins: Signal, asks: Signal, wanted: Signal, gone: Signal) -> None:
        """Request the words of the run, as far as ``ahead`` allows and while there are places."""
        m.submodules.builder = builder = BurstBuilder(**self._geometry, burst_align=self._burst_align)
        m.submodules.requests = requests = BurstQueue(**self._geometry)
        requests.follow(m, builder)
        connect(m, builder.o, requests.i)
        connect(m, requests.o, wiring.flipped(self.mem.request))
        free, filling = Signal(range(self.places + 1), init=self.places), Signal()
        next_word, runs, offered = Signal.like(word), Signal(), Signal()
        m.d.comb += [
            offered.eq(runs & filling & ~begins & (free != 0) & (wanted != self.ahead + 1)),
            builder.i.valid.eq(offered),
            builder.i.payload.eq(next_word),
            builder.close.eq(~offered),
            builder.urgent.eq(reached(free, self.places)),
            asks.eq(offered & builder.i.ready),
        ]
        count(m, free, gone, asks)
        with m.If(begins):
            m.d.sync += [runs.eq(1), filling.eq(1), next_word.eq(word)]
        with m.Else():
            m.d.sync += filling.eq((filling & (wanted < self.ahead)) | (wanted <= self.ahead // 2))
            with m.If(asks):
                m.d.sync += next_word.eq(next_word + 1)
