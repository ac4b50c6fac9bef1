"""`sluice watch`: each change of a program or its project is compiled, and what changed is printed."""

import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hls.cli_watch import _folders, _included

TEXT = """\
#include "step.h"
__kernel void total(__global const float *restrict a, __global float *restrict out)
{
    float s = 0;
    for (int i = 0; i < 64; i += STEP)
        s += a[i];
    out[0] = s;
}
"""
#: seconds that a compilation may take on a machine with much else to do
PATIENCE = 120


class Watched:
    """A running `sluice watch`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sluice", "watch", *arguments],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def until(self, text: str) -> str:
        """What it prints up to the line with this text."""
        found = []
        while not found or text not in found[-1]:
            found.append(self.lines.get(timeout=PATIENCE))
            assert found[-1], f"it ended: {found}"
        return "".join(found)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "step.h").write_text("#define STEP 1\n")
    (tmp_path / "k.cl").write_text(TEXT)
    (tmp_path / "sluice.toml").write_text('kernels = ["k.cl"]\nboard = "ecp5_onchip"\n')
    return tmp_path


def test_changes_of_program_header_and_project(folder):
    watch = Watched(folder)
    try:
        assert "loop i" in watch.until("waiting for a change of k.cl")
        (folder / "k.cl").write_text(TEXT.replace("float s", "int s"))
        first = watch.until("II")
        assert "before -> now" in first and "total" in first
        (folder / "step.h").write_text("#define STEP nothing\n")
        broken = watch.until("k.cl has errors; waiting for a change")
        assert "error[E0201]" in broken and "'nothing' is not declared" in broken
        (folder / "step.h").write_text("#define STEP 1\n")
        assert "no difference" in watch.until("before -> now")
        (folder / "sluice.toml").write_text('kernels = ["k.cl"]\nboard = "ecp5_onchip"\nclock = 20\n')
        assert "kernel clock in MHz" in watch.until("kernel clock")
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(PATIENCE) == 128 + signal.SIGINT
    finally:
        watch.process.kill()


def test_included_files_are_watched(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "k.cl").write_text('#include "a.h"\n#if 0\n# include <b.h>\n#endif\n#include "none.h"\n')
    (tmp_path / "a.h").write_text('#include "c.h"\n#include "a.h"\n')
    for name in ("b.h", "c.h"):
        (tmp_path / "inc" / name).write_text("")
    found = _included(tmp_path / "k.cl", list(_folders(["--fpc", "-I", str(tmp_path / "inc"), "-Iother"])))
    assert {one.name for one in found} == {"k.cl", "a.h", "b.h", "c.h"}
    assert list(_folders(["-Ix", "-I", "y"])) == [Path("x"), Path("y")]


def test_a_wrong_command_line_ends_it(folder):
    watch = Watched(folder, "k.cl", "--nonsense")
    try:
        assert "No such option" in watch.until("No such option")
        assert watch.process.wait(PATIENCE) == 2
    finally:
        watch.process.kill()
