"""Load unit for any order of addresses: neighbours share words, words share bursts."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.fetch import FetchPath
from rtl_lib.lsu.observe import Observation, observe_reads
from rtl_lib.mem.ports import ReadPort

__all__ = ["LoadUnit", "load", "load_ports"]


def load(memory, addresses, access_bytes):
    """Golden: the little-endian values of ``access_bytes`` bytes at ``addresses`` of the bytes ``memory``."""
    return [int.from_bytes(memory[a:a + access_bytes], "little") for a in addresses]


def load_ports(access_bytes, addr_bits, mem):
    """The ports of a load unit that fetches through ``mem``, a signature; :class:`LoadUnit` says what they are."""
    return {
        "i": In(stream.Signature(addr_bits)),
        "o": Out(stream.Signature(8 * access_bytes)),
        "error": Out(1),
        "flush": In(1),
        "mem": Out(mem),
        "observe": Out(Observation()),
    }


@shared
class LoadUnit(wiring.Component):
    """Burst-coalescing load.

    Rules
    -----
    1. Data leaves in the order of the addresses, one for each. :func:`load` gives the values.
    2. An address in the same word as the address before it fetches nothing, unless ``flush`` was high in between or
       with it. The words fetched are :func:`~rtl_lib.lsu.burst.words_read` for each stretch between flushes.
    3. Bursts, reservation and rate are those of :class:`~rtl_lib.lsu.fetch.FetchPath`, rules 2 to 4.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    As for :class:`~rtl_lib.lsu.fetch.FetchPath`.

    Ports
    -----
    i : stream of byte addresses; o : stream of data
    error : the memory answered the access on offer at ``o`` with an error
    flush : the word in use is out of date for addresses taken in this cycle or later
    mem : :class:`ReadPort`
    observe : :class:`Observation`; ``error`` there is a response that carries one
    """

    def __init__(self, *, access_bytes, word_bytes, addr_bits=64, depth=256, max_burst=16, pending=64,
                 burst_align=1024, patience=4):
        self.access_bytes, self.word_bytes = access_bytes, word_bytes
        self._path = {"access_bytes": access_bytes, "word_bytes": word_bytes, "addr_bits": addr_bits, "depth": depth,
                      "max_burst": max_burst, "pending": pending, "burst_align": burst_align, "patience": patience}
        super().__init__(load_ports(access_bytes, addr_bits, ReadPort(word_bytes, addr_bits, max_burst)))

    def elaborate(self, platform):
        m = Module()
        m.submodules.path = path = FetchPath(**self._path)
        connect(m, path.o, wiring.flipped(self.o))
        connect(m, path.mem, wiring.flipped(self.mem))
        access = path.i.payload
        m.d.comb += [
            self.error.eq(path.error),
            path.i.valid.eq(self.i.valid),
            self.i.ready.eq(path.i.ready),
            access.word.eq(self.i.payload[exact_log2(self.word_bytes):]),
            access.select.offset.eq(self.i.payload[exact_log2(self.access_bytes):]),
            access.select.next.eq(self._fresh(m, access.word)),
        ]
        observe_reads(m, self)
        return m

    def _fresh(self, m, word):
        """Whether the word must be fetched: it is not the one of the access before."""
        current, known = Signal.like(word), Signal()
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [current.eq(word), known.eq(1)]
        with m.Elif(self.flush):
            m.d.sync += known.eq(0)
        return ~known | self.flush | (word != current)
