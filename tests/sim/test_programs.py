"""External programs, and the processes that they started, end with their user."""

import os
import subprocess
import sys
import threading
import time

import pytest

from sim.errors import BuildError
from sim.programs import Programs

#: Starts a second process that does not heed SIGTERM for a while and writes a file then, and goes first itself.
PARTS = """import os, signal, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", '''import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.5), open(sys.argv[1], "w").close(), sys.exit(0)))
print("ready", flush=True)
time.sleep(60)
''', sys.argv[1]])
time.sleep(60)
"""


def test_a_program_runs_to_its_end():
    with Programs() as programs:
        done = programs.run(
            [sys.executable, "-c", "import sys; print(input()); print('no', file=sys.stderr); sys.exit(3)"],
            input="yes\n",
        )
    assert (done.returncode, done.stdout, done.stderr) == (3, "yes\n", "no\n")


def test_the_end_is_that_of_all_parts(tmp_path):
    with Programs() as programs:
        process = programs.start(
            [sys.executable, "-c", PARTS, str(tmp_path / "late")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
    assert process.returncode == -15 and (tmp_path / "late").exists(), "the second part was not waited for"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_what_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr("sim.programs.PATIENCE", 0.3)
    with Programs() as programs:
        process = programs.start(
            ["sh", "-c", "trap '' TERM; echo; while true; do sleep 0.1; done"], stdout=subprocess.PIPE
        )
        process.stdout.readline()
    assert process.returncode == -9


def test_none_is_started_behind_the_end():
    programs = Programs()
    programs.end()
    with pytest.raises(BuildError, match="interrupted"):
        programs.run(["true"])


def test_a_run_in_another_thread_ends_as_well():
    programs, done = Programs(), []
    thread = threading.Thread(target=lambda: done.append(programs.run(["sleep", "60"])))
    thread.start()
    while not programs._running:
        time.sleep(0.01)
    programs.end()
    thread.join(10)
    assert done[0].returncode == -15


def test_a_program_that_is_not_there():
    with Programs() as programs, pytest.raises(FileNotFoundError):
        programs.run(["/no/such/program"])
