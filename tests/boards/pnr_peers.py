"""The same run of Yosys and nextpnr for our parts and those of another open library: BaseJump STL's bsg_fpu.

It comes with a package of PyPI (``pip install pythondata-cpu-blackparrot``). Its units have three registers, take no subnormal operands and
make zeros of subnormal results; ours stand beside them with as many registers, with subnormal numbers and without.
Run as ``python -m tests.boards.pnr_peers`` from the project's root; a row takes about a minute.
"""

import importlib.util
import sys
from pathlib import Path

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64
from rtl_lib.fp.multiply import FloatMul, FloatMulParams

from .pnr_parts import FLUSHED, figures

PACKAGE = "pythondata_cpu_blackparrot"
STL = "system_verilog/external/basejump_stl"
FILES = ("bsg_misc/bsg_defines.v", "bsg_misc/bsg_less_than.v", "bsg_misc/bsg_reduce.v", "bsg_misc/bsg_priority_encode.v", "bsg_misc/bsg_priority_encode_one_hot_out.v",
         "bsg_misc/bsg_encode_one_hot.v", "bsg_misc/bsg_mul_synth.v", "bsg_fpu/bsg_fpu_preprocess.v", "bsg_fpu/bsg_fpu_clz.v",
         "bsg_fpu/bsg_fpu_sticky.v", "bsg_fpu/bsg_fpu_add_sub.v", "bsg_fpu/bsg_fpu_mul.v")
#: In place of the library's module, which turns vectors round in a way that Yosys does not read.
SCAN = """
module bsg_scan #(parameter width_p = 1, xor_p = 0, and_p = 0, or_p = 0, lo_to_hi_p = 0)
  (input [width_p-1:0] i, output logic [width_p-1:0] o);
  wire [width_p-1:0] t [$clog2(width_p):0];
  assign t[0] = i;
  for (genvar j = 0; j < $clog2(width_p); j = j + 1) begin : row
    if (lo_to_hi_p) assign t[j+1] = t[j] | (t[j] << (1 << j));
    else assign t[j+1] = t[j] | (t[j] >> (1 << j));
  end
  assign o = t[$clog2(width_p)];
endmodule
"""
FORMATS = {"half": BINARY16, "float": BINARY32, "double": BINARY64}
REGISTERS = 3


class Peer(wiring.Component):
    """A unit of bsg_fpu with the ports of a part."""

    def __init__(self, module, fmt):
        self.module, self.format = module, fmt
        super().__init__({"en": In(1), "a": In(fmt.width), "b": In(fmt.width), "o": Out(fmt.width)})

    def elaborate(self, platform):
        m = Module()
        extra = {"i_sub_i": Const(0, 1)} if self.module == "bsg_fpu_add_sub" else {}
        m.submodules.unit = Instance(
            self.module, p_e_p=self.format.exponent, p_m_p=self.format.mantissa, i_clk_i=ClockSignal(), i_reset_i=ResetSignal(), i_en_i=self.en,
            i_v_i=Const(1, 1), i_a_i=self.a, i_b_i=self.b, o_z_o=self.o, i_yumi_i=self.en, **extra)
        return m


def library() -> str:
    """Commands of Yosys that read the library."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        sys.exit("the library to compare with is not installed: pip install pythondata-cpu-blackparrot")
    root = Path(found.origin).parent / STL
    scan = Path(".sluice-cache/pnr_scan.sv").absolute()
    scan.parent.mkdir(exist_ok=True)
    scan.write_text(SCAN)
    files = " ".join(str(path) for path in (*(root / name for name in FILES), scan))
    return f"read_verilog -sv -I{root}/bsg_fpu -I{root}/bsg_misc {files};"


def rows():
    """(unit, library, figures) one after another."""
    read = library()
    units = {"add": ("bsg_fpu_add_sub", FloatAdd, lambda fmt: AddParams(fmt), 250),
             "multiply": ("bsg_fpu_mul", FloatMul, lambda fmt: FloatMulParams(fmt, 18), 195)}
    for unit, (module, part, params, mhz) in units.items():
        for name, fmt in FORMATS.items():
            ports = ({"a": fmt.width, "b": fmt.width}, {"o": fmt.width})
            yield f"{name} {unit}", "bsg_fpu", figures(name, Peer(module, fmt), *ports, REGISTERS, mhz, read)
            for label, chosen in (("ours, flushed", FLUSHED[fmt]), ("ours", fmt)):
                yield f"{name} {unit}", label, figures(name, part(params(chosen), REGISTERS), *ports, REGISTERS, mhz)


def main() -> None:
    print("| unit, 3 registers | whose | reached MHz | LUT4 places | registers | 18x18 |\n| --- | --- | --- | --- | --- | --- |")
    for unit, whose, one in rows():
        print(f"| {unit} | {whose} | {one.fmax:.0f} | {one.comb} | {one.ff} | {one.dsp} |", flush=True)


if __name__ == "__main__":
    main()
