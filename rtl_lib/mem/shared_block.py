"""The memory block with two ports under double pumping; its Verilog text is generated, as in :mod:`.ram`."""

from collections.abc import Iterator, Sequence

from amaranth import *
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ram import first_words

__all__ = ["SharedBlock"]


@shared
class SharedBlock(wiring.Component):
    """A block that reads through ``a`` and writes through ``b``; a ``dual`` one also reads through ``b``.

    Without ``dual`` synthesis makes it a simple dual-port block, at the block's full width; with it a true dual-port
    block, whose words are half as wide.

    Rules
    -----
    1. A port reads in every cycle, and returns the data written in earlier ones, :attr:`timing` after the address.
    2. Of a word that ``a`` reads and ``b`` writes in the same cycle, the written pieces are undefined, and so is all
       that ``b`` reads while it writes: devices differ. The Python simulation inverts all these bits.
    3. Contents start as ``init``, then zeros; there is no reset.

    Parameters
    ----------
    width : bits of a word; depth : words; init : the first words
    granularity : bits of data for each bit of ``b.strobe``
    dual : whether ``b`` reads; writable : whether it writes

    Ports
    -----
    a : ``addr``, and ``data`` back; b : ``addr``, ``strobe``, ``write`` (the data), and ``read`` (data) back, those
        that exist
    """

    timing = Timing(latency=1, stallable=False)

    def __init__(
        self,
        *,
        width: int,
        depth: int,
        init: Sequence[int] = (),
        granularity: int | None = None,
        dual: bool = True,
        writable: bool = True,
    ) -> None:
        if depth < 1 or len(init) > depth:
            raise ValueError(f"{len(init)} first words in a memory of {depth}")
        if granularity is not None and (granularity < 1 or width % granularity):
            raise ValueError(f"{granularity} bits do not divide a word of {width}")
        self.width, self.depth, self.init, self.dual, self.writable = width, depth, tuple(init), dual, writable
        self.granularity = granularity or width
        self.address_bits = ceil_log2(depth)
        written = {"strobe": Out(width // self.granularity), "write": Out(width)} if writable else {}
        b = {"addr": Out(self.address_bits), **written, **({"read": In(width)} if dual else {})}
        ports = {"a": In(wiring.Signature({"addr": Out(self.address_bits), "data": In(width)}))}
        super().__init__(ports | ({"b": In(wiring.Signature(b))} if dual or writable else {}))

    def elaborate(self, platform: object) -> Module:
        """Build an Amaranth memory with the read port of ``a``, the write port of ``b``, and for a ``dual`` block its
        read port."""
        m = Module()
        m.submodules.words = words = Memory(shape=self.width, depth=self.depth, init=list(self.init))
        read, wrong = words.read_port(), Signal(self.width // self.granularity)
        flips = Cat(bit.replicate(self.granularity) for bit in wrong)
        m.d.comb += [read.addr.eq(self.a.addr), self.a.data.eq(read.data ^ flips)]
        if self.writable:
            write = words.write_port(granularity=self.granularity)
            m.d.comb += [write.addr.eq(self.b.addr), write.data.eq(self.b.write), write.en.eq(self.b.strobe)]
            m.d.sync += wrong.eq(Mux(self.a.addr == self.b.addr, self.b.strobe, 0))
        if self.dual:
            other, busy = words.read_port(), Signal()
            m.d.comb += [other.addr.eq(self.b.addr), self.b.read.eq(other.data ^ busy.replicate(self.width))]
            if self.writable:
                m.d.sync += busy.eq(self.b.strobe.any())
        if platform is None and self.depth < 1 << self.address_bits and self.writable:
            m.d.comb += Assert(
                ~self.b.strobe.any() | (self.b.addr < self.depth), "a block is written behind its last word"
            )
        return m

    def own_verilog(self, name: str) -> str:
        """The same as a Verilog module. ``no_rw_check`` tells synthesis what rule 2 says."""
        ports = ["clk", *(port for port, _, _ in self._ports())]
        lines = [
            f"module {name}({', '.join(ports)});",
            "  input clk;",
            "  wire clk;",
            *self._declarations(),
            '  (* no_rw_check, ram_style = "block", ramstyle = "no_rw_check" *)',
            f"  reg [{self.width - 1}:0] words [{self.depth - 1}:0];",
            *first_words(self.init, self.depth, self.width),
            *self._port_a(),
            *self._port_b(),
            "endmodule",
        ]
        return "\n".join(lines) + "\n"

    def _ports(self) -> Iterator[tuple[str, str, int]]:
        """Name, direction and width of each port but the clock."""
        if self.address_bits:
            yield "a__addr", "input", self.address_bits
        yield "a__data", "output", self.width
        if self.address_bits and (self.dual or self.writable):
            yield "b__addr", "input", self.address_bits
        if self.writable:
            yield "b__strobe", "input", self.width // self.granularity
            yield "b__write", "input", self.width
        if self.dual:
            yield "b__read", "output", self.width

    def _declarations(self) -> Iterator[str]:
        for name, direction, bits in self._ports():
            size = f"[{bits - 1}:0] " if bits > 1 else ""
            yield f"  {direction} {size}{name};"
            yield f"  wire {size}{name};"

    def _port_a(self) -> Iterator[str]:
        yield from self._output("a_out", "a__data")
        yield "  always @(posedge clk) begin"
        yield f"    a_out <= words[{'a__addr' if self.address_bits else '0'}];"
        yield "  end"

    def _port_b(self) -> Iterator[str]:
        if not (self.dual or self.writable):
            return
        place = "b__addr" if self.address_bits else "0"
        if self.dual:
            yield from self._output("b_out", "b__read")
        yield "  always @(posedge clk) begin"
        pieces = self.width // self.granularity if self.writable else 0
        for piece in range(pieces):
            low = piece * self.granularity
            part = f"[{low + self.granularity - 1}:{low}]" if pieces > 1 else ""
            yield f"    if (b__strobe{f'[{piece}]' if pieces > 1 else ''})"
            yield f"      words[{place}]{part} <= b__write{part};"
        if self.dual:
            yield f"    b_out <= words[{place}];"
        yield "  end"

    def _output(self, register: str, port: str) -> Iterator[str]:
        yield f"  reg {f'[{self.width - 1}:0] ' if self.width > 1 else ''}{register};"
        yield f"  assign {port} = {register};"
