"""Load unit with a cache of the words it has fetched, for addresses that return to them."""

from typing import Any

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import connect
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.barrier_loop_guard import PlaceGuard
from rtl_lib.lsu.cam_lookup import WordFinder
from rtl_lib.lsu.fetch import FetchPath
from rtl_lib.lsu.load import load_ports
from rtl_lib.lsu.observe import observe_reads
from rtl_lib.mem.ports import ReadPort, require_power_of_two

__all__ = ["CachedLoadUnit"]


@shared
class CachedLoadUnit(wiring.Component):
    """Burst-coalescing load with a cache.

    One RAM is both the buffer in which words arrive and the cache in which they stay: a circular buffer of ``words``
    places, allocated in order, so that the oldest word is evicted. Whether an access hits is decided when it arrives
    (:class:`~rtl_lib.lsu.cam_lookup.WordFinder`); it waits in order for its word, while later ones are already being
    fetched. So each miss costs the transfer of a word, and only the first one costs latency.

    Rules
    -----
    1. Data leaves in the order of the addresses, one for each: :func:`~rtl_lib.lsu.load.load` gives the values.
    2. A word that was fetched is not fetched again until ``words - pending`` others were, or ``flush``; except for a
       word that shares an index with another, which is rare (four times as many indices as words). While no more than
       an eighth of ``pending`` words are in flight, it is ``words - pending / 4`` others
       (:class:`~rtl_lib.lsu.barrier_loop_guard.PlaceGuard`).
    3. After a ``flush`` no address accepted in that cycle or later is answered from a word fetched before.
    4. Bursts, reservation and rate are those of :class:`~rtl_lib.lsu.fetch.FetchPath`, rules 2 to 4.
    5. An access to the word of the access before that comes while no other is in flight is answered in the next cycle,
       five cycles after the access otherwise, six if ``registered``.

    Addresses are naturally aligned: the bits below ``access_bytes`` are ignored.

    Parameters
    ----------
    words : places in all, a power of two; ``pending`` of them are for words in flight
    registered : whether the lookup has a cycle more (:class:`~rtl_lib.lsu.cam_lookup.WordFinder`)
    The others as for :class:`~rtl_lib.lsu.fetch.FetchPath`.

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
        words: int = 512,
        depth: int = 256,
        max_burst: int = 16,
        pending: int = 64,
        burst_align: int = 1024,
        patience: int = 4,
        registered: bool = False,
    ) -> None:
        require_power_of_two("words", words, 2)
        if pending >= words:
            raise ValueError(f"words must exceed pending, {pending} words, not {words!r}")
        self.access_bytes, self.word_bytes = access_bytes, word_bytes
        kept = words - pending
        self._path: dict[str, Any] = {
            "access_bytes": access_bytes,
            "word_bytes": word_bytes,
            "addr_bits": addr_bits,
            "depth": depth,
            "max_burst": max_burst,
            "pending": pending,
            "burst_align": burst_align,
            "patience": patience,
            "kept": kept,
        }
        self.margin = 2 * max(1, pending // 8)
        self._finder = {
            "places": words,
            "kept": kept,
            "reach": max(kept, words - self.margin),
            "index_bits": exact_log2(words) + 2,
        }
        self.depth, self.pending, self.registered = depth, pending, registered
        super().__init__(load_ports(access_bytes, addr_bits, ReadPort(word_bytes, addr_bits, max_burst)))

    def elaborate(self, platform: object) -> Module:
        """Build the lookup of the word, the path that fetches missing words, and the guard that limits the words
        placed."""
        m = Module()
        m.submodules.path = path = FetchPath(**self._path, counted=True)
        m.submodules.finder = finder = WordFinder(
            word_bits=len(path.i.payload.word),
            offset_bits=len(path.i.payload.select.offset),
            registered=self.registered,
            **self._finder,
        )
        m.submodules.guard = guard = PlaceGuard(depth=self.depth, margin=self.margin)
        connect(m, path.o, wiring.flipped(self.o))
        connect(m, path.mem, wiring.flipped(self.mem))
        found, access = finder.o.payload, path.i.payload
        held, taken, same = Signal(), Signal(), Signal()
        asked = finder.i.payload
        m.d.comb += [
            self.error.eq(path.error),
            finder.flush.eq(self.flush),
            # nothing is in flight, so the path takes it
            same.eq(self.i.valid & finder.in_use.valid & (asked.word == finder.in_use.word) & path.empty),
            finder.i.valid.eq(self.i.valid & ~same),
            self.i.ready.eq(finder.i.ready),
            asked.word.eq(self.i.payload[exact_log2(self.word_bytes) :]),
            asked.offset.eq(self.i.payload[exact_log2(self.access_bytes) :]),
            held.eq(found.next & guard.hold),
            path.i.valid.eq((finder.o.valid & ~held) | same),
            finder.o.ready.eq(path.i.ready & ~held),
            taken.eq(path.i.valid & path.i.ready & ~same),
            guard.deep.eq(taken & found.deep),
            guard.placed.eq(taken & found.next),
            guard.level.eq(path.level),
            guard.answered.eq(path.answered),
            access.word.eq(found.word),
            *(getattr(access.select, name).eq(getattr(found, name) & ~same) for name in ("next", "again")),
            access.select.place.eq(found.place),
            access.select.offset.eq(Mux(same, asked.offset, found.offset)),
        ]
        m.d.sync += finder.calm.eq(path.free >= self.pending - self.margin // 2)
        observe_reads(m, self)
        return m
