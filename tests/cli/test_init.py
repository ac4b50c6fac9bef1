"""`sluice init`: the project that it makes passes at once."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.project.read import read

SLUICE = [sys.executable, "-P", "-m", "sluice"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLUICE_BOARD", raising=False)
    return tmp_path


def sluice(folder: Path, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([*SLUICE, *words], cwd=folder, capture_output=True, text=True, check=False)


def test_a_new_project_passes(folder):
    told = sluice(folder, "init", "filter")
    assert told.returncode == 0, told.stderr
    assert told.stdout.endswith("next: cd filter && sluice check && sluice run --device emulator\n")
    made = folder / "filter"
    checked = sluice(made, "check", "--fail-on-warning")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.startswith("kernel axpy: 1 loop, pipelined")
    run = sluice(made, "run", "--device", "emulator", "--no-stats")
    assert (run.returncode, run.stdout) == (0, "filter: all results are right\n"), run.stderr
    assert read(made / "sluice.toml").board == "de5net"
    workflow = (made / ".github/workflows/sluice.yml").read_text()
    assert "${{ github.workspace }}/.sluice-cache" in workflow and "{%" not in workflow


def test_a_folder_whose_name_has_a_space(folder):
    told = CliRunner().invoke(main, ["init", "a b"])
    assert "next: cd 'a b' && sluice check" in told.output


def test_the_host_finds_a_wrong_kernel(folder):
    assert CliRunner().invoke(main, ["init"]).exit_code == 0
    kernel = folder / "kernel.cl"
    kernel.write_text(kernel.read_text().replace("a * x[i] +", "a * x[i] -"))
    assert sluice(folder, "run", "--device", "emulator", "--no-stats").returncode != 0


def test_files_that_are_there_are_kept(folder):
    (folder / "README.md").write_text("mine\n")
    told = CliRunner().invoke(main, ["init"])
    assert told.exit_code == 1 and "README.md:1: error[E0903]: README.md is there already" in told.stderr
    assert [one.name for one in folder.iterdir()] == ["README.md"] and (folder / "README.md").read_text() == "mine\n"


def test_a_folder_that_cannot_be_made(folder):
    (folder / "file").write_text("")
    told = CliRunner().invoke(main, ["init", "file/inside"])
    assert told.exit_code == 1 and "error[E0903]: cannot write file/inside/kernel.cl: Not a directory" in told.stderr
