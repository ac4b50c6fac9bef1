"""The wheel, installed into an empty environment and used from a folder outside of the tree that shadows its names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
#: what the package is built from
SOURCES = ("pyproject.toml", "README.md", "hls", "rtl_lib", "sim", "boards")


def run(command: list[str], folder: Path, **env: str) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(command, cwd=folder, env=os.environ | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder of scripts of an environment with the wheel, which finds the libraries of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    run([*pip, "wheel", "--no-deps", str(source), "-w", "wheels"], folder)
    (wheel,) = (folder / "wheels").iterdir()
    assert wheel.name.startswith("sluice_hls-") and wheel.stat().st_size < 5_000_000
    run([sys.executable, "-m", "venv", "--without-pip", "env"], folder)
    python = folder / "env/bin/python"
    packages = Path(run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder).strip())
    # libraries alone: not the links to this tree, which are in files of their own
    (packages / "libraries.pth").write_text(f"{Path(np.__file__).parents[1]}\n")
    run([*pip, "--python", str(python), "install", "--no-deps", "--force-reinstall", str(wheel)], folder)
    return folder / "env/bin"


def test_a_project_made_with_the_wheel(installed, tmp_path):
    for name in ("sim", "boards", "hls"):  # folders of a user's own
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('a folder of the user')")
    sluice = str(installed / "sluice")
    place = run([str(installed / "python"), "-P", "-c", "import sluice.cl as cl, hls; print(hls.__file__)"], tmp_path)
    assert Path(place).is_relative_to(installed.parent)
    assert run([sluice, "--version"], tmp_path).startswith("sluice 0.")
    run([sluice, "init", "."], tmp_path)
    run([sluice, "check"], tmp_path)
    assert "all results are right" in run([sluice, "run", "--device", "emulator"], tmp_path)
    (kernel,) = tmp_path.glob("*.cl")
    run([sluice, "compile", kernel.name, "-o", "out", "--testbench"], tmp_path)
    assert (tmp_path / "out/tb/bench.py").is_file() and (tmp_path / "out/report.html").is_file()
    assert run([sluice, "boards"], tmp_path).count("\n") >= 3
    assert "usage: aoc" in run([str(installed / "aoc"), "--help"], tmp_path)
