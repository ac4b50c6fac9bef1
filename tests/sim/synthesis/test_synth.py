"""`sluice synth`: one small design by the real tools, and what is said of what cannot be placed."""

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.report import html as report_html
from hls.report.schema import schema
from sim.errors import ToolMissing
from sim.synthesis.__main__ import main as synth
from sim.synthesis.tools import NEXTPNR_ECP5, YOSYS, Tool

SOURCE = """__kernel void scale(__global const int *restrict a, __global int *restrict b, int f, int n)
{
    __local int seen[1024];
    for (int i = 0; i < n; i++)
        seen[i & 1023] = a[i] * f;
    for (int i = 0; i < n; i++)
        b[i] = seen[(i * 7) & 1023];
}
"""


def compiled(folder, *options):
    (folder / "k.cl").write_text(SOURCE)
    command = ["compile", str(folder / "k.cl"), "--no-html", "-o", str(folder / "out"), *options]
    assert CliRunner().invoke(main, command, prog_name="sluice", catch_exceptions=False).exit_code == 0
    return folder / "out"


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("synth"), "--board", "ecp5_onchip", "--control", "wires")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(monkeypatch, capsys, cache):
    monkeypatch.setenv("SLUICE_CACHE", str(cache))

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["synth", *map(str, arguments)])
        code = synth()
        return code, capsys.readouterr()

    return call


def _needs_tools():
    for tool in (YOSYS, NEXTPNR_ECP5):
        try:
            tool.command()
        except ToolMissing as error:
            pytest.skip(str(error))


def test_a_small_design(design, run, monkeypatch):
    _needs_tools()
    (design / "report.html").write_text("a page without it")
    code, said = run(design, "--freq", 100, "--json")
    assert code == 0, said.err
    found = json.loads(said.out)
    report = json.loads((design / "report.json").read_text())
    assert report["synthesis"] == found and (design / "report.html").read_text() == report_html.render_plain(report)
    jsonschema.validate(report, schema())
    assert found == json.loads((design / "synthesis.json").read_text())
    # the block RAMs and DSP blocks that were planned are those that were mapped
    row = found["design"]
    assert row["rams"] == {"mapped": 2, "estimated": 2, "error": 0.0}
    assert row["dsps"] == {"mapped": 3, "estimated": 3, "error": 0.0}
    for rows in ("kernels", "parts", "lines"):
        for kind in ("places", "luts", "registers", "rams", "dsps"):
            assert sum(one["mapped"][kind] for one in found[rows]) == row["mapped"][kind]
    for kind in ("logic", "registers", "rams", "dsps"):
        assert sum(one[kind]["estimated"] for one in found["kernels"]) == row[kind]["estimated"]
    (multiplier,) = [one for one in found["lines"] if one["mapped"]["dsps"]]
    assert (multiplier["kernel"], multiplier["line"]) == ("scale", 5)
    placed = found["placed"]
    assert placed["met"] and placed["path"][0]["place"]["kernel"] == "scale"
    assert placed["path_ns"] == pytest.approx(1000 / placed["reached_mhz"], rel=0.02)
    # nothing is made twice
    monkeypatch.setattr(Tool, "run", None)
    code, said = run(design, "--freq", 100)
    assert code == 0 and said.out == (design / "synthesis.txt").read_text()
    assert re.search(r"clock: \S+ MHz reached, 100 MHz asked: met", said.out)


def test_a_clock_that_is_not_reached(design, run):
    _needs_tools()
    code, said = run(design, "--freq", 700)
    assert code == 1 and "700 MHz asked: NOT MET" in said.out and "help: compile for a higher clock" in said.out
    assert "error[E0918]: " in said.err and (design / "synthesis.txt").read_text() == said.out


def test_a_design_that_does_not_fit(design, run, tmp_path):
    _needs_tools()
    text = (Path(__file__).parents[3] / "boards/ecp5_onchip.toml").read_text()
    small = tmp_path / "small.toml"
    small.write_text(text.replace("count = 208 ", "count = 1 ").replace("registers = 83640", "registers = 100"))
    code, said = run(design, "--board", small)
    assert code == 1 and "error[E0917]" in said.err
    assert re.search(r"does not fit LFE5UM5G-85F-8BG756C: it takes \d+ registers of 100, 2 block RAMs of 1\n", said.err)


def test_a_device_that_is_mapped_only(run, tmp_path):
    """No open tool places a Nexus: there are resources, and no clock."""
    _needs_tools()
    out = compiled(tmp_path, "--board", "crosslinknx", "--control", "wires")
    (out / "report.html").write_text("a page without it")
    code, said = run(out, "--json")
    assert code == 0 and "nextpnr" not in said.err, said.err
    found = json.loads(said.out)
    report = json.loads((out / "report.json").read_text())
    jsonschema.validate(report, schema())
    assert found["placed"] is None and report["synthesis"] == found and [one[:5] for one in found["tools"]] == ["yosys"]
    row = found["design"]
    assert row["rams"] == {"mapped": 2, "estimated": 2, "error": 0.0}
    assert row["dsps"] == {"mapped": 3, "estimated": 3, "error": 0.0}
    assert abs(row["logic"]["error"]) < 75 and abs(row["registers"]["error"]) < 25
    for kind in ("places", "luts", "registers", "rams", "dsps"):
        assert sum(one["mapped"][kind] for one in found["kernels"]) == row["mapped"][kind]
    text = (out / "synthesis.txt").read_text()
    assert "clock: not known, as no open tool here places this device\n" in text and "Critical path" not in text


def test_what_cannot_be_synthesized(run, tmp_path, monkeypatch):
    out = compiled(tmp_path)
    code, said = run(out)
    assert code == 1 and "error[E0917]: no open flow here places 5SGXEA7N2F45C2, the device of board de5net" in said.err
    assert "sluice export" in said.err and not (out / "synthesis.txt").exists()
    code, said = run(out, "--board", "none")
    assert code == 1 and "error[E0904]: none: unknown board" in said.err
    code, said = run(tmp_path)
    assert code == 1 and "name an output folder of `sluice compile`" in said.err
    monkeypatch.setattr(Tool, "command", _missing)
    code, said = run(out, "--board", "ecp5_onchip")
    assert code == 1 and "yosys is not installed" in said.err and "pip install sluice-hls[synth]" in said.err
    shutil.rmtree(out / "rtl")
    monkeypatch.setattr(Tool, "version", lambda self: "yosys 1.0")
    code, said = run(out, "--board", "ecp5_onchip")
    assert code == 1 and "No such file or directory" in said.err and "compile it again" in said.err


def _missing(self):
    raise ToolMissing(f"{self.name} is not installed")


def test_old_figures_go_with_the_old_design(tmp_path):
    out = compiled(tmp_path)
    (out / "synthesis.txt").write_text("of another design")
    compiled(tmp_path)
    assert not (out / "synthesis.txt").exists()


def test_the_command_says_how_it_is_called():
    told = CliRunner().invoke(main, ["synth", "--help"], prog_name="sluice").output
    assert "OUT is an output folder" in told and "--seed" in told and "--board" in told
