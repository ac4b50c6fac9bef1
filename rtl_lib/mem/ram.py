"""One memory with a write port and a clocked read port, as generated Verilog text whose size does not depend on that of
the memory."""

from collections.abc import Iterator, Sequence

from amaranth import *
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared

__all__ = ["KINDS", "Ram", "first_words", "style_of"]

#: attributes that tell synthesis how to implement a memory, as most tools name them, and as Quartus does
KINDS = {"block": "M20K", "distributed": "MLAB"}
#: Most iterations of one loop in an ``initial`` block: common synthesis tools refuse 5,000.
_TURNS = 4096


@shared
class Ram(wiring.Component):
    """A memory that synthesis implements as a block RAM, or as look-up tables where it is small.

    Amaranth writes every bit of a memory's initial contents, even if there are none: a second for some hundred
    kilobytes, several times over. So the module's text is generated here; in Python it is Amaranth's memory.

    Rules
    -----
    1. A read returns the data written in earlier cycles, not in the same one, :attr:`timing` after ``read.en``, and
       holds it.
    2. Contents start as ``init``, then zeros; reset leaves them.
    3. Addresses from ``depth`` on are undefined.
    4. Unless it ``collides``, no word is read in the cycle in which any of it is written; an assertion stops the
       simulation otherwise.

    Parameters
    ----------
    width : bits of a word; depth : words
    init : the first words
    granularity : bits of data for each bit of ``write.en``, a divisor of the width; the whole word by default
    writable : whether there is a write port
    kind : "block" or "distributed" requests block RAM, or look-up tables, from synthesis; None leaves it the choice
    collides : whether a word may be read in the cycle in which it is written. Block RAMs of many devices then return
        anything, so that synthesis adds two registers and a multiplexer for each bit

    Ports
    -----
    read : ``en`` and ``addr`` from the user, and ``data`` back
    write : ``en``, ``addr``, ``data``
    """

    timing = Timing(latency=1)

    def __init__(
        self,
        *,
        width: int,
        depth: int,
        init: Sequence[int] = (),
        granularity: int | None = None,
        writable: bool = True,
        kind: str | None = None,
        collides: bool = True,
    ) -> None:
        if depth < 1 or len(init) > depth:
            raise ValueError(f"{len(init)} first words in a memory of {depth}")
        if granularity is not None and (granularity < 1 or width % granularity):
            raise ValueError(f"{granularity} bits do not divide a word of {width}")
        self.width, self.depth, self.init, self.writable = width, depth, tuple(init), writable
        self.granularity, self.kind, self.collides = granularity or width, kind, collides
        self.address_bits = ceil_log2(depth)
        read = wiring.Signature({"en": Out(1), "addr": Out(self.address_bits), "data": In(width)})
        write = wiring.Signature(
            {"en": Out(width // self.granularity), "addr": Out(self.address_bits), "data": Out(width)}
        )
        super().__init__({"read": In(read), **({"write": In(write)} if writable else {})})

    def elaborate(self, platform: object) -> Module:
        """Build an Amaranth memory with one read port and, if ``writable``, one write port."""
        m = Module()
        m.submodules.words = words = Memory(shape=self.width, depth=self.depth, init=list(self.init))
        read = words.read_port()
        m.d.comb += [read.en.eq(self.read.en), read.addr.eq(self.read.addr), self.read.data.eq(read.data)]
        if self.writable:
            write = words.write_port(granularity=self.granularity)
            m.d.comb += [write.en.eq(self.write.en), write.addr.eq(self.write.addr), write.data.eq(self.write.data)]
            if platform is None and not self.collides:  # in simulation only; at the edge, as signals settle before
                met = self.read.en & self.write.en.any() & (self.read.addr == self.write.addr)
                m.d.sync += Assert(~met, "a word is read in the cycle in which it is written")
        return m

    def own_verilog(self, name: str) -> str:
        """The same as a Verilog module, in the form from which every synthesis tool infers a block RAM."""
        ports = ["clk", *(f"read__{port}" for port in self._ports("en", "addr")), "read__data"]
        ports += [f"write__{port}" for port in self._ports("en", "addr", "data")] if self.writable else []
        lines = [
            f"module {name}({', '.join(ports)});",
            *self._declarations(),
            *style_of(self.kind, self.collides),
            f"  reg [{self.width - 1}:0] words [{self.depth - 1}:0];",
            *first_words(self.init, self.depth, self.width),
            *self._writes(),
            *self._reads(),
            "endmodule",
        ]
        return "\n".join(lines) + "\n"

    def _ports(self, *names: str) -> list[str]:
        return [name for name in names if name != "addr" or self.address_bits]

    def _declarations(self) -> Iterator[str]:
        sizes = {"clk": 1, "read__en": 1, "read__addr": self.address_bits, "read__data": self.width}
        if self.writable:
            sizes |= {
                "write__en": self.width // self.granularity,
                "write__addr": self.address_bits,
                "write__data": self.width,
            }
        for port, bits in sizes.items():
            if bits:
                size = f"[{bits - 1}:0] " if bits > 1 else ""
                yield f"  {'output' if port == 'read__data' else 'input'} {size}{port};"
                yield f"  wire {size}{port};"

    def _writes(self) -> Iterator[str]:
        if not self.writable:
            return
        place = "write__addr" if self.address_bits else "0"
        yield "  always @(posedge clk) begin"
        pieces = self.width // self.granularity
        for piece in range(pieces):
            low = piece * self.granularity
            part = f"[{low + self.granularity - 1}:{low}]" if pieces > 1 else ""
            yield f"    if (write__en{f'[{piece}]' if pieces > 1 else ''})"
            yield f"      words[{place}]{part} <= write__data{part};"
        yield "  end"

    def _reads(self) -> Iterator[str]:
        size = f"[{self.width - 1}:0] " if self.width > 1 else ""
        yield f"  reg {size}read;"
        yield "  always @(posedge clk) begin"
        yield "    if (read__en) begin"
        yield f"      read <= words[{'read__addr' if self.address_bits else '0'}];"
        yield "    end"
        yield "  end"
        yield "  assign read__data = read;"


def style_of(kind: str | None, collides: bool = True) -> Iterator[str]:
    """The attribute line before the declaration of a memory of this kind, which is never read where it is written
    unless it ``collides``."""
    told = [] if kind is None else [KINDS[kind]]
    attributes = [] if kind is None else [f'ram_style = "{kind}"']
    if not collides:  # the names of Yosys and of Quartus
        attributes.insert(0, "no_rw_check")
        told.append("no_rw_check")
    if told:
        yield f'  (* {", ".join(attributes)}, ramstyle = "{", ".join(told)}" *)'


def first_words(init: Sequence[int], depth: int, width: int) -> Iterator[str]:
    """Verilog of the initial contents of ``words``: ``init``, then zeros."""
    yield "  integer place;"
    yield "  initial begin"
    for first in range(len(init), depth, _TURNS):
        yield f"    for (place = {first}; place < {min(first + _TURNS, depth)}; place = place + 1)"
        yield f"      words[place] = {width}'h0;"
    for place, value in enumerate(init):
        yield f"    words[{place}] = {width}'h{value & (1 << width) - 1:x};"
    yield "  end"
