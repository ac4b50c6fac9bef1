"""Verilog around a compiled kernel with plain RAM ports, for synthesis: its buffers in block RAM, and host access to
them."""

from collections.abc import Mapping

from hls.driver import Result
from hls.rtl.interface import RamPort
from rtl_lib.library import DOUBLE

__all__ = ["TOP", "surround"]

TOP = "top"
HOST_BITS = 32


def surround(result: Result, sizes: Mapping[str, int]) -> str:
    """A top module with the one kernel of ``result`` and a RAM for each of its ports; ``sizes`` are bytes by buffer.

    Each buffer begins at address 0 of its RAM; one with several loads has a copy for each. The host side of the RAMs is
    a write port for what the kernel loads, and for what it stores a read port of which every output is kept, so that
    nothing of the kernel is optimized away. It is made of registers and RAM ports and takes no LUT of its own. The
    second clock of a system that has one is an input, too. Host and kernel never use a RAM at once: ``no_rw_check``
    keeps Yosys from building logic for that case.
    """
    (kernel,) = result.interface.kernels
    scalars = [a for a in kernel.arguments if a.kind == "scalar"]
    ports = "".join(f", input [{8 * a.bytes - 1}:0] {a.name}" for a in scalars)
    links = [f".{kernel.name}_arg_{a.name}({a.name if a.kind == 'scalar' else 0})" for a in kernel.arguments]
    if kernel.ndrange:  # sizes that are known would make its counters constant
        ports += "".join(f", input [31:0] launch_{name}" for name in kernel.launch)
    links += [f".{kernel.name}_arg_{name}({f'launch_{name}' if kernel.ndrange else 1})" for name in kernel.launch]
    rams, lanes = [], 0
    for index, port in enumerate(result.interface.ram):
        rams.append(_Ram(index, port, sizes[port.buffer], lanes))
        lanes += rams[-1].lanes if port.kind == "load" else 0
    links += [link for ram in rams for link in ram.links()]
    clocks = ["clk", *([f"{DOUBLE}_clk"] if result.interface.double_clock else [])]
    answers = " ^ ".join(f"p{ram.index}_answer" for ram in rams if ram.port.kind == "store") or "0"
    body = "".join(ram.text() for ram in rams)
    return f"""module {TOP}({", ".join(f"input {clock}" for clock in clocks)}, input rst, input start, output done, output idle, input [15:0] host_addr, input [{lanes}:0] host_write,
  input [{HOST_BITS - 1}:0] host_data, output reg [{HOST_BITS - 1}:0] host_q{ports});
  reg [15:0] at; reg [{HOST_BITS - 1}:0] given; reg [{lanes}:0] write; reg started, finished;
  wire is_done;
  assign done = finished;
  always @(posedge clk) begin
    at <= host_addr; given <= host_data; host_q <= {answers}; started <= start; finished <= is_done;
    write <= host_write;
  end
{body}  {result.top} kernel({", ".join(f".{clock}({clock})" for clock in clocks)}, .rst(rst), .{kernel.name}_start(started), .{kernel.name}_done(is_done),
    .{kernel.name}_idle(idle), {", ".join(links)});
endmodule
"""


class _Ram:
    """The RAM of one port, in lanes as wide as the host's data, or less. Its first lane has bit ``first`` of the host's
    write enables."""

    def __init__(self, index: int, port: RamPort, size: int, first: int):
        self.index, self.port, self.first = index, port, first
        self.lane_bits = min(8 * port.bytes, HOST_BITS)
        self.lanes = 8 * port.bytes // self.lane_bits
        self.words = max(2, -(-size // port.bytes))
        self.word_bits = (self.words - 1).bit_length()

    def links(self) -> list[str]:
        names = ("en", "addr", "data") if self.port.kind == "load" else ("addr", "data", "strobe")
        return [f".{self.port.name}_{name}(p{self.index}_{name})" for name in names]

    def text(self) -> str:
        p, high = f"p{self.index}", 8 * self.port.bytes - 1
        return f"""  wire [{self.port.address_bits - 1}:0] {p}_addr;
  (* no_rw_check *) reg [{high}:0] {p}_ram [0:{self.words - 1}];
""" + (self._load(p, high) if self.port.kind == "load" else self._store(p, high))

    def _load(self, p: str, high: int) -> str:
        bits = self.lane_bits
        writes = "".join(
            f"    if (write[{self.first + lane}]) "
            f"{p}_ram[at[{self.word_bits - 1}:0]][{bits * lane + bits - 1}:{bits * lane}] <= given[{bits - 1}:0];\n"
            for lane in range(self.lanes)
        )
        return f"""  wire {p}_en; reg [{high}:0] {p}_data;
  always @(posedge clk) begin
{writes}    if ({p}_en) {p}_data <= {p}_ram[{p}_addr[{self.word_bits - 1}:0]];
  end
"""

    def _store(self, p: str, high: int) -> str:
        writes = "".join(
            f"    if ({p}_strobe[{byte}]) {p}_ram[{p}_addr[{self.word_bits - 1}:0]][{8 * byte + 7}:{8 * byte}] <= "
            f"{p}_data[{8 * byte + 7}:{8 * byte}];\n"
            for byte in range(self.port.bytes)
        )
        return f"""  wire [{self.port.bytes - 1}:0] {p}_strobe; wire [{high}:0] {p}_data;
  (* keep *) reg [{high}:0] {p}_q; wire [{self.lane_bits - 1}:0] {p}_answer = {p}_q[{self.lane_bits - 1}:0];
  always @(posedge clk) begin
    {p}_q <= {p}_ram[at[{self.word_bits - 1}:0]];
{writes}  end
"""
