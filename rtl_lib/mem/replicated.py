"""A RAM with any number of read ports: a copy of the contents for each of them, all written together."""

from collections.abc import Sequence

from amaranth import *
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ports import require_power_of_two
from rtl_lib.mem.ram import Ram
from rtl_lib.mem.ram_ports import RamReadSignature, RamWriteSignature

__all__ = ["ReplicatedRam"]


@shared
class ReplicatedRam(wiring.Component):
    """On-chip memory of a kernel, made of block RAMs with one read and one write port.

    Rules
    -----
    1. A read returns the data written in earlier cycles, not in the same one, :attr:`timing` after its address.
    2. At most one of the write ports strobes in a cycle: the user who shares them guarantees it.
    3. Contents start as ``init``, then zeros, and survive reset.

    Parameters
    ----------
    word_bytes : bytes of a word, a power of two; words : how many
    reads, writes : number of ports of each kind
    addr_bits : width of word addresses; reads beyond ``words`` are undefined, writes there have no effect
    init : the first words; bytewise : whether writes may strobe some bytes of a word only
    kind : as of :class:`~rtl_lib.mem.ram.Ram`

    Ports
    -----
    reads, writes : arrays of :class:`RamReadSignature` and :class:`RamWriteSignature`, from the RAM's view
    written : :class:`RamWriteSignature`, what is written in this cycle by any port
    """

    timing = Timing(latency=1)

    def __init__(
        self,
        *,
        word_bytes: int,
        words: int,
        reads: int,
        writes: int,
        addr_bits: int,
        bytewise: bool,
        init: Sequence[int] = (),
        kind: str | None = None,
    ) -> None:
        require_power_of_two("word_bytes", word_bytes)
        if words < 1 or words > 1 << addr_bits:
            raise ValueError(f"{words} words cannot be addressed by {addr_bits} bits")
        self.word_bytes, self.words, self.bytewise, self.init, self.kind = word_bytes, words, bytewise, init, kind
        self.address_bits = ceil_log2(words)
        super().__init__(
            {
                "reads": In(RamReadSignature(word_bytes, addr_bits)).array(reads),
                "writes": In(RamWriteSignature(word_bytes, addr_bits)).array(writes),
                "written": Out(RamWriteSignature(word_bytes, addr_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a copy of the memory for each read port, all written by the one store that is active."""
        m = Module()
        address, data, strobe = self._shared_write(m, platform)
        m.d.comb += [self.written.addr.eq(address), self.written.data.eq(data), self.written.strobe.eq(strobe)]
        enable = strobe if self.bytewise else strobe.any()
        for k, port in enumerate(self.reads):
            ram = Ram(
                width=8 * self.word_bytes,
                depth=self.words,
                init=tuple(self.init),
                granularity=8 if self.bytewise else None,
                writable=len(self.writes) > 0,
                kind=self.kind,
            )
            m.submodules[f"copy{k}"] = ram
            read = ram.read
            m.d.comb += [read.en.eq(port.en), read.addr.eq(port.addr), port.data.eq(read.data)]
            if ram.writable:
                m.d.comb += [ram.write.en.eq(enable), ram.write.addr.eq(address), ram.write.data.eq(data)]
        return m

    def _shared_write(self, m: Module, platform: object) -> tuple[Value, Value, Value]:
        """Address, data and strobe of the write port that strobes, if one does."""
        address = Signal(self.address_bits)
        data, strobe = Signal(8 * self.word_bytes), Signal(self.word_bytes)
        active = [Signal(name=f"active{k}") for k in range(len(self.writes))]
        for on, port in zip(active, self.writes, strict=True):
            inside = port.addr < self.words if self.words < 1 << len(port.addr) else 1
            m.d.comb += on.eq(port.strobe.any() & inside)
            with m.If(on):
                m.d.comb += [address.eq(port.addr), data.eq(port.data), strobe.eq(port.strobe)]
        if platform is None:  # in simulation only: the Verilog subset for synthesis has no assertions
            for k, on in enumerate(active):
                m.d.comb += Assert(~(on & Cat(active[:k]).any()), "two write ports of a RAM strobe in one cycle")
        return address, data, strobe
