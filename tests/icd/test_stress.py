"""stress.cpp: eight threads on one context, in one process and in two, to the end and not."""

import os
import signal
import subprocess
import sys

import pytest

from sim.icd.build import DEFINES, SOURCES
from tests.icd.conftest import HERE
from tests.icd.test_processes import gone

SANITIZERS = {
    "address": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "thread": ("-fsanitize=thread",),
}


@pytest.fixture
def host(driver):
    return driver.build(HERE / "stress.cpp", "-DCL_TARGET_OPENCL_VERSION=300")


def test_threads_release_what_commands_use(driver, host):
    done = driver.run(host, 8, 3)
    assert (done.returncode, done.stdout) == (0, "24 rounds, 0 wrong\n"), done.stdout + done.stderr


def test_a_host_may_end_in_the_middle(driver, host, request):
    mark = f"{os.getpid()}-{request.node.name}"
    done = driver.run(host, 8, 3, "leave", MARK=mark)
    assert done.returncode == 3 and gone(mark), done.stdout + done.stderr


def test_two_processes_at_once_and_an_interrupt(driver, host, request):
    mark = f"{os.getpid()}-{request.node.name}"
    heed = ["env", "--default-signal=INT"]  # which the shell of a test run in the background may have had ignored
    start = lambda *words: subprocess.Popen(
        [*heed, str(host), *words],
        env=driver.environment | {"MARK": mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with start("4", "2") as one, start("4", "100000") as other:
        try:
            assert one.communicate(timeout=120)[0] == b"8 rounds, 0 wrong\n"
            other.send_signal(signal.SIGINT)
            other.communicate(timeout=60)
        finally:
            one.kill()
            other.kill()
    assert other.returncode == -signal.SIGINT and gone(mark)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_the_driver_is_clean_under_sanitizers(driver, tmp_path, sanitizer):
    flags = ["-std=gnu++17", "-O1", "-g", "-w", "-pthread", *SANITIZERS[sanitizer]]
    library = tmp_path / "libsluice.so"
    own = ["-shared", "-fPIC", "-fvisibility=hidden", *DEFINES, f'-DSLUICE_PYTHON="{sys.executable}"']
    for command in (
        ["g++", *flags, *own, *sorted(map(str, SOURCES.glob("*.cpp"))), "-o", str(library)],
        [
            "g++",
            *flags,
            "-DCL_TARGET_OPENCL_VERSION=300",
            str(HERE / "stress.cpp"),
            "-o",
            str(tmp_path / "stress"),
            "-lOpenCL",
        ],
    ):
        subprocess.run(command, check=True)
    (tmp_path / "sluice.icd").write_text(f"{library}\n")
    done = driver.run(tmp_path / "stress", 8, 3, OCL_ICD_VENDORS=str(tmp_path / "sluice.icd"))
    assert done.returncode == 0 and "Sanitizer" not in done.stderr, done.stdout + done.stderr
