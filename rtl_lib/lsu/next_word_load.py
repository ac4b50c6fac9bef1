"""Load unit that requests the word behind the one in use, for addresses that move on by what the loads return."""

from collections.abc import Iterable
from typing import Any

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.fetch import FetchPath
from rtl_lib.lsu.load import load_ports
from rtl_lib.lsu.observe import observe_reads
from rtl_lib.mem.ports import ReadPort

__all__ = ["NextWordLoadUnit", "words_requested"]


def words_requested(addresses: Iterable[int], word_bytes: int, burst_align: int) -> list[int]:
    """Golden: the addresses of the words that are requested for ``addresses``, without a flush."""
    found: list[int] = []
    current = guess = None
    for word in (address // word_bytes for address in addresses):
        if word == current:
            continue
        found += [word] if word != guess else []
        current, guess = word, word + 1 if (word + 1) * word_bytes % burst_align else None
        found += [guess] if guess is not None else []
    return [word * word_bytes for word in found]


@shared
class NextWordLoadUnit(wiring.Component):
    """Load that prefetches one word (one block lookahead: Smith 1982).

    A loop that merges two lists asks for the next element when it has compared the last one. So each access that needs
    another word would wait for memory. This unit requests that word when accesses come to the one before it.

    Rules
    -----
    1. Data leaves in the order of the addresses, one for each: :func:`~rtl_lib.lsu.load.load` gives the values.
    2. With each word that an access needs, the next one of its aligned block of ``burst_align`` bytes is requested: no
       request leaves the block of an address. The words requested are :func:`words_requested` between flushes.
    3. If the next access that needs another word needs a different one, the word requested ahead is dropped, which
       takes a cycle when it has arrived. So it is if ``flush`` was high since it was requested.
    4. After a ``flush`` no address accepted in that cycle or later is answered from a word requested before.
    5. Bursts, reservation and rate are those of :class:`~rtl_lib.lsu.fetch.FetchPath`, rules 2 to 4.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    As for :class:`~rtl_lib.lsu.fetch.FetchPath`.

    Ports
    -----
    As for :class:`~rtl_lib.lsu.load.LoadUnit`.
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
    ) -> None:
        self.access_bytes, self.word_bytes = access_bytes, word_bytes
        self._path: dict[str, Any] = {
            "access_bytes": access_bytes,
            "word_bytes": word_bytes,
            "addr_bits": addr_bits,
            "depth": depth,
            "max_burst": max_burst,
            "pending": pending,
            "burst_align": burst_align,
            "patience": patience,
        }
        self._block_bits = exact_log2(burst_align // word_bytes)
        super().__init__(load_ports(access_bytes, addr_bits, ReadPort(word_bytes, addr_bits, max_burst)))

    def elaborate(self, platform: object) -> Module:
        """Build the comparisons with the word in use and the one requested ahead, and the path that fetches words."""
        m = Module()
        m.submodules.path = path = FetchPath(**self._path, reads_ahead=True, drops=True)
        connect(m, path.o, wiring.flipped(self.o))
        connect(m, path.mem, wiring.flipped(self.mem))
        access, ahead = path.i.payload, path.ahead
        word, current, known = access.word, Signal.like(access.word), Signal()
        guessed, stale = Signal(), Signal()  # a word is or will be requested ahead; it may be older than a store
        fresh, right, waits, drops, taken = Signal(), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            self.error.eq(path.error),
            word.eq(self.i.payload[exact_log2(self.word_bytes) :]),
            fresh.eq((word != current) | ~known | self.flush),
            right.eq((word == ahead.payload) & ~stale & ~self.flush),
            waits.eq(fresh & ahead.valid),
            drops.eq(fresh & guessed & ~right),
            path.i.valid.eq(self.i.valid & ~waits),
            self.i.ready.eq(path.i.ready & ~waits & ~drops),
            taken.eq(self.i.valid & self.i.ready),
            access.asked.eq(guessed),
            access.select.next.eq(fresh),
            access.select.drop.eq(drops),
            access.select.offset.eq(self.i.payload[exact_log2(self.access_bytes) :]),
        ]
        with m.If(taken):
            m.d.sync += [current.eq(word), known.eq(1)]
        with m.Elif(self.flush):
            m.d.sync += known.eq(0)
        with m.If(taken & fresh):
            goes_on = ~word[: self._block_bits].all() if self._block_bits else Const(0)
            m.d.sync += [ahead.payload.eq(word + 1), ahead.valid.eq(goes_on), guessed.eq(goes_on), stale.eq(0)]
        with m.Else():
            m.d.sync += stale.eq(stale | self.flush)
            with m.If(ahead.ready):
                m.d.sync += ahead.valid.eq(0)
            with m.If(path.i.valid & path.i.ready & drops):
                m.d.sync += guessed.eq(0)
        observe_reads(m, self)
        return m
