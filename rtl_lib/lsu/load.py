"""Burst-coalescing load unit for any order of addresses: adjacent accesses share words, adjacent words share bursts."""

from collections.abc import Iterable
from typing import Any

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Member, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.fetch import FetchPath
from rtl_lib.lsu.observe import Observation, observe_reads
from rtl_lib.lsu.stream_run import RunAhead
from rtl_lib.mem.ports import ReadPort

__all__ = ["LoadUnit", "load", "load_ports"]


def load(memory: bytes | bytearray, addresses: Iterable[int], access_bytes: int) -> list[int]:
    """Golden: the little-endian values of ``access_bytes`` bytes at ``addresses`` of the bytes ``memory``."""
    return [int.from_bytes(memory[a : a + access_bytes], "little") for a in addresses]


def load_ports(
    access_bytes: int, addr_bits: int, mem: wiring.Signature, reads_ahead: bool = False
) -> dict[str, Member]:
    """The ports of a load unit that fetches through ``mem``, a signature; see :class:`LoadUnit`."""
    return {
        "i": In(
            stream.Signature(data.StructLayout({"addr": addr_bits, "last": addr_bits}) if reads_ahead else addr_bits)
        ),
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
       in the same cycle. The words fetched are :func:`~rtl_lib.lsu.burst.words_read` for each interval between flushes.
    3. Bursts, reservation and rate are those of :class:`~rtl_lib.lsu.fetch.FetchPath`, rules 2 to 4.
    4. With ``reads_ahead`` an address comes with the ``last`` one of its run: the words up to that one's are those of
       the next addresses, in order, each accessed at least once, before any other. They are fetched in bursts before
       their accesses (see :class:`~rtl_lib.lsu.stream_run.RunAhead`), and a ``flush`` discards only the last one of
       them.

    5. With ``own_words`` an access is a whole word, and each fetches it, whatever the one before it was: for accesses
       that seldom repeat a word. Rule 2 then does not hold.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    As for :class:`~rtl_lib.lsu.fetch.FetchPath`.

    Ports
    -----
    i : stream of byte addresses, or of ``{addr, last}``; o : stream of data
    error : the memory answered the access on offer at ``o`` with an error
    flush : the current word is stale for addresses accepted in this cycle or later
    mem : :class:`ReadPort`
    observe : :class:`Observation`; its ``error`` is a response that carries one
    """

    def __init__(
        self,
        *,
        access_bytes: int,
        word_bytes: int,
        addr_bits: int = 64,
        depth: int = 256,
        max_burst: int = 16,
        pending: int = 64,
        burst_align: int = 1024,
        patience: int = 4,
        reads_ahead: bool = False,
        own_words: bool = False,
    ) -> None:
        self.access_bytes, self.word_bytes, self.reads_ahead = access_bytes, word_bytes, reads_ahead
        self._path: dict[str, Any] = {
            "access_bytes": access_bytes,
            "word_bytes": word_bytes,
            "addr_bits": addr_bits,
            "depth": depth,
            "max_burst": max_burst,
            "pending": pending,
            "burst_align": burst_align,
            "patience": patience,
            "reads_ahead": reads_ahead,
            "own_words": own_words,
        }
        self.own_words = own_words
        self._most = max_burst
        super().__init__(load_ports(access_bytes, addr_bits, ReadPort(word_bytes, addr_bits, max_burst), reads_ahead))

    def elaborate(self, platform: object) -> Module:
        """Build the comparison with the word before, the path that fetches words, and with ``reads_ahead`` the requests
        ahead."""
        m = Module()
        m.submodules.path = path = FetchPath(**self._path)
        connect(m, path.o, wiring.flipped(self.o))
        connect(m, path.mem, wiring.flipped(self.mem))
        access, addr = path.i.payload, self.i.payload.addr if self.reads_ahead else self.i.payload
        m.d.comb += [
            self.error.eq(path.error),
            path.i.valid.eq(self.i.valid),
            self.i.ready.eq(path.i.ready),
            access.word.eq(addr[exact_log2(self.word_bytes) :]),
            access.select.offset.eq(addr[exact_log2(self.access_bytes) :]),
        ]
        if not self.own_words:
            runs = self._run_ahead(m, path) if self.reads_ahead else Const(0)
            m.d.comb += access.select.next.eq(self._fresh(m, path, runs))
        observe_reads(m, self)
        return m

    def _fresh(self, m: Module, path: Any, runs: Value) -> Value:
        """Whether the access needs another word: it is not the word of the access before, or that word is stale,
        unless a run is in progress. Unless words are read ahead, it is also the word that was requested last."""
        word, taken = path.i.payload.word, self.i.valid & self.i.ready
        current, known = Signal.like(word) if self.reads_ahead else path.last, Signal()
        if self.reads_ahead:
            with m.If(taken):
                m.d.sync += current.eq(word)
        with m.If(taken & ~runs):
            m.d.sync += known.eq(1)
        with m.Elif(self.flush):
            m.d.sync += known.eq(0)
        return (word != current) | (~runs & (~known | self.flush))

    def _run_ahead(self, m: Module, path: Any) -> Value:
        """Request the words of a run; returns whether one is in progress."""
        m.submodules.run = run = RunAhead(word_bits=len(path.i.payload.word), most=self._most)
        access, moves = path.i.payload, self.i.valid & self.i.ready & path.i.payload.select.next
        connect(m, run.o, path.ahead)
        m.d.comb += [
            access.asked.eq(run.asked),
            run.begin.eq(moves & ~run.asked),
            run.reach.eq(moves & run.asked),
            run.word.eq(access.word),
            run.last.eq(self.i.payload.last[exact_log2(self.word_bytes) :]),
        ]
        return run.busy
