"""The hosts of examples/hosts, as their users build and run them."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from sim.icd.__main__ import main as icd
from sim.icd.build import install
from tests.icd.conftest import HOSTS

RIGHT = "1024 elements, 0 wrong, "


@pytest.mark.parametrize("source", ["host.c", "host.cpp"])
def test_a_compiled_host_runs_on_the_emulator(driver, source):
    done = driver.run(driver.build(HOSTS / source))
    assert (done.returncode, done.stderr) == (0, "")
    device, result = done.stdout.splitlines()
    assert device.startswith("device: de5net ") and device.endswith(", emulated") and result.startswith(RIGHT)


def test_pyopencl_itself_runs_on_the_emulator(driver):
    pytest.importorskip("pyopencl")
    done = driver.run(sys.executable, "host.py")
    assert done.returncode == 0 and RIGHT in done.stdout, done.stderr


@pytest.mark.verilator
def test_the_host_in_c_runs_on_the_board_with_the_usual_statistics(driver, tmp_path):
    stats = tmp_path / "stats.json"
    done = driver.run(driver.build(HOSTS / "host.c"), SLUICE_DEVICE="board", SLUICE_STATS=str(stats), timeout=900)
    assert done.returncode == 0 and RIGHT in done.stdout, done.stderr
    (launch,) = json.loads(stats.read_text())
    assert launch["kernel"] == "saxpy" and launch["cycles"] > 1024
    assert f"{launch['cycles']:,}" in done.stderr, "the cycle report is printed as by `sluice run`"


def test_a_wrong_kernel_is_shown_by_line(driver, tmp_path):
    (tmp_path / "wrong.cl").write_text("__kernel void saxpy(__global float *x) {\n  x[0] = y;\n}\n")
    done = driver.run(driver.build(HOSTS / "host.c"), tmp_path / "wrong.cl")
    assert done.returncode == 1 and ":2:" in done.stderr and "y" in done.stderr


def test_clinfo_describes_every_board(driver):
    if shutil.which("clinfo") is None:
        pytest.skip("no clinfo")
    done = driver.run("clinfo", SLUICE_VERBOSE="0")
    assert (done.returncode, done.stderr) == (0, "")
    names = [line.split(None, 2)[2] for line in done.stdout.splitlines() if line.startswith("  Device Name")]
    assert [name.split()[0] for name in names] == ["de5net", "a10pac", "ecp5_onchip"]
    assert "Coarse-grained buffer sharing                 Yes" in done.stdout
    assert "error" not in done.stdout.lower().replace("error correction support", "")


def test_the_platform_answers_to_the_name_that_a_host_looks_for(driver):
    name = "Intel(R) FPGA SDK for OpenCL(TM)"
    done = driver.python("print(cl.get_platforms()[0].name)", SLUICE_PLATFORM_NAME=name)
    assert done.stdout.strip() == name, done.stderr


def test_the_vendors_variable_for_emulation_gives_so_many_devices(driver):
    text = "print([d.name.split()[-1] for d in cl.get_platforms()[0].get_devices()])"
    done = driver.python(text, SLUICE_DEVICE="", CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA="2")
    assert done.stdout.strip() == "['emulated', 'emulated']", done.stderr


def test_install_writes_the_file_of_the_system(driver, tmp_path, monkeypatch, capsys):
    """`sluice icd --install`, into another folder than that of the system."""
    _, *arguments = ("icd", "--install")
    monkeypatch.setattr("sim.icd.__main__.install", lambda: install(tmp_path / "vendors"))
    assert icd(arguments) == 0
    file = Path(capsys.readouterr().out.strip())
    assert file == tmp_path / "vendors/sluice.icd" and Path(file.read_text().strip()).name == "libsluice.so"
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("sim.icd.__main__.install", lambda: install(tmp_path / "file"))
    assert icd(arguments) == 1
    assert "needs no root" in capsys.readouterr().err
