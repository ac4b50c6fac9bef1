"""A RAM of several banks, each with a write port of its own: who never meets in a bank never meets."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from amaranth.utils import exact_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ports import require_power_of_two
from rtl_lib.mem.ram_ports import RamReadSignature, RamWriteSignature
from rtl_lib.mem.replicated import ReplicatedRam

__all__ = ["BankedRam"]


@shared
class BankedRam(wiring.Component):
    """On-chip memory in banks that the upper bits of a word address choose.

    Rules
    -----
    1. A read gives what was written in earlier cycles, not in the same one, :attr:`timing` after its address; it is held until
       the port's next read.
    2. At most one of the write ports strobes in a bank in a cycle; different banks are written at once.

    Parameters
    ----------
    banks : how many, a power of two from 2 on
    word_bytes, words, reads, writes, addr_bits, bytewise : as of :class:`~rtl_lib.mem.replicated.ReplicatedRam`; ``words``
        counts those of all banks, and is a multiple of ``banks`` so that each has a power of two

    Ports
    -----
    reads, writes : arrays of :class:`RamReadSignature` and :class:`RamWriteSignature`, seen from the RAM
    """

    timing = Timing(latency=1)

    def __init__(self, *, banks, word_bytes, words, reads, writes, addr_bits, bytewise):
        require_power_of_two("banks", banks, 2)
        require_power_of_two("words of a bank", words // banks if words % banks == 0 else 0)
        self.banks, self.word_bytes, self.bytewise = banks, word_bytes, bytewise
        self.bank_words = words // banks
        super().__init__({
            "reads": In(RamReadSignature(word_bytes, addr_bits)).array(reads),
            "writes": In(RamWriteSignature(word_bytes, addr_bits)).array(writes),
        })

    def elaborate(self, platform):
        m = Module()
        inside, addr_bits = exact_log2(self.bank_words), max(1, exact_log2(self.bank_words))
        banks = [ReplicatedRam(word_bytes=self.word_bytes, words=self.bank_words, reads=len(self.reads),
                               writes=len(self.writes), addr_bits=addr_bits, bytewise=self.bytewise) for _ in range(self.banks)]
        for number, bank in enumerate(banks):
            m.submodules[f"bank{number}"] = bank
            for port, side in zip(self.writes, bank.writes, strict=True):
                mine = self._bank(port.addr) == number
                m.d.comb += [side.addr.eq(port.addr[:inside]), side.data.eq(port.data), side.strobe.eq(Mux(mine, port.strobe, 0))]
        for k, port in enumerate(self.reads):
            chosen = Signal(range(self.banks), name=f"chosen{k}")
            with m.If(port.en):
                m.d.sync += chosen.eq(self._bank(port.addr))
            for bank in banks:
                m.d.comb += [bank.reads[k].en.eq(port.en), bank.reads[k].addr.eq(port.addr[:inside])]
            m.d.comb += port.data.eq(Array(bank.reads[k].data for bank in banks)[chosen])
        return m

    def _bank(self, address):
        inside = exact_log2(self.bank_words)
        return address[inside:inside + exact_log2(self.banks)]
