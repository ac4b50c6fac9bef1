"""Buffer of the words returned by memory, and the current one."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ports import require_power_of_two, response_layout
from rtl_lib.mem.ram import Ram
from rtl_lib.steps import after, count, next_place

__all__ = ["WordBuffer", "cut", "select_layout"]


def select_layout(access_bytes: int, word_bytes: int, kept_places: int = 0, drops: bool = False) -> data.StructLayout:
    """Selects a piece of a word: ``next`` in order of arrival, or ``again`` that in ``place``; else the current one.

    Without kept places there is only ``next``. ``offset`` counts pieces. With ``drops`` it may
    ``drop`` the word, and have no piece.
    """
    require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
    again: dict[str, ShapeLike] = {"again": 1, "place": range(kept_places)} if kept_places else {}
    dropped: dict[str, ShapeLike] = {"drop": 1} if drops else {}
    return data.StructLayout({"next": 1, **again, **dropped, "offset": exact_log2(word_bytes // access_bytes)})


@shared
class WordBuffer(wiring.Component):
    """Stores words as they arrive and outputs pieces of them in the order requested.

    The output register of the block RAM holds the current word: no other wide register is needed.

    Rules
    -----
    1. A piece requested with ``next`` is cut from the next word in order of arrival, any other from the same word as
       the piece before. It is output when that word has arrived, one a cycle.
    2. A response is never refused: the user reserves its place first, never more than ``free``. A place is
       free again when the word becomes the current one.
    3. The n-th word lies in place n modulo ``pending + kept``. A piece may be requested with ``again`` when at most
       ``kept`` words have been reserved after its word, that one included. (At most ``pending`` more can be until it is
       output, so it cannot be overwritten.) Later requests are correct, too, if the user reserves that much less until
       then.
    4. A request with ``next`` and ``drop`` makes the next word the current one, and outputs nothing.

    Parameters
    ----------
    access_bytes : size of a piece, a power of two up to ``word_bytes``
    word_bytes : size of a word
    pending : words it has room for before they become the current one
    max_reserve : most words reserved at once
    kept : further places, where words stay after their use
    drops : whether requests have a ``drop``

    Ports
    -----
    reserve : words reserved in this cycle; ``free`` : words that can be
    response : of a :class:`~rtl_lib.mem.ports.ReadPort`
    select : stream of :func:`select_layout`
    o : stream of pieces, :attr:`timing` after ``select``; ``error`` : the word of the piece on offer came with an error
    """

    timing = Timing(latency=1)

    def __init__(
        self, *, access_bytes: int, word_bytes: int, pending: int, max_reserve: int, kept: int = 0, drops: bool = False
    ) -> None:
        if not isinstance(pending, int) or pending < max_reserve:
            raise ValueError(f"pending must be at least the longest burst, {max_reserve} words, not {pending!r}")
        self.pieces, self.pending, self.kept, self.places = word_bytes // access_bytes, pending, kept, pending + kept
        self.drops = drops
        select = select_layout(access_bytes, word_bytes, self.places if kept else 0, drops)
        super().__init__(
            {
                "reserve": In(range(max_reserve + 1)),
                "free": Out(range(pending + 1), init=pending),
                "response": In(stream.Signature(response_layout(word_bytes))),
                "select": In(stream.Signature(select)),
                "o": Out(stream.Signature(8 * access_bytes)),
                "error": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a RAM of words as a circular buffer, and the multiplexer that cuts pieces out of its output
        register."""
        m = Module()
        shape = data.StructLayout({"data": len(self.response.payload.data), "error": 1})
        m.submodules.words = words = Ram(width=shape.size, depth=self.places, collides=False)
        write, read = words.write, words.read
        kept = data.View(shape, read.data)
        oldest = Signal.like(read.addr)  # of the words not yet used
        arrived = Signal()  # one of them has
        take, take_next = Signal(), Signal()
        select = self.select.payload
        offset = Signal.like(select.offset)

        m.d.comb += [
            self.response.ready.eq(1),
            write.en.eq(self.response.valid),
            write.data.eq(Cat(self.response.payload.data, self.response.payload.error)),
            self.select.ready.eq((~self.o.valid | self.o.ready) & (~select.next | arrived)),
            take.eq(self.select.valid & self.select.ready),
            take_next.eq(take & select.next),
            read.en.eq(take_next | (take & select.again) if self.kept else take_next),
            read.addr.eq(Mux(select.again, select.place, oldest) if self.kept else oldest),
            self.error.eq(kept.error),
        ]
        m.d.sync += arrived.eq(write.en | arrived & ~(take_next & (self._behind(oldest) == write.addr)))
        if len(self.reserve) == 1:
            count(m, self.free, take_next, self.reserve)
        else:
            m.d.sync += self.free.eq(self.free + take_next - self.reserve)
        output = take & ~select.drop if self.drops else take
        m.d.sync += self.o.valid.eq(output | (self.o.valid & ~self.o.ready))
        with m.If(take):
            m.d.sync += offset.eq(select.offset)
        for place, moves in ((write.addr, write.en), (oldest, take_next)):
            with m.If(moves):
                m.d.sync += place.eq(self._behind(place))
        cut(m, self.o.payload, kept.data, offset)
        return m

    def _behind(self, place: Value) -> Value:
        """The place that is used after ``place``: in any order unless places are counted by the user, who keeps
        words."""
        return after(place, self.places) if self.kept else next_place(place, self.places)


def cut(m: Module, target: Signal, word: Value, offset: Value) -> None:
    """Drive ``target`` with the piece of ``word`` whose index is ``offset``.

    A case for each piece rather than a shift: simulators shift the whole word to extract a few bytes of it, and the
    distance would be a product.
    """
    size, pieces = len(target), len(word) // len(target)
    if pieces == 1:
        m.d.comb += target.eq(word)
        return
    with m.Switch(offset):
        for n in range(pieces):
            with m.Case(n):
                m.d.comb += target.eq(word[n * size : (n + 1) * size])
