"""A signal ends a command in any stage: exit code 128 + n, and no process, file or unfinished folder is left."""

import os
import signal
import struct
import subprocess
import sys
import time

import pytest

from tests.faults.commands import RTL_RUN, STAGES, Command

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def command(tmp_path, cache):
    command = Command(tmp_path / "work", cache)
    yield command
    if command.process is not None:
        command.kill()


def check(command, number, code):
    assert code == 128 + number, command.said
    assert command.left() == []
    assert "Traceback" not in command.said and "rror" not in command.said, command.said


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
@pytest.mark.parametrize("name", STAGES)
def test_each_stage(command, name, number):
    command.start(STAGES[name].arguments)
    assert command.reaches(STAGES[name]), command.said
    check(command, number, command.end(number))
    assert name not in ("compile", "translate") or not (command.folder / "out").exists()


@pytest.mark.parametrize("name", ["translate", "host compiles", "verilate", "emulator run"])
def test_a_signal_to_all_processes_at_once(command, name):
    """As a terminal or `timeout` sends it."""
    command.start(STAGES[name].arguments)
    assert command.reaches(STAGES[name]), command.said
    check(command, signal.SIGINT, command.end(signal.SIGINT, os.killpg))


@pytest.mark.verilator
@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_while_the_simulation_runs(command, number):
    command.start(RTL_RUN.arguments)
    assert command.reaches(RTL_RUN, 300), command.said
    check(command, number, command.end(number))


@pytest.mark.verilator
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_the_waveform_of_a_run_that_was_ended(command, number):
    """It holds all cycles until then, and is closed."""
    command.start(("run", "--trace", "wave.fst", *RTL_RUN.arguments[1:]))
    assert command.reaches(RTL_RUN, 300), command.said
    time.sleep(2)
    check(command, number, command.end(number))
    header = (command.folder / "wave.fst").read_bytes()[:33]
    first, last = struct.unpack(">QQ", header[9:25])
    assert header[0] == 0 and first < last


@pytest.mark.verilator
@pytest.mark.parametrize("of_host", [False, True], ids=["of the command", "of the host program"])
def test_an_end_by_force(command, of_host):
    """Nobody can clean up, and yet nothing goes on: each process looks after the one it works for."""
    command.start(RTL_RUN.arguments)
    assert command.reaches(RTL_RUN, 300), command.said
    victim = (
        next(one for one, line in command.others().items() if "sluice.host" in line) if of_host else command.process.pid
    )
    os.kill(victim, signal.SIGKILL)
    assert command.process.wait(30) == (137 if of_host else -signal.SIGKILL)
    assert command.left() == []


@pytest.mark.verilator
def test_an_interrupt_that_the_host_program_catches(command):
    """It may go on: with a new simulator, as the old one was in the middle of a command."""
    command.start(())  # the files
    command.process.wait()
    text = (command.folder / "host.py").read_text()
    launch = text.splitlines()[-1]
    caught = f"""try:
    {launch}
except KeyboardInterrupt:
    print("caught", flush=True)
{launch.replace("1 << 30", "3")}
back = np.zeros(1, np.int32)
cl.enqueue_copy(queue, back, a)
print("right" if back[0] == 0 else "wrong")
"""
    (command.folder / "again.py").write_text(text.replace(launch, caught))
    command.start(("run", "--no-stats", "again.py", *RTL_RUN.arguments[3:]))
    assert command.reaches(RTL_RUN, 300), command.said
    assert command.end(signal.SIGINT) == 130
    assert command.said.splitlines()[-2:] == ["caught", "right"], command.said


def test_a_host_program_that_does_not_end(command):
    """It is killed when its time is over, with what it started."""
    command.start(())
    command.process.wait()
    (command.folder / "stays.py").write_text("""import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "1000"])
print("built", flush=True)
while True:
    time.sleep(1)
""")
    command.start(("run", "stays.py"))
    assert command.reaches(STAGES["emulator run"])
    check(command, signal.SIGTERM, command.end(signal.SIGTERM))


def test_forks_of_a_host_program_end_as_they_did_before(command):
    command.start(())
    command.process.wait()
    (command.folder / "forks.py").write_text("""import multiprocessing, time
process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(100,))
process.start()
process.terminate()
process.join()
print(process.exitcode)
""")
    command.start(("run", "forks.py"))
    assert command.process.wait(60) == 0 and command.said == "-15\n"


def test_the_exit_code_of_a_host_program_that_a_signal_ended(command):
    command.start(())
    command.process.wait()
    (command.folder / "dies.py").write_text("import os\nos.abort()\n")
    command.start(("run", "dies.py"))
    assert command.process.wait(60) == 128 + signal.SIGABRT


def test_hang_ups_do_not_matter_behind_nohup(command):
    command.start(())
    command.process.wait()
    (command.folder / "waits.py").write_text("import time\nprint('built', flush=True)\ntime.sleep(3)\n")
    script = f"trap '' HUP; exec {sys.executable} -P -m sluice run waits.py"
    process = subprocess.Popen(["sh", "-c", script], cwd=command.folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "built\n"
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0


LOST = """import os, signal, sys, time, weakref
from hls.signals import exit_on_signals
exit_on_signals(interrupts=True)

class Something:
    pass

def gone(_):
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(0.1)

something = Something()
reference = weakref.ref(something, gone)
try:
    del something
    time.sleep(20)
except BaseException as error:
    print(type(error).__name__)
    raise
"""


@pytest.mark.parametrize(
    "number, name, code", [(signal.SIGTERM, "SystemExit", 143), (signal.SIGINT, "KeyboardInterrupt", -signal.SIGINT)]
)
def test_an_exception_that_python_drops_is_raised_again(number, name, code):
    done = subprocess.run(
        [sys.executable, "-c", LOST, str(int(number))], capture_output=True, text=True, timeout=15, check=False
    )
    assert (done.stdout, done.returncode) == (f"{name}\n", code) and "ignored" not in done.stderr, done.stderr


def test_an_exception_that_a_program_catches_is_not_the_end():
    text = """import time
from hls.signals import exit_on_signals
exit_on_signals()
while True:
    try:
        print(flush=True)
        time.sleep(30)
    except BaseException:
        pass
"""
    process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.terminate()
    assert process.wait(15) == 143


def test_no_import_delays_the_first_handlers():
    """What Python imports before them can be interrupted with a traceback: only its own start may be."""
    script = "import sys; sys.argv[0] = 'sluice'; import sluice; import signal; print(signal.getsignal(signal.SIGINT))"
    done = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-c", script], capture_output=True, text=True, check=True
    )
    imported = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    assert imported[imported.index("site") + 1] == "sluice.early_signals"
    assert "end_on_signals" in done.stdout
