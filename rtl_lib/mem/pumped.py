"""A RAM that one memory block serves to several ports: the block runs on a clock of exactly twice the frequency."""

from dataclasses import dataclass

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from rtl_lib.contract import Timing
from rtl_lib.library import DOUBLE, shared
from rtl_lib.mem.shared_block import SharedBlock

__all__ = ["PumpedRam", "most_reads"]


def most_reads(dual: bool, writable: bool) -> int:
    """Reads a cycle that a block has time for: each of its two ports twice, and a write takes one of the four. One that is no true
    dual-port block reads through one port only."""
    return 2 if not dual else 3 if writable else 4


@dataclass(frozen=True)
class _Slot:
    """One access of the block in a cycle: in the cycle's ``early`` or late half, through port a or (``other``) b."""

    early: bool
    other: bool


#: the slots of reads in the order in which they are given away: late ones meet no write, the last one is the write's
_SLOTS = {False: (_Slot(False, False), _Slot(True, False)),
          True: (_Slot(False, False), _Slot(False, True), _Slot(True, False), _Slot(True, True))}


@shared
class PumpedRam(wiring.Component):
    """On-chip memory of several read ports and a write port in one block: double pumping.

    The domain ``sync2x`` is in phase with ``sync``: every edge of ``sync`` is one of its edges, and one more is in the middle between
    two. A cycle's addresses go into registers; the block takes them in two halves, early and late; what it gives goes into
    registers again. The write goes into the early half of the next cycle, where a read of that half may meet it: that one takes the
    new bytes from beside the block.

    Rules
    -----
    1. A read gives what was written in earlier cycles, not in the same one, :attr:`timing` after its address, for one cycle. Every
       cycle of every port is a read.
    2. Contents start as ``init``, then zeros; a write that was taken is made whatever reset does.
    3. Nothing is said of addresses from ``depth`` on.
    4. No path from register to register is longer than half a cycle but those of ``sync`` alone.

    Parameters
    ----------
    width, depth, init, granularity, writable : as of :class:`~rtl_lib.mem.ram.Ram`
    reads : number of read ports, at most :func:`most_reads`
    dual : whether the block is a true dual-port one, whose words are half as wide

    Ports
    -----
    reads : array of ``addr``, and ``data`` back; write : ``addr``, ``data`` and ``en``, a bit for each ``granularity`` bits
    """

    timing = Timing(latency=3, stallable=False)

    def __init__(self, *, width, depth, reads, dual, init=(), granularity=None, writable=True):
        if not 1 <= reads <= most_reads(dual, writable):
            raise ValueError(f"{reads} read ports of a block that has time for 1 to {most_reads(dual, writable)}")
        self.slots = _SLOTS[dual][:reads]
        self.shape = {"width": width, "depth": depth, "init": init, "granularity": granularity, "dual": dual, "writable": writable}
        self.width, self.granularity = width, granularity or width
        self.writable, address_bits = writable, ceil_log2(depth)
        read = wiring.Signature({"addr": Out(address_bits), "data": In(width)})
        write = wiring.Signature({"en": Out(width // self.granularity), "addr": Out(address_bits), "data": Out(width)})
        super().__init__({"reads": In(read).array(reads), **({"write": In(write)} if writable else {})})

    def elaborate(self, platform):
        m, block = Module(), SharedBlock(**self.shape)
        m.submodules.block = DomainRenamer(DOUBLE)(block)
        early = self._halves(m)
        asked = [Signal.like(port.addr, name=f"asked{k}", reset_less=True) for k, port in enumerate(self.reads)]
        m.d.sync += [register.eq(port.addr) for register, port in zip(asked, self.reads, strict=True)]
        writes = self._written(m) if self.writable else None
        self._feed(m, block, early, asked, writes)
        for k, slot in enumerate(self.slots):
            self._give(m, k, block.b.read if slot.other else block.a.data, slot.early, asked[k], writes)
        return m

    def _halves(self, m):
        """A register of the double clock that is high in the first half of each cycle of the other."""
        turn, seen, early = (Signal(name=name, reset_less=True) for name in ("turn", "seen", "early"))
        m.d.sync += turn.eq(~turn)
        m.d[DOUBLE] += [seen.eq(turn), early.eq(turn == seen)]
        return early

    def _written(self, m):
        """The write of the cycle before that of the reads in ``asked``."""
        first = {name: Signal.like(getattr(self.write, name), name=f"new_{name}", reset_less=True) for name in ("en", "addr", "data")}
        then = {name: Signal.like(signal, name=f"old_{name}", reset_less=True) for name, signal in first.items()}
        m.d.sync += [signal.eq(getattr(self.write, name)) for name, signal in first.items()]
        m.d.sync += [signal.eq(first[name]) for name, signal in then.items()]
        return then

    def _feed(self, m, block, early, asked, writes):
        """Drive the block's ports from registers of the double clock."""
        def place(name, other):
            given = {slot.early: asked[k] for k, slot in enumerate(self.slots) if slot.other is other}
            if other and writes is not None:
                given[True] = writes["addr"]
            register = Signal.like(block.a.addr, name=name, reset_less=True)
            first, second = given.get(True), given.get(False)
            chosen = Mux(early, first, second) if first is not None and second is not None else first if second is None else second
            if chosen is not None:
                m.d[DOUBLE] += register.eq(chosen)
            return register

        m.d.comb += block.a.addr.eq(place("a_addr", False))
        if block.dual or self.writable:
            m.d.comb += block.b.addr.eq(place("b_addr", True))
        if self.writable:
            strobe, data = (Signal.like(port, name=name, reset_less=True) for port, name in ((block.b.strobe, "strobe"), (block.b.write, "data")))
            m.d[DOUBLE] += [strobe.eq(Mux(early, writes["en"], 0)), data.eq(writes["data"])]
            m.d.comb += [block.b.strobe.eq(strobe), block.b.write.eq(data)]

    def _give(self, m, k, given, early, asked, writes):
        """Bring what the block has ``given`` in a half of a cycle to its port, in a register of the slow clock."""
        answer = Signal(self.width, name=f"answer{k}", reset_less=True)
        m.d.comb += self.reads[k].data.eq(answer)
        if not early:  # the block gives it until the slow clock's edge
            m.d.sync += answer.eq(given)
            return
        held = Signal(self.width, name=f"held{k}", reset_less=True)
        m.d[DOUBLE] += held.eq(given)
        m.d.sync += answer.eq(held if writes is None else self._newest(m, k, held, asked, writes))

    def _newest(self, m, k, held, asked, writes):
        """What was read beside a write, with what that has written."""
        met, data = Signal.like(writes["en"], name=f"met{k}", reset_less=True), Signal.like(writes["data"], name=f"met{k}_data", reset_less=True)
        m.d.sync += [met.eq(Mux(asked == writes["addr"], writes["en"], 0)), data.eq(writes["data"])]
        bits = self.granularity
        return Cat(Mux(met[n], data.word_select(n, bits), held.word_select(n, bits)) for n in range(len(met)))
