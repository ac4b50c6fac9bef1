"""The first example of docs/guide.md, from an empty folder, exactly as written there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/guide.md"
SLUICE = [sys.executable, "-P", "-m", "sluice"]


@pytest.fixture
def folder(tmp_path):
    text = GUIDE.read_text()
    for name, language in {"sum.cl": "c", "host.py": "python"}.items():
        (tmp_path / name).write_text(re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1])
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run([*SLUICE, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_compile_and_emulate(folder):
    assert run(folder, "compile", "sum.cl").startswith("kernel row_sums: ")
    assert (folder / "sum/report.txt").is_file()
    assert run(folder, "run", "--device", "emulator", "host.py").splitlines()[-1] == "result check passed"


@pytest.mark.verilator
def test_run(folder):
    done = subprocess.run([*SLUICE, "run", "host.py"], cwd=folder, capture_output=True, text=True, check=True)
    assert "measured II" in done.stderr and done.stdout.splitlines()[-1] == "result check passed"
