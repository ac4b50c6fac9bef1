"""Words of a run asked for before their accesses come."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared

__all__ = ["RunAhead", "words_ahead"]


def words_ahead(word, last, most):
    """Golden: the words asked for behind ``word`` when a run that ends in ``last`` comes to it."""
    block = 1 << most.bit_length() - 1
    return list(range(word + 1, min(last, word | block - 1) + 1))


@shared
class RunAhead(wiring.Component):
    """Asks for the words that accesses will come to next, up to the end of a burst.

    One access for a word at a time is too few to make bursts of: a word of 64 bytes lasts sixteen loads of floats, and another burst
    would have to wait for 256. But where a loop is known to go on, its words may be asked for as one of them begins a block.

    Rules
    -----
    1. After ``begin`` with ``word`` and ``last`` the words :func:`words_ahead` are offered at ``o``, one a cycle.
    2. ``asked`` is high while words have been taken at ``o`` that no ``reach`` has come to; ``reach`` comes with it only.
    3. ``busy`` is high until all words of a run have been taken and reached. ``begin`` comes only while none is offered and ``asked`` is low.

    Parameters
    ----------
    word_bits : width of numbers of words
    most : words of the longest burst; a run ends where a multiple of the greatest power of two up to it begins

    Ports
    -----
    begin : an access asks for ``word`` itself; ``last`` is the last word that its run comes to, ``word`` itself or a later one
    reach : an access comes to the next word
    o : stream of numbers of words
    asked, busy : see rules
    """

    def __init__(self, *, word_bits, most):
        self.block_bits = most.bit_length() - 1
        super().__init__({
            "begin": In(1),
            "reach": In(1),
            "word": In(word_bits),
            "last": In(word_bits),
            "o": Out(stream.Signature(word_bits)),
            "asked": Out(1),
            "busy": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        stop, ahead, sent = Signal.like(self.last), Signal(range(1 << self.block_bits)), self.o.valid & self.o.ready
        m.d.comb += [self.asked.eq(ahead != 0), self.busy.eq(self.o.valid | self.asked)]
        m.d.sync += ahead.eq(ahead + sent - self.reach)
        with m.If(self.begin):
            m.d.sync += [self.o.valid.eq(~self._ends(self.word, self.last)), self.o.payload.eq(self.word + 1), stop.eq(self.last)]
        with m.Elif(sent):
            m.d.sync += [self.o.valid.eq(~self._ends(self.o.payload, stop)), self.o.payload.eq(self.o.payload + 1)]
        return m

    def _ends(self, word, last):
        """Whether no word is asked for behind this one."""
        return (word == last) | word[:self.block_bits].all()
