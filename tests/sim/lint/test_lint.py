"""`sluice lint`: every reader that is installed finds what is planted, and nothing in what is generated."""

import functools
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from sim.lint.__main__ import main as lint
from sim.lint.readers import READERS, STYLE, Command, Reader, messages_in

EXAMPLES = Path(__file__).parents[3] / "examples"
BAD = {
    "Verilator": "module bad(input a, output b); wire c = b; reg d; always @* if (a) d = c; assign b = d; endmodule\n",
    "slang": "module bad(input a, output b); assign b = c; endmodule\n",
    "Icarus Verilog": "module bad(input a, output b); assign b = c; endmodule\n",
}


#: AXI with a channel and a stream, RAM ports with wires, and many kinds of units at narrow words
DESIGNS = {
    "packets": [EXAMPLES / "packets/kernel.cl", "--prefix", "p"],
    "wires": [EXAMPLES / "vecadd/kernel.cl", "--board", "ecp5_onchip", "--control", "wires"],
    "units": [Path(__file__).with_name("units.cl"), "--board", "ulx3s", "--counters", "--axi-address-bits", "32"],
}


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    """The output folder of a design, by its name."""
    root = tmp_path_factory.mktemp("lint")

    @functools.cache
    def compiled(name: str) -> Path:
        command = ["compile", *map(str, DESIGNS[name]), "--no-html", "-o", str(root / name)]
        assert CliRunner().invoke(main, command, prog_name="sluice", catch_exceptions=False).exit_code == 0
        return root / name

    return compiled


def read(monkeypatch, capsys, folder):
    monkeypatch.setattr("sys.argv", ["lint", str(folder)])
    code = lint()
    return code, capsys.readouterr()


@pytest.mark.parametrize("name", DESIGNS)
def test_generated_files_have_no_warning(design, monkeypatch, capsys, name):
    code, said = read(monkeypatch, capsys, design(name))
    assert code == 0, said
    first, *lines = said.out.splitlines()
    assert "files, top module" in first and [line.split(":")[0] for line in lines] == [one.name for one in READERS]
    assert all(line.endswith(": no warning") or ": not installed (" in line for line in lines), lines
    assert "Verilator: no warning" in lines


@pytest.mark.parametrize("reader", READERS, ids=[one.name for one in READERS])
def test_readers_find_what_is_wrong(tmp_path, reader):
    (tmp_path / "bad.v").write_text(BAD[reader.name])
    found = reader.read("bad", [tmp_path / "bad.v"])
    if found is None:
        pytest.skip(f"needs {reader.install}")
    assert found and any("bad.v" in line for line in found), found


def test_a_latch_in_a_design_is_shown(design, tmp_path, monkeypatch, capsys):
    """The rules that are off are of style: what makes hardware wrong is found in generated files as well."""
    shutil.copytree(design("wires"), tmp_path / "out")
    top = tmp_path / "out" / "rtl" / "sluice_system.v"
    latch = "  reg planted;\n  always @* if (rst) planted = clk;\nendmodule"
    top.write_text(top.read_text().replace("endmodule", latch, 1))
    code, said = read(monkeypatch, capsys, tmp_path / "out")
    assert code == 1 and "%Warning-LATCH" in said.out
    assert not {"LATCH", "UNDRIVEN", "MULTIDRIVEN", "UNOPTFLAT", "PINMISSING"} & STYLE.keys()


def test_a_reader_that_fails_without_a_message_is_no_success(tmp_path):
    silent = Reader("silent", lambda: Command(("sh", "-c", "echo broken; exit 3")), lambda top, files: [], "")
    assert silent.read("t", []) == ["silent ended with 3: broken"]
    assert Reader("gone", lambda: None, lambda top, files: [], "").read("t", []) is None


def test_counts_are_no_messages():
    output = "a.v:1:2: error: unknown\nBuild failed: 1 error, 0 warnings\n  1 error generated.\n%Error: Exiting due to 1 error(s)"
    assert messages_in(output) == ["a.v:1:2: error: unknown"]


def test_folders_that_cannot_be_read(design, tmp_path, monkeypatch, capsys):
    code, said = read(monkeypatch, capsys, tmp_path)
    assert code == 1 and "interface.json: No such file" in said.err and "hint: name an output folder" in said.err
    shutil.copytree(design("wires"), tmp_path / "out")
    file = json.loads((tmp_path / "out/interface.json").read_text())["files"][0]
    (tmp_path / "out" / "rtl" / file).unlink()
    code, said = read(monkeypatch, capsys, tmp_path / "out")
    assert code == 1 and f"rtl/{file} is missing" in said.err and "compile again" in said.err
