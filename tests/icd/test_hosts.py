"""The hosts of examples/hosts, as their users build and run them."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from hls.target.board import known_boards
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
    """Statistics, profile and waveform of one run, as the environment asks for them."""
    stats, profile, trace = tmp_path / "stats.json", tmp_path / "profile", tmp_path / "waves.fst"
    done = driver.run(
        driver.build(HOSTS / "host.c"),
        SLUICE_DEVICE="board",
        SLUICE_STATS=str(stats),
        SLUICE_PROFILE=str(profile),
        SLUICE_TRACE=str(trace),
        timeout=900,
    )
    assert done.returncode == 0 and RIGHT in done.stdout, done.stderr
    (launch,) = json.loads(stats.read_text())
    assert launch["kernel"] == "saxpy" and launch["cycles"] > 1024
    assert f"{launch['cycles']:,}" in done.stderr, "the cycle report is printed as by `sluice run`"
    assert "saxpy" in (profile / "profile.txt").read_text() and "Kernels" in done.stderr
    assert json.loads((profile / "profile.json").read_text()) and (profile / "profile.html").is_file()
    assert trace.stat().st_size > 1000 and trace.with_suffix(".gtkw").is_file() and "gtkwave" in done.stderr


def test_figures_of_the_emulator(driver, tmp_path):
    stats, profile = tmp_path / "stats.json", tmp_path / "profile"
    done = driver.run(driver.build(HOSTS / "host.c"), SLUICE_STATS=str(stats), SLUICE_PROFILE=str(profile))
    assert done.returncode == 0 and RIGHT in done.stdout, done.stderr
    (launch,) = json.loads(stats.read_text())
    assert (launch["kernel"], launch["device"], launch["work_items"]) == ("saxpy", "emulator", 1024)
    assert "saxpy: emulated, 1,024 work-items" in done.stderr
    assert "launched no kernel on the board: there is nothing to profile" in done.stderr and not profile.exists()
    done = driver.run(driver.build(HOSTS / "host.c"), SLUICE_STATS="1")
    assert "saxpy: emulated, 1,024 work-items" in done.stderr
    done = driver.run(driver.build(HOSTS / "host.c"), SLUICE_STATS=str(tmp_path / "no/folder/stats.json"))
    assert done.returncode == 0 and "stats.json" in done.stderr and "Traceback" not in done.stderr


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
    found = [name.split()[0] for name in names]
    assert found[0] == "de5net" and sorted(found) == list(known_boards())
    assert "Coarse-grained buffer sharing                 Yes" in done.stdout
    # clinfo puts the names of all devices of a context behind one another, and has no room for so many
    others = [line for line in done.stdout.lower().splitlines() if "checknullctxfromtype" not in line]
    assert not any("error" in line.replace("error correction support", "") for line in others)


def test_the_platform_answers_to_the_name_that_a_host_looks_for(driver):
    name = "Intel(R) FPGA SDK for OpenCL(TM)"
    done = driver.python("print(cl.get_platforms()[0].name)", SLUICE_PLATFORM_NAME=name)
    assert done.stdout.strip() == name, done.stderr


def test_the_board_that_is_chosen_is_the_only_device(driver):
    """A host that loads one binary into all devices finds none of another board."""
    text = "print([d.name.split()[0] for d in cl.get_platforms()[0].get_devices()])"
    assert driver.python(text, SLUICE_BOARD="ecp5_onchip").stdout.strip() == "['ecp5_onchip']"


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind")
def test_the_host_in_c_leaks_nothing_and_reads_nothing_undefined(driver):
    """In the host's own process: what forks for the server only starts it."""
    checks = ("--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible")
    done = driver.run("valgrind", "-q", "--child-silent-after-fork=yes", *checks, driver.build(HOSTS / "host.c"))
    assert done.returncode == 0 and RIGHT in done.stdout, done.stderr


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
