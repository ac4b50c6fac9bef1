"""How processor time is divided into building, compiling and the rest, and what is printed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spent import Spent

TESTS = """
import subprocess, sys
from hls.driver import compile
from tests.plans import planned
from sim.cache import cached

SPIN = "import time\\nwhile time.process_time() < {seconds}: pass"

def spin(seconds):
    subprocess.run([sys.executable, "-S", "-c", SPIN.format(seconds=seconds)], check=True)

def make(folder):
    spin(0.9)
    (folder / "simulator").write_text("of nothing")

def test_one():
    cached("design", "0123", "simulator", make)
    spin(0.6)

def test_other():
    compile("kernel void k(global int *a) { a[0] = 1; }")
    planned("kernel void k(global int *a) { a[0] = 2; }")
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_the_kinds(tmp_path, monkeypatch, workers):
    root = Path(__file__).parents[1]
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (tmp_path / "test_these.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(
        "from tests.spent import Spent\n"
        "def pytest_configure(config):\n"
        "    spent = Spent(lambda item: item.name)\n"
        "    spent.install()\n"
        "    config.pluginmanager.register(spent)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, "test_these.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    kinds, groups = done.stdout.splitlines()[-3:-1]
    seconds = {words.rstrip(" 0123456789."): float(words.split()[-1]) for words in kinds.split("; ")[1].split(", ")}
    # Lower bounds are what was spun; the machine only adds to them.
    assert seconds["building simulators"] >= 0.9 and seconds["running simulators and commands"] >= 0.6
    assert seconds["compiling kernels"] > 0 and seconds["collecting tests"] > 0
    assert {"planning kernels", "the front end"} <= seconds.keys()
    assert groups.startswith("most of them in: ") and "test_one" in groups and "test_other" in groups


def test_recorded_seconds_keep_other_groups(tmp_path):
    spent, file = Spent(lambda item: item.name, tmp_path / "seconds.json"), tmp_path / "seconds.json"
    file.write_text('{"earlier": 3.0, "again": 9.0}')
    spent.groups.update({"again": 1.25, "long": 70.04})
    spent.write(file)
    assert list(json.loads(file.read_text()).items()) == [("long", 70.0), ("earlier", 3.0), ("again", 1.2)]
