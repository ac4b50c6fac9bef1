"""Double-pumped RAM: one memory block on a clock of exactly twice the frequency serves several ports."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from rtl_lib.contract import Timing
from rtl_lib.library import DOUBLE, shared
from rtl_lib.mem.shared_block import SharedBlock

__all__ = ["MOST_WRITES", "PumpedRam", "most_reads"]

#: writes a cycle that a block can serve: one port writes twice, and the other one reads twice
MOST_WRITES = 2


def most_reads(dual: bool, writes: int) -> int:
    """Reads a cycle that a block can serve in addition to ``writes``: each of its two ports twice, and a write takes
    one of the four. A block that is no true dual-port one reads through one port only."""
    return 4 - writes if dual else 2


@dataclass(frozen=True)
class _Slot:
    """One access of the block in a cycle: in the cycle's ``early`` or late half, through port a or (``other``) b."""

    early: bool
    other: bool


#: the slots of reads in the order in which they are assigned: late ones do not coincide with a single write, and the
#: last slot of a dual block is the write's
_SLOTS = {
    False: (_Slot(False, False), _Slot(True, False)),
    True: (_Slot(False, False), _Slot(False, True), _Slot(True, False), _Slot(True, True)),
}


@shared
class PumpedRam(wiring.Component):
    """On-chip memory of several read ports and one or two write ports in one block: double pumping.

    The domain ``sync2x`` is in phase with ``sync``: every edge of ``sync`` is one of its edges, and one more is in the
    middle between two. A cycle's addresses are registered; the block takes them in two halves, early and late; its
    outputs are registered again. The first write takes the early half of the next cycle, the second the late one. A
    read in those halves of a word that is being written, and whose new value it must see, takes the new bytes from a
    bypass.

    Rules
    -----
    1. A read returns the data written in earlier cycles, not in the same one, :attr:`timing` after its address, for one
       cycle. Every cycle of every port is a read.
    2. Where both write ports write the same bytes in one cycle, the second port's data stays.
    3. Contents start as ``init``, then zeros; an accepted write takes effect regardless of reset.
    4. Addresses from ``depth`` on are undefined.
    5. A path from a register of one clock to one of the other is one 2:1 multiplexer at most, in half a cycle.

    Parameters
    ----------
    width, depth, init, granularity : as of :class:`~rtl_lib.mem.ram.Ram`
    reads : number of read ports, at most :func:`most_reads`
    dual : whether the block is a true dual-port one, whose words are half as wide; not with two write ports, which
        would gain nothing
    writes : number of write ports, at most :data:`MOST_WRITES`

    Ports
    -----
    reads : array of ``addr``, and ``data`` back; writes : array of ``addr``, ``data`` and ``en``, a bit for each
        ``granularity`` bits
    """

    timing = Timing(latency=3, stallable=False)

    def __init__(
        self,
        *,
        width: int,
        depth: int,
        reads: int,
        dual: bool,
        init: Sequence[int] = (),
        granularity: int | None = None,
        writes: int = 1,
    ) -> None:
        if not 0 <= writes <= MOST_WRITES - dual:
            raise ValueError(f"{writes} write ports of a block that has time for 0 to {MOST_WRITES - dual}")
        if not 1 <= reads <= most_reads(dual, writes):
            raise ValueError(f"{reads} read ports of a block that has time for 1 to {most_reads(dual, writes)}")
        self.slots = _SLOTS[dual][:reads]
        self.shape: dict[str, Any] = {
            "width": width,
            "depth": depth,
            "init": init,
            "granularity": granularity,
            "dual": dual,
            "writable": writes > 0,
        }
        self.width, self.granularity = width, granularity or width
        address_bits = ceil_log2(depth)
        read = wiring.Signature({"addr": Out(address_bits), "data": In(width)})
        write = wiring.Signature({"en": Out(width // self.granularity), "addr": Out(address_bits), "data": Out(width)})
        super().__init__({"reads": In(read).array(reads), "writes": In(write).array(writes)})

    def elaborate(self, platform: object) -> Module:
        """Build the block in the domain ``sync2x``, and the registers that give it one address in each half of a
        cycle."""
        m, block = Module(), SharedBlock(**self.shape)
        m.submodules.block = DomainRenamer(DOUBLE)(block)
        early = self._halves(m)
        asked = [Signal.like(port.addr, name=f"asked{k}", reset_less=True) for k, port in enumerate(self.reads)]
        m.d.sync += [register.eq(port.addr) for register, port in zip(asked, self.reads, strict=True)]
        writes = [self._written(m, k) for k in range(len(self.writes))]
        self._feed(m, block, early, asked, writes)
        for k, slot in enumerate(self.slots):
            given = block.b.read if slot.other else block.a.data
            # an early read finds the block as before this cycle's writes, a late one as before the second write
            self._give(m, k, given, slot.early, asked[k], writes if slot.early else writes[1:])
        return m

    def _halves(self, m: Module):
        """A register of the double clock that is high in the first half of each cycle of ``sync``."""
        turn, seen, early = (Signal(name=name, reset_less=True) for name in ("turn", "seen", "early"))
        m.d.sync += turn.eq(~turn)
        m.d[DOUBLE] += [seen.eq(turn), early.eq(turn == seen)]
        return early

    def _written(self, m: Module, k):
        """The write of a port in the cycle before that of the reads in ``asked``."""
        write, number = self.writes[k], f"{k}_" if k else ""
        first = {
            name: Signal.like(getattr(write, name), name=f"new_{number}{name}", reset_less=True)
            for name in ("en", "addr", "data")
        }
        then = {
            name: Signal.like(signal, name=f"old_{number}{name}", reset_less=True) for name, signal in first.items()
        }
        m.d.sync += [signal.eq(getattr(write, name)) for name, signal in first.items()]
        m.d.sync += [signal.eq(first[name]) for name, signal in then.items()]
        return then

    def _feed(self, m: Module, block, early, asked, writes) -> None:
        """Drive the block's ports from registers of the double clock."""

        def place(name, other):
            given = {slot.early: asked[k] for k, slot in enumerate(self.slots) if slot.other is other}
            if other:
                given |= {half: write["addr"] for half, write in zip((True, False), writes)}
            register = Signal.like(block.a.addr, name=name, reset_less=True)
            first, second = given.get(True), given.get(False)
            chosen = (
                Mux(early, first, second)
                if first is not None and second is not None
                else first
                if second is None
                else second
            )
            if chosen is not None:
                m.d[DOUBLE] += register.eq(chosen)
            return register

        m.d.comb += block.a.addr.eq(place("a_addr", False))
        if block.dual or block.writable:
            m.d.comb += block.b.addr.eq(place("b_addr", True))
        if block.writable:
            first, second = writes[0], writes[1] if len(writes) > 1 else {"en": C(0), "data": writes[0]["data"]}
            strobe, data = (
                Signal.like(port, name=name, reset_less=True)
                for port, name in ((block.b.strobe, "strobe"), (block.b.write, "data"))
            )
            m.d[DOUBLE] += [
                strobe.eq(Mux(early, first["en"], second["en"])),
                data.eq(Mux(early, first["data"], second["data"]) if len(writes) > 1 else first["data"]),
            ]
            m.d.comb += [block.b.strobe.eq(strobe), block.b.write.eq(data)]

    def _give(self, m: Module, k, given, early, asked, unseen) -> None:
        """Move the block's output, ``given`` in a half of a cycle, to its port, in a register of the slow clock, merged
        with the data of ``unseen`` writes."""
        answer = Signal(self.width, name=f"answer{k}", reset_less=True)
        m.d.comb += self.reads[k].data.eq(answer)
        if early:
            held = Signal(self.width, name=f"held{k}", reset_less=True)
            m.d[DOUBLE] += held.eq(given)
            given = held  # else the block holds its output until the slow clock's edge
        m.d.sync += answer.eq(self._newest(m, k, given, asked, unseen) if unseen else given)

    def _newest(self, m: Module, k, given, asked, writes):
        """The block's output ``given``, merged with these ``writes``; the last one takes precedence."""
        bits = self.granularity
        met, data = (
            Signal.like(writes[0]["en"], name=f"met{k}", reset_less=True),
            Signal(self.width, name=f"met{k}_data", reset_less=True),
        )
        hits = [Mux(asked == write["addr"], write["en"], 0) for write in writes]
        newest = writes[0]["data"]
        for hit, write in zip(hits[1:], writes[1:], strict=True):
            newest = _chosen(hit, write["data"], newest, bits)
        m.d.sync += [met.eq(reduce(or_, hits)), data.eq(newest)]
        return _chosen(met, data, given, bits)


def _chosen(on, new, old, bits):
    """The pieces of ``new`` whose bit is ``on``, else those of ``old``."""
    return Cat(Mux(on[n], new.word_select(n, bits), old.word_select(n, bits)) for n in range(len(on)))
