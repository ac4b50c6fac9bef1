"""Compiled programs (.aocx) in `sluice run` and `sluice report`, whole and damaged; hosts that are not in Python."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim import cl
from sim.cl.aocx import Aocx
from sim.cl.binary import Binary
from sim.native_host import use_compiled
from tests.icd.conftest import HOSTS

SOURCE = "__kernel void k(__global int *a) { a[0] = 1; }"
HOST = """import os, sys
import sluice.cl as cl
device = cl.get_platforms()[0].get_devices()[0]
print(device.board.name, device.kind, sys.argv[1:])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("compiled")
    (made / "host.py").write_text(HOST)
    (made / "script.sh").write_text("#!/bin/sh\necho ${OCL_ICD_VENDORS##*/} $SLUICE_BOARD $1\nexit 5\n")
    (made / "script.sh").chmod(0o755)
    files = {"report.txt": b"what it became\n"}
    for name, march in (("soft", "emulator"), ("hard", "hardware")):
        (made / f"{name}.aocx").write_bytes(Aocx(Binary(SOURCE, ()), "ecp5_onchip", march, files).to_bytes())
    (made / "own.aocx").write_bytes(Aocx(Binary(SOURCE, ()), "my_board", "hardware", files).to_bytes())
    (made / "vendor.aocx").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(200))
    whole = (made / "hard.aocx").read_bytes()
    (made / "short.aocx").write_bytes(whole[: len(whole) // 2])
    return made


def sluice(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "sluice", *words], cwd=folder, text=True, capture_output=True, check=False
    )


@pytest.fixture
def devices(folder, monkeypatch):
    """What `sluice run` makes of these words and variables: the rest, board and device."""

    def run(*words: str, **environment: str) -> tuple[list[str], str | None, str | None]:
        for name in ("SLUICE_BOARD", "SLUICE_DEVICE"):
            monkeypatch.setenv(name, environment.get(name, ""))
            if name not in environment:
                monkeypatch.delenv(name)
        monkeypatch.chdir(folder)
        return use_compiled(list(words)), os.environ.get("SLUICE_BOARD"), os.environ.get("SLUICE_DEVICE")

    return run


def test_the_file_names_board_and_device(folder, devices):
    done = sluice(folder, "run", "soft.aocx", "host.py", "x")
    assert done.stdout == "ecp5_onchip emulator ['x']\n", done.stderr
    assert devices("soft.aocx", "host.py", "x") == (["host.py", "x"], "ecp5_onchip", "emulator")
    assert devices("hard.aocx", "host.py") == (["host.py"], "ecp5_onchip", None)
    assert devices("hard.aocx", "host.py", SLUICE_DEVICE="model") == (["host.py"], "ecp5_onchip", "model")
    assert devices("host.py", "x") == (["host.py", "x"], None, None)


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        (("soft.aocx",), {}, "a host program is missing"),
        (("soft.aocx", "nobody.py"), {}, "nobody.py: there is no such host program"),
        (
            ("hard.aocx", "host.py"),
            {"SLUICE_BOARD": "de5net"},
            "compiled for board ecp5_onchip, and the device is de5net",
        ),
        (("soft.aocx", "host.py"), {"SLUICE_DEVICE": "board"}, "was compiled with -march=emulator"),
        (
            ("own.aocx", "host.py"),
            {},
            "compiled for board my_board, which is a file of yours: name it with --board FILE",
        ),
        (("vendor.aocx", "host.py"), {}, "this is the vendor's .aocx, with a bitstream for its board"),
        (("short.aocx", "host.py"), {}, "this is no .aocx of sluice, or it is damaged"),
    ],
)
def test_what_cannot_run_is_refused_by_name(devices, words, environment, said):
    with pytest.raises(cl.LogicError) as refused:
        devices(*words, **environment)
    assert said in refused.value.what


def test_a_refusal_is_a_message(folder):
    done = sluice(folder, "run", "--board", "de5net", "hard.aocx", "host.py")
    assert done.returncode == 1 and done.stderr.startswith("error: the .aocx was compiled for board ecp5_onchip")


def test_reports(folder):
    assert sluice(folder, "report", "hard.aocx").stdout == "what it became\n"
    (folder / "report.txt").write_text("of a folder\n")
    assert sluice(folder, "report", ".").stdout == "of a folder\n"
    done = sluice(folder, "report", "/")
    assert done.returncode == 1 and "report.txt cannot be read" in done.stderr and "Traceback" not in done.stderr
    assert sluice(folder, "report", "short.aocx").returncode == 1


def test_a_host_of_another_language_gets_the_driver(driver, folder):
    done = sluice(folder, "run", "hard.aocx", "script.sh", "one")
    assert (done.returncode, done.stdout) == (5, "sluice.icd ecp5_onchip one\n"), done.stderr


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_a_host_in_c_says_the_figures(driver):
    host = driver.build(HOSTS / "host.c")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sluice", "run", "--device", "emulator", str(host)],
        cwd=HOSTS,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and ", 0 wrong, " in done.stdout and "saxpy: emulated, 1,024 work-items" in done.stderr


def test_damage_anywhere_is_found():
    whole = Aocx(Binary(SOURCE, ("-DX",)), "de5net", "hardware", {"report.txt": b"r" * 50}).to_bytes()
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :]):
            try:
                found = Aocx.of(damaged)
            except cl.LogicError as error:
                assert error.code == cl.status_code.INVALID_BINARY
            else:  # a byte that says nothing, such as one of a date
                assert found == Aocx.of(whole), at


def test_hosts_that_import_pyopencl_itself_run_with_the_driver(driver, tmp_path, monkeypatch):
    pytest.importorskip("pyopencl")
    for name in ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLUICE_CACHE", driver.environment["SLUICE_CACHE"])
    stats = tmp_path / "stats.json"
    words = ("--device", "emulator", "--stats-file", str(stats), "host.py")
    done = sluice(HOSTS, "run", *words)
    assert done.returncode == 0 and done.stdout.startswith("device: de5net "), done.stderr
    assert [one["kernel"] for one in json.loads(stats.read_text())] == ["saxpy"] and "saxpy: emulated" in done.stderr
    # where the driver cannot be built
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path))
    (tmp_path / "host.py").write_text("import pyopencl\nprint('on')\n")
    done = sluice(tmp_path, "run", "host.py")
    assert (
        done.stdout == "on\n" and "the host imports pyopencl, which does not run on the simulated board" in done.stderr
    )
    assert "import sluice.cl as cl" in done.stderr
    # where the user has chosen
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    done = sluice(tmp_path, "run", "host.py")
    assert (done.stdout, done.stderr) == ("on\n", "")
