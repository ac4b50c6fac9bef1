"""`sluice export`: which folders it writes, and what it says of those it cannot."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.export.formats import FORMATS

SOURCE = "__kernel void k(__global int *restrict a) { a[0] = 1; }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLUICE_DEBUG", "1")
    Path("k.cl").write_text(SOURCE)


def sluice(*arguments, code=0):
    result = CliRunner().invoke(main, arguments, prog_name="sluice", catch_exceptions=False)
    assert result.exit_code == code, result.stderr
    return result


def test_all_exports_and_chosen_ones():
    sluice("compile", "k.cl", "--no-html", "-o", "out")
    lines = sluice("export", "out").stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"out/export/{name}" for name in FORMATS]
    assert lines[-1] == "out/export/c: sluice_system.c, sluice_system.h, sluice_system_registers.h"
    sluice("export", "out", "--for", "c", "--for", "litex", "--for", "c", "-o", "new/place")
    assert sorted(one.name for one in Path("new/place").iterdir()) == ["c", "litex"]
    sluice("compile", "k.cl", "--no-html", "-o", "out")  # exports stay beside new results
    assert Path("out/export/c/sluice_system.c").is_file()


def test_a_design_without_registers():
    sluice("compile", "k.cl", "--board", "ecp5_onchip", "--control", "wires", "--no-html", "-o", "out")
    told = sluice("export", "out", "--for", "vivado", "--for", "c", code=1).stderr
    assert told == (
        "error[E0915]: an export for c describes control registers, and this design has none\n"
        "  hint: compile it without --control wires, or choose another --for\n"
    )
    assert not Path("out/export").exists()  # not the one for Vivado either
    shown = sluice("export", "out").stdout
    assert "systemrdl" not in shown and "out/export/fusesoc: " in shown


def test_folders_that_cannot_be_exported():
    Path("empty").mkdir()
    told = sluice("export", "empty", code=1).stderr
    assert told.startswith(
        "error[E0915]: empty/interface.json: No such file or directory\n  hint: name an output folder"
    )
    assert json.loads(sluice("export", "empty", "--diagnostics=json", code=1).stdout)[0]["code"] == "E0915"
    assert "does not exist" in sluice("export", "none", code=2).stderr
    assert "'xilinx' is not one of 'vivado'" in sluice("export", "empty", "--for", "xilinx", code=2).stderr


def test_a_folder_with_other_files_is_kept():
    sluice("compile", "k.cl", "--no-html", "-o", "out")
    Path("mine/c").mkdir(parents=True)
    Path("mine/c/driver.c").write_text("mine")
    told = sluice("export", "out", "--for", "c", "-o", "mine", code=1).stderr
    assert "mine/c holds other files than an export" in told and "-o" in told
    assert Path("mine/c/driver.c").read_text() == "mine"


def test_a_file_of_the_user_in_an_export_is_kept():
    sluice("compile", "k.cl", "--no-html", "-o", "out")
    sluice("export", "out", "--for", "c")
    sluice("export", "out", "--for", "c")
    mine = Path("out/export/c/main.c")
    mine.write_text("int main(void) { return 0; }\n")
    told = sluice("export", "out", "--for", "c", code=1).stderr
    assert "holds files that no export wrote: main.c" in told and mine.is_file()
