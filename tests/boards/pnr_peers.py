"""Runs Yosys and nextpnr in the same way on our parts and on those of another open library, BaseJump STL's bsg_fpu.

It comes with a package of PyPI (``pip install pythondata-cpu-blackparrot``). Its units have three registers, take no
subnormal operands and make zeros of subnormal results; ours stand beside them with as many registers, with subnormal
numbers and without, and without them with as many more as it takes to reach the same clock. Run as ``python -m
tests.boards.pnr_peers [FORMAT ...]`` from the project's root; a row takes about a minute.
"""

import argparse
import importlib.util
import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64
from rtl_lib.fp.multiply import FloatMul, FloatMulParams

from .pnr_parts import FLUSHED, Figures, figures

PACKAGE = "pythondata_cpu_blackparrot"
STL = "system_verilog/external/basejump_stl"
FILES = (
    "bsg_misc/bsg_defines.v",
    "bsg_misc/bsg_less_than.v",
    "bsg_misc/bsg_reduce.v",
    "bsg_misc/bsg_priority_encode.v",
    "bsg_misc/bsg_priority_encode_one_hot_out.v",
    "bsg_misc/bsg_mul_synth.v",
    "bsg_fpu/bsg_fpu_preprocess.v",
    "bsg_fpu/bsg_fpu_clz.v",
    "bsg_fpu/bsg_fpu_sticky.v",
    "bsg_fpu/bsg_fpu_add_sub.v",
    "bsg_fpu/bsg_fpu_mul.v",
)
#: In place of two of the library's modules, which use SystemVerilog that Yosys does not read. The same functions in the
#: same shape.
INSTEAD = """
module bsg_scan #(parameter width_p = 1, xor_p = 0, and_p = 0, or_p = 0, lo_to_hi_p = 0)
  (input [width_p-1:0] i, output logic [width_p-1:0] o);
  localparam rows = $clog2(width_p);
  wire [width_p*(rows+1)-1:0] t;
  assign t[width_p-1:0] = i;
  for (genvar j = 0; j < rows; j = j + 1) begin : row
    wire [width_p-1:0] now;
    assign now = t[width_p*j +: width_p];
    assign t[width_p*(j+1) +: width_p] = now | (lo_to_hi_p ? now << (1 << j) : now >> (1 << j));
  end
  assign o = t[width_p*rows +: width_p];
endmodule

module bsg_encode_one_hot #(parameter width_p = 8, lo_to_hi_p = 1)
  (input [width_p-1:0] i, output logic [$clog2(width_p)-1:0] addr_o, output v_o);
  assign v_o = |i;
  always_comb begin
    addr_o = 0;
    for (integer k = 0; k < width_p; k = k + 1)
      if (i[k]) addr_o = addr_o | (lo_to_hi_p ? k : width_p - 1 - k);
  end
endmodule
"""
FORMATS = {"float": BINARY32, "half": BINARY16, "double": BINARY64}
REGISTERS = 3
#: With how many registers of ours the same clock is still looked for.
MOST = 8


class Peer(wiring.Component):
    """A unit of bsg_fpu with the ports of a part."""

    def __init__(self, module, fmt):
        self.module, self.format = module, fmt
        super().__init__({"en": In(1), "a": In(fmt.width), "b": In(fmt.width), "o": Out(fmt.width)})

    def elaborate(self, platform):
        m = Module()
        extra = {"i_sub_i": Const(0, 1)} if self.module == "bsg_fpu_add_sub" else {}
        m.submodules.unit = Instance(
            self.module,
            p_e_p=self.format.exponent,
            p_m_p=self.format.mantissa,
            i_clk_i=ClockSignal(),
            i_reset_i=ResetSignal(),
            i_en_i=self.en,
            i_v_i=Const(1, 1),
            i_a_i=self.a,
            i_b_i=self.b,
            o_z_o=self.o,
            i_yumi_i=self.en,
            **extra,
        )
        return m


def library() -> str:
    """Commands of Yosys that read the library."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        sys.exit("the library to compare with is not installed: pip install pythondata-cpu-blackparrot")
    root = Path(found.origin).parent / STL
    instead = Path(".sluice-cache/pnr_peers.sv").absolute()
    instead.parent.mkdir(exist_ok=True)
    instead.write_text(INSTEAD)
    files = " ".join(str(path) for path in (*(root / name for name in FILES), instead))
    return f"read_verilog -sv -defer -I{root}/bsg_fpu -I{root}/bsg_misc {files};"


def rows(names: Iterable[str] = tuple(FORMATS)) -> Iterator[tuple[str, int, str, Figures]]:
    """(unit, registers, library, figures) one after another, of the formats ``names``."""
    read = library()
    units = {
        "add": ("bsg_fpu_add_sub", FloatAdd, lambda fmt: AddParams(fmt), 250),
        "multiply": ("bsg_fpu_mul", FloatMul, lambda fmt: FloatMulParams(fmt, 18), 200),
    }
    for name, (unit, (module, part, params, mhz)) in itertools.product(names, units.items()):
        fmt = FORMATS[name]
        ports = ({"a": fmt.width, "b": fmt.width}, {"o": fmt.width})

        def ours(chosen, registers, name=name, part=part, params=params, ports=ports, mhz=mhz):
            return figures(name, part(params(chosen), registers), *ports, registers, mhz)

        theirs = figures(name, Peer(module, fmt), *ports, REGISTERS, mhz, read)
        yield f"{name} {unit}", REGISTERS, "bsg_fpu", theirs
        yield f"{name} {unit}", REGISTERS, "ours", ours(fmt, REGISTERS)
        for registers in range(REGISTERS, MOST + 1):
            one = ours(FLUSHED[fmt], registers)
            yield f"{name} {unit}", registers, "ours, flushed", one
            if one.fmax >= theirs.fmax:
                break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"of {', '.join(FORMATS)}")
    formats = parser.parse_args().formats or list(FORMATS)
    if unknown := [name for name in formats if name not in FORMATS]:
        parser.error(f"no format {unknown[0]!r}; there are {', '.join(FORMATS)}")
    print(
        "| unit | registers on the way | whose | reached MHz | LUT4 places | registers | 18x18 |\n| --- | --- | --- "
        "| --- | --- | --- | --- |"
    )
    for unit, registers, whose, one in rows(formats):
        print(f"| {unit} | {registers} | {whose} | {one.fmax:.0f} | {one.comb} | {one.ff} | {one.dsp} |", flush=True)


if __name__ == "__main__":
    main()
