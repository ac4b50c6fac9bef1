"""A command whose output has no reader any more, as in `sluice predict HOST.py | head -1`, ends without a message."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HOST = """
import numpy as np
from sluice import cl

context = cl.create_some_context()
queue = cl.CommandQueue(context)
program = cl.Program(context, "__kernel void k(int n) {}").build()
kernel = program.k
for n in range(3):
    kernel(queue, (1,), None, np.int32(n))
queue.finish()
print("done")
"""
FAILS = "import sys\nprint('begun')\nsys.exit('no data')\n"
#: the command, and what it says on stderr with its exit code
COMMANDS = {
    "predict ends.py": ("", 128 + signal.SIGPIPE),
    "run --device=emulator --no-stats ends.py": ("", 128 + signal.SIGPIPE),
    "run --device=emulator --no-stats fails.py": ("no data\n", 1),
    "explain W0803": ("", 128 + signal.SIGPIPE),
    "check --help": ("", 128 + signal.SIGPIPE),
    "compile k.cl --stop-after=inline": ("", 128 + signal.SIGPIPE),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_nobody_reads(command: str, tmp_path: Path):
    (tmp_path / "ends.py").write_text(HOST)
    (tmp_path / "fails.py").write_text(FAILS)
    (tmp_path / "k.cl").write_text("__kernel void k(__global int *a) { *a = 1; }")
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "sluice", *command.split()],
            cwd=tmp_path,
            env={name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"},
            stdout=writes,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writes)
    assert (done.stderr, done.returncode) == COMMANDS[command]
