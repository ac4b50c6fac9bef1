"""The driver, built once, and hosts that are compiled against the loader."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim.errors import ToolMissing
from sim.icd.build import build_driver

HERE = Path(__file__).parent
HOSTS = HERE.parents[1] / "examples" / "hosts"
CC = shutil.which("gcc") or shutil.which("cc")


class Driver:
    """Runs host programs with the driver as the only one that the loader finds."""

    def __init__(self, vendor: Path, builds: Path) -> None:
        self._builds = builds
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLUICE_", "CL_", "OCL_"))}
        cache = str(vendor.parents[2])
        self.environment = kept | {
            "OCL_ICD_VENDORS": str(vendor),
            "SLUICE_CACHE": cache,
            "SLUICE_DEVICE": "emulator",
            "SLUICE_VERBOSE": "1",
        }

    def build(self, source: Path, *flags: str) -> Path:
        """The program of a source in C or C++."""
        target = self._builds / source.name.replace(".", "_")
        if not target.exists():
            compiler = [CC or "cc"] if source.suffix == ".c" else ["g++", "-std=c++17"]
            command = [*compiler, "-w", "-O0", str(source), "-o", str(target), *flags, "-lOpenCL", "-pthread"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if "cannot find -lOpenCL" in done.stderr or "CL/" in done.stderr and "No such file" in done.stderr:
                pytest.skip("no OpenCL loader to link with: ocl-icd-opencl-dev, opencl-clhpp-headers")
            assert done.returncode == 0, done.stderr
        return target

    def run(self, *command: str | Path, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a host to its end."""
        return subprocess.run(
            list(map(str, command)),
            cwd=HOSTS,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def python(self, text: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a host of pyopencl itself."""
        return self.run(sys.executable, "-c", "import numpy as np, pyopencl as cl\n" + text, **environment)


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Driver:
    try:
        vendor = build_driver()
    except ToolMissing as error:
        pytest.skip(str(error))
    return Driver(vendor, tmp_path_factory.mktemp("hosts"))
