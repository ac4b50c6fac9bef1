"""`sluice build`: the system that LiteX makes of soc.py, and what is built from it; the tools themselves are faked."""

import importlib.util
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.export.description import read_description
from hls.export.soc import soc_text
from hls.export.soc_map import SOC_MAP
from hls.export.write import ExportError, write_export
from hls.target.board import load_board
from sim.errors import ToolMissing
from sim.soc import make
from sim.soc.__main__ import main as build
from sim.soc.clocks import SystemPlaces, longest_path, reached
from sim.synthesis.tools import SynthesisError, Tool

SOURCE = """__kernel void scale(__global const int *restrict a, __global int *restrict b, int f, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] * f;
}
"""
PACKAGES = [name for name in make.PACKAGES.values() if importlib.util.find_spec(name) is None]
needs_litex = pytest.mark.skipif(bool(PACKAGES), reason=f"needs the extra `build`: {', '.join(PACKAGES)}")


def compiled(folder: Path, *options: str) -> Path:
    (folder / "k.cl").write_text(SOURCE)
    command = ["compile", str(folder / "k.cl"), "--no-html", "-o", str(folder / "out"), *options]
    assert CliRunner().invoke(main, command, prog_name="sluice", catch_exceptions=False).exit_code == 0
    return folder / "out"


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("soc"), "--board", "ulx3s")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def run(monkeypatch, capsys):
    def call(folder, *options, board="ulx3s"):
        monkeypatch.setattr("sys.argv", ["build", str(folder), "--board", str(board), *map(str, options)])
        code = build()
        return code, capsys.readouterr()

    return call


class Tools:
    """In the place of yosys, nextpnr and ecppack: placements that reach these MHz, one after the other."""

    def __init__(self, *reaches: float, cells: int = 10, says: str = "") -> None:
        self.reaches, self.cells, self.says, self.calls = list(reaches), cells, says, []

    def run(self, tool, arguments, folder):
        self.calls.append(tool.name)
        if tool.name == "yosys":
            cells = {str(k): {"type": "LUT4"} for k in range(self.cells)}
            (folder / "netlist.json").write_text(json.dumps({"modules": {"soc": {"cells": cells}}}))
            assert (folder / "soc.v").exists() and list((folder / "rtl").glob("sluice_system.v"))
        elif tool.name == "ecppack":
            (folder / "soc.bit").write_text((folder / "soc.config").read_text())
        elif self.reaches:
            asked = re.search(r"FREQUENCY (\S+)", (folder / "soc.lpf").read_text())
            clock = {"achieved": self.reaches.pop(0), "constraint": float(asked[1])}
            (folder / "report.json").write_text(json.dumps({"fmax": {"sys": clock}, "critical_paths": []}))
            (folder / "soc.config").write_text(f"placed for {asked[1]} by {' '.join(arguments)}")
        failed = tool.name.startswith("nextpnr") and bool(self.says)
        return subprocess.CompletedProcess([], int(failed), "", self.says if failed else "")


@pytest.fixture
def faked(monkeypatch):
    """Replaces the tools, and LiteX by two lines."""

    def elaborate(system, mhz):
        (system.folder / "soc.v").write_text(f"module soc; // for {mhz}")
        (system.folder / "soc.lpf").write_text(f"FREQUENCY {mhz}")
        (system.folder / "soc.json").write_text("{}")

    def install(*reaches, **more):
        tools = Tools(*reaches, **more)
        monkeypatch.setattr(Tool, "run", lambda tool, *given: tools.run(tool, *given))
        monkeypatch.setattr(Tool, "version", lambda tool: "1.0")
        monkeypatch.setattr(make, "check_packages", lambda board: None)
        monkeypatch.setattr(make, "version", lambda name: "1.0")
        monkeypatch.setattr(make._System, "_elaborate", elaborate)
        return tools

    return install


@needs_litex
@pytest.mark.skipif(importlib.util.find_spec("liteeth") is None, reason="needs the extra `build`: liteeth")
@pytest.mark.parametrize("board", ["ecpix5", "orangecrab"])
def test_litex_elaborates_systems_with_ddr3(board, tmp_path):
    """For the board and for a simulation, registers lie where hosts look for them, and every pin has a place."""
    out = compiled(tmp_path, "--board", board)
    described = read_description(out)
    text = soc_text(described, load_board(board))
    write_export(described, out, "litex", tmp_path / "soc", lambda new: (new / "soc.py").write_text(text))
    for options in ((), ("--simulation",)):
        made = tmp_path / f"made{len(options)}"
        command = [make.sys.executable, str(tmp_path / "soc/soc.py"), str(made), *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        registers = {
            name: one["addr"] for name, one in json.loads((made / "soc.json").read_text())["csr_registers"].items()
        }
        base = SOC_MAP.controller
        for phase in (0, 1):
            names = ("command", "command_issue", "address", "baddress", "wrdata", "rddata")
            found = [registers[f"sdram_dfii_pi{phase}_{name}"] for name in names]
            assert found == [base + 4 * (1 + 8 * phase + word) for word in (0, 1, 2, 3, 4, 6)]
        lanes = ("dly_sel", "rdly_dq_rst", "rdly_dq_inc", "rdly_dq_bitslip_rst", "rdly_dq_bitslip")
        assert [registers[f"sdrphy_{name}"] for name in lanes] == [SOC_MAP.phy + 4 * k for k in range(5)]
        assert registers.get("link_written", SOC_MAP.written) == SOC_MAP.written
        assert ("link_written" in registers) == (board == "ecpix5")
    located = re.findall(r'LOCATE COMP "([\w.]+)', (tmp_path / "made0/soc.lpf").read_text())
    pins = {"ddram_clk_p", "ddram_dq", "ddram_dm", "serial_tx", "serial_rx"}
    pins |= {"eth_tx_ctl", "rst_n"} if board == "ecpix5" else {"usr_btn", "rst_n", "ddram_vccio"}
    assert pins <= {name.partition("[")[0] for name in located}


@needs_litex
def test_litex_elaborates_the_system(design, tmp_path):
    """For the board and for a simulation: every port of the design is connected, every pin has a place, and registers
    lie where hosts look for them."""
    described = read_description(design)
    text = soc_text(described, load_board("ulx3s"))
    write_export(described, design, "litex", tmp_path / "soc", lambda new: (new / "soc.py").write_text(text))
    for options in ((), ("--simulation",)):
        made = tmp_path / f"made{len(options)}"
        command = [make.sys.executable, str(tmp_path / "soc/soc.py"), str(made), "--clock", "50", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        verilog = (made / "soc.v").read_text()
        (instance,) = re.findall(r"^sluice_system sluice_system\((.*?)^\);", verilog, re.MULTILINE | re.DOTALL)
        assert sorted(re.findall(r"\.(\w+)\s*\(", instance)) == sorted(port.name for port in described.ports)
        found = json.loads((made / "soc.json").read_text())
        registers = {name: one["addr"] for name, one in found["csr_registers"].items()}
        assert [registers[f"design_{name}"] for name in ("digest", "clock", "reset", "interrupt")] == [
            SOC_MAP.digest,
            SOC_MAP.clock,
            SOC_MAP.reset,
            SOC_MAP.interrupt,
        ]
        base = SOC_MAP.controller
        names = ("control", "pi0_command", "pi0_command_issue", "pi0_address", "pi0_baddress")
        assert [registers[f"sdram_dfii_{name}"] for name in names] == [base + 4 * k for k in range(5)]
        assert found["memories"]["main_ram"]["base"] == SOC_MAP.memory and found["digest"] == described.digest
        assert found["memories"]["kernels"]["base"] == SOC_MAP.kernels
    ports = set(re.findall(r"^    (?:input|output|inout) .*?(\w+),?$", verilog.partition("\n);")[0], re.MULTILINE))
    assert ports == {"clk", "rst", "serial_tx", "serial_rx", "sim_trace"}
    located = re.findall(r'LOCATE COMP "(\w+)', (tmp_path / "made0/soc.lpf").read_text())
    assert {"clk25", "serial_tx", "serial_rx", "sdram_clock", "sdram_dq", "sdram_dm", "wifi_gpio0"} <= set(located)
    assert 'FREQUENCY PORT "clk25" 25' in (tmp_path / "made0/soc.lpf").read_text()


def test_a_bitstream(design, run, faked):
    tools = faked(62.0)
    code, said = run(design)
    assert code == 0, said.err
    soc = design / "soc"
    assert f"{soc / 'soc.bit'}: LFE5U-85F-6BG381C at 60 MHz (62 MHz reached)\n" in said.out
    assert f"load it: openFPGALoader --board ulx3s {soc / 'soc.bit'}\n" in said.out
    assert "--85k --package CABGA381 --speed 6" in (soc / "soc.bit").read_text()
    names = {path.name for path in soc.iterdir()}
    assert names == {
        *("soc.py", "sluice_system.py", "rtl", "soc.v", "soc.lpf", "soc.json", "soc.bit", "build.sh", ".sluice-export")
    }
    assert "python soc.py . --clock 60\n" in (soc / "build.sh").read_text()
    # nothing is made twice, and the folder is replaced as a whole
    assert run(design)[0] == 0 and tools.calls == ["yosys", "nextpnr-ecp5", "ecppack", "ecppack"]
    (soc / "mine.txt").write_text("not ours")
    code, said = run(design)
    assert code == 1 and "holds files that no export wrote: mine.txt" in said.err
    (soc / "mine.txt").unlink()


def test_a_slower_clock_where_timing_is_not_met(design, run, faked):
    """Near the clock other placements are tried; far from it, the clock that was reached."""
    tools = faked(58.0, 59.5, 60.1)
    code, said = run(design, "--seed", 5)
    assert code == 0 and "at 60 MHz (60.1 MHz reached)" in said.out and "59.5 MHz (seed 6)" in said.err
    assert "--seed 7" in (design / "soc/soc.bit").read_text()
    tools = faked(44.9, 44.2)
    code, said = run(design, "--seed", 10)
    assert code == 0 and "at 44 MHz, slower than the 60 MHz that it was compiled for (44.2 MHz reached)" in said.out
    assert tools.calls.count("yosys") == 1, "that for 60 MHz was kept; the one for 44 MHz differs"
    assert "--clock 44\n" in (design / "soc/build.sh").read_text()
    faked(40.0, 30.0, 20.0, 10.0)
    before = (design / "soc/soc.bit").read_text()
    code, said = run(design, "--seed", 20)
    assert code == 1 and "error[E0919]" in said.err and "60 MHz (40 reached), 40 MHz (30 reached)" in said.err
    assert "--seed 2, 3" in said.err
    assert (design / "soc/soc.bit").read_text() == before and not list(design.glob(".new*"))


def test_a_clock_of_another_domain_counts():
    def report(cross: float) -> dict:
        path = {"from": "posedge sys", "to": "posedge sys2x", "path": [{"delay": cross / 2}, {"delay": cross / 2}]}
        clocks = {"sys": {"achieved": 66, "constraint": 60}, "sys2x": {"achieved": 180, "constraint": 120}}
        outside = {"from": "<async>", "to": "posedge sys", "path": [{"delay": 99}]}
        return {"fmax": clocks, "critical_paths": [path, outside]}

    assert reached(report(5.0)) == pytest.approx(1.1)
    assert reached(report(10.0)) == pytest.approx(1000 / 120 / 10)
    with pytest.raises(ValueError, match="no clock"):
        reached({"fmax": {}, "critical_paths": []})


def test_the_longest_path_is_told_in_places_of_the_source(design):
    """Of the clock that is missed by most, here one between two clocks; what is not of the design has one name."""

    def hop(kind, cell, delay, port="A"):
        return {"type": kind, "delay": delay, "from": {"cell": cell, "port": port}, "to": {"cell": cell, "port": port}}

    path = [
        hop("clk-to-q", "storage_DO_TRELLIS_FF_Q", 0.5, "Q"),
        hop("routing", "storage_DO_TRELLIS_FF_Q", 9.0),
        hop("logic", "sluice_system.scale.top.loop_i_L3.n20_LUT4_Z", 0.5),
        hop("routing", "sluice_system.scale.top.loop_i_L3.n20_LUT4_Z", 1.0),
        hop("setup", "sluice_system.scale.top.loop_i_L3.n20_TRELLIS_FF_Q", 0.0),
    ]
    clocks = {"sys": {"achieved": 80.0, "constraint": 60.0}, "sys2x": {"achieved": 130.0, "constraint": 120.0}}
    report = {"fmax": clocks, "critical_paths": [{"from": "posedge sys2x", "to": "posedge sys", "path": path}]}
    first, second = longest_path(report, SystemPlaces(read_description(design), {"scale": 1}, "sluice_system"))
    assert (first.place.part, first.ns) == ("memory controller and host link", 0.5)
    assert (second.place.kernel, second.place.line) == ("scale", 3)
    assert (second.routing_ns, second.logic_ns) == (10.0, 0.5)
    assert reached(report) == pytest.approx(1000 / 120 / 11)


def test_what_cannot_be_built(design, run, faked, tmp_path, monkeypatch):
    code, said = run(design, board="de5net")
    assert code == 1 and "error[E0919]: a bitstream for board de5net is made by Intel Quartus" in said.err
    assert "sluice export --for quartus" in said.err
    code, said = run(design, board="ecp5_onchip")
    assert code == 1 and "its file has no table [soc]" in said.err
    code, said = run(design, board="none")
    assert code == 1 and "error[E0904]: none: unknown board" in said.err
    code, said = run(tmp_path)
    assert code == 1 and "name an output folder of `sluice compile`" in said.err
    other = compiled(tmp_path, "--board", "ecpix5")
    code, said = run(other)
    assert code == 1 and "was compiled for board ecpix5 (LFE5UM5G-85F-8BG554I), not for ulx3s" in said.err
    monkeypatch.setattr(make.importlib.util, "find_spec", lambda name: None)
    code, said = run(design)
    assert code == 1 and "litedram, litex-boards, migen are not installed" in said.err
    assert "pip install sluice-hls[build]" in said.err
    monkeypatch.undo()


def test_what_a_system_has_not(design):
    """Kinds of design that no system is made of."""
    described, board = read_description(design), load_board("ulx3s")
    stream = replace(described.streams[0]) if described.streams else None
    assert stream is None
    with pytest.raises(ExportError, match="starts its kernels by registers"):
        soc_text(replace(described, control="wires"), board)
    with pytest.raises(ExportError, match="nothing to connect to streams of the design: printf_0"):
        printing = type("Stream", (), {"name": "printf_0"})()
        soc_text(replace(described, streams=(printing,)), board)


def test_a_design_that_does_not_fit(design, run, faked):
    faked(62.0, cells=90_000)
    code, said = run(design)
    assert code == 1 and "does not fit LFE5U-85F-6BG381C: it takes 90,000 LUT places of 83,640" in said.err


def test_tools_that_refuse(design, run, faked):
    faked(says="ERROR: Unable to place cell 'x', no BELs remaining to implement cell type 'DP16KD'")
    code, said = run(design)
    assert code == 1 and "does not fit LFE5U-85F-6BG381C: Unable to place cell" in said.err
    faked(says="ERROR: something else")
    code, said = run(design)
    assert code == 1 and "nextpnr ended with 1" in said.err and "something else" in said.err


def test_a_missing_tool(design, run, faked, monkeypatch):
    faked()

    def missing(tool):
        raise ToolMissing(f"{tool.name} is not installed")

    monkeypatch.setattr(Tool, "version", missing)
    code, said = run(design)
    assert code == 1 and "yosys is not installed" in said.err and "pip install sluice-hls[build]" in said.err


def test_litex_that_refuses(design, tmp_path):
    """A failure of soc.py is one message, with what it said."""
    (tmp_path / "soc.py").write_text("raise ValueError('no such pin')")
    described = read_description(design)
    system = make._System(described, {}, load_board("ulx3s"), make.open_part("LFE5U-85F-6BG381C"), tmp_path, 1, print)
    with pytest.raises(SynthesisError, match="LiteX refuses the system: ValueError: no such pin") as told:
        system._elaborate(60.0)
    assert "Traceback" in told.value.log


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cl").write_text(SOURCE)
    told = CliRunner().invoke(main, ["build", "--help"], prog_name="sluice").output
    assert all(option in told for option in ("--board", "--clock", "--seed", "-o "))
    for board, words in (("de5net", "made by Intel Quartus"), ("crosslinknx", "has no table [soc]")):
        done = CliRunner().invoke(main, ["build", "k.cl", "--board", board], prog_name="sluice")
        assert done.exit_code == 1 and words in done.stderr and not (tmp_path / "k").exists()
    called = []
    monkeypatch.setattr("hls.cli_build.supervise", lambda command, _: called.append(command) or 0)
    command = ["build", "k.cl", "--board", "ulx3s", "--clock", "50", "--seed", "3", "-o", "made", "-D", "N=4"]
    assert CliRunner().invoke(main, command, prog_name="sluice").exit_code == 0
    first, second = (" ".join(one[3:]) for one in called)
    assert first == "sluice compile --board ulx3s@50 -o made -D N=4 -- k.cl"
    assert second == "sluice.build --board ulx3s@50 --seed 3 -- made"
