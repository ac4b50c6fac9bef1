"""Commands and host programs work in a folder that contains sim/, hls/, boards/ and rtl_lib/ of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

HOST = """import numpy as np
import {module} as cl
import sim.mine, hls.mine, boards.mine, rtl_lib.mine
context = cl.create_some_context(device="emulator")
queue, out, found = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4), np.zeros(1, np.int32)
cl.Program(context, open("k.cl").read()).build().k(queue, (1,), None, out).wait()
cl.enqueue_copy(queue, found, out).wait()
print(found[0], sim.mine.NAME, hls.mine.NAME, boards.mine.NAME, rtl_lib.mine.NAME)
"""
SLUICE = [sys.executable, "-P", "-m", "sluice"]


@pytest.fixture(params=[False, True], ids=["folders", "packages"])
def folder(request, tmp_path):
    for name in ("sim", "hls", "boards", "rtl_lib"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(f"NAME = {name!r}\n")
        if request.param:
            (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "k.cl").write_text("__kernel void k(__global int *o) { o[0] = 7; }\n")
    return tmp_path


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("start", [[*SLUICE, "run", "--no-stats"], [sys.executable]], ids=["sluice run", "python"])
def test_host_programs(folder, start):
    (folder / "host.py").write_text(HOST.format(module="sluice.cl"))
    assert run(folder, *start, "host.py").split() == ["7", "sim", "hls", "boards", "rtl_lib"]


def test_the_old_name_with_sluice_run(folder):
    (folder / "host.py").write_text(HOST.format(module="sim.cl"))
    assert run(folder, *SLUICE, "run", "--no-stats", "host.py").split()[0] == "7"


def test_the_old_name_with_python(folder):
    """Only a package of the program's own hides ours."""
    if (folder / "sim/__init__.py").exists():
        return
    (folder / "host.py").write_text(HOST.format(module="sim.cl"))
    assert run(folder, sys.executable, "host.py").split() == ["7", "sim", "hls", "boards", "rtl_lib"]


def test_compile(folder):
    assert "tb/bench.py" in run(folder, *SLUICE, "compile", "k.cl", "-o", "out", "--testbench")
    assert (folder / "out/tb/test_kernels.py").is_file()


def test_both_names_are_one_module():
    import sim.cl
    import sluice.cl

    assert sluice.cl is sim.cl
