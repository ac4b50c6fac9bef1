"""Read-ahead: requests the words of a run before their accesses arrive."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared
from rtl_lib.steps import count

__all__ = ["RunAhead", "words_ahead"]


def words_ahead(word: int, last: int, most: int) -> list[int]:
    """Golden: the words after ``word`` requested by the time that a run which ends in ``last`` has reached it."""
    block = _block(most)
    return list(range(word + 1, min(last, word + block // 2 | block - 1) + 1))


def _block(most: int) -> int:
    """Words of a block: the greatest power of two up to ``most``."""
    return 1 << most.bit_length() - 1


@shared
class RunAhead(wiring.Component):
    """Requests the words that accesses will need next, one burst after the other.

    Single accesses are too slow to form bursts: a word of 64 bytes serves sixteen loads of floats, and a burst would
    have to wait for 256. But where a loop is known to continue, its words may be requested in advance. Those of a block
    are requested as soon as accesses have reached the middle of the block before: in time, even if several units
    request theirs at once.

    Rules
    -----
    1. After ``begin`` or ``reach`` with ``word`` the words up to the last one of :func:`words_ahead` are offered at
       ``o``, in order, each once.
    2. ``asked`` is high while words have been taken at ``o`` that no ``reach`` has reached; ``reach`` is high only
       together with it.
    3. ``busy`` is high from ``begin`` on until the last word of the run has been reached. ``begin`` comes only while
       none is offered and ``asked`` is low.

    Parameters
    ----------
    word_bits : width of word numbers
    most : words of the longest burst, at least 2; a block has the greatest power of two up to it

    Ports
    -----
    begin : an access requests ``word`` itself; ``last`` is the last word of its run, ``word`` itself or a later one
    reach : an access reaches the next ``word``, which was requested before
    o : stream of word numbers
    asked, busy : see rules
    """

    def __init__(self, *, word_bits: int, most: int) -> None:
        if most < 2:
            raise ValueError(f"most must be 2 words at least, to be bursts, not {most!r}")
        self.block_bits = _block(most).bit_length() - 1
        super().__init__(
            {
                "begin": In(1),
                "reach": In(1),
                "word": In(word_bits),
                "last": In(word_bits),
                "o": Out(stream.Signature(word_bits)),
                "asked": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the number of the next word to request, and the decision how far ahead of the accesses it may be."""
        m = Module()
        bits, offered, sent = self.block_bits, self.o.payload, self.o.valid & self.o.ready
        # more: while a word is offered, request the block after this one, too; while none is, words of the run are left
        ahead, last, more = Signal(range(2 << bits)), Signal.like(self.last), Signal()
        half, goes_on, ends, left = Signal(), Signal(), Signal(), Signal()
        begun = self.word[:bits]  # after the last word of a block another one begins anyway
        m.d.comb += [
            self.asked.eq(ahead != 0),
            self.busy.eq(self.o.valid | self.asked),
            half.eq(self.reach & (self.word[:bits] == 1 << bits - 1)),
            goes_on.eq(more | half),
            ends.eq(offered[:bits].all()),
            left.eq(offered != last),
        ]
        count(m, ahead, sent, self.reach)
        with m.If(self.begin):
            follow = self.word != self.last
            m.d.sync += [
                self.o.valid.eq(follow),
                offered.eq(self.word + 1),
                last.eq(self.last),
                more.eq(follow & begun[-1] & ~begun.all()),
            ]
        with m.Elif(sent):
            m.d.sync += [
                self.o.valid.eq(left & (~ends | goes_on)),
                offered.eq(offered + 1),
                more.eq(left & (ends ^ goes_on)),
            ]
        with m.Elif(half):  # if nothing is offered, ``offered`` is the first word of a block
            m.d.sync += [self.o.valid.eq(self.o.valid | more), more.eq(self.o.valid)]
        return m
