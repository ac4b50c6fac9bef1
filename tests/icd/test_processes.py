"""Hosts as they are: they fork, are interrupted, end without a release; the server ends with its host, and never takes it along."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pyopencl")
START = """
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
program = cl.Program(context, "__kernel void f(__global int *a) { a[get_global_id(0)] += 1; }").build()
kernel = cl.Kernel(program, "f")
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(16, np.int32))
def launch(queue=queue, kernel=kernel):
    kernel(queue, (16,), None, buffer)
def result(queue=queue):
    found = np.empty(16, np.int32)
    cl.enqueue_copy(queue, found, buffer)
    return found
"""


def servers(mark: str) -> list[int]:
    """The servers of the host with this mark in its environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"sluice.driver" in words and f"MARK={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def gone(mark: str) -> bool:
    """Whether all of them have ended, within some seconds."""
    for _ in range(400):
        if not servers(mark):
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def mark(request) -> str:
    return f"{os.getpid()}-{request.node.name}"


def test_the_end_without_a_release_ends_the_server(driver, mark):
    done = driver.python(START + "launch()\nimport sys; sys.exit(3)", MARK=mark)
    assert done.returncode == 3 and gone(mark), done.stderr
    done = driver.python(START + "launch()\nimport os; os._exit(4)", MARK=mark)
    assert done.returncode == 4 and gone(mark), done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_host_and_server(driver, mark, number):
    text = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
        "import numpy as np, pyopencl as cl\n"
        + START
        + "launch(); print('on', flush=True)\nimport time; time.sleep(60)"
    )
    host = subprocess.Popen(
        [sys.executable, "-c", text],
        env=driver.environment | {"MARK": mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert host.stdout is not None and host.stdout.readline() == b"on\n"
    assert len(servers(mark)) == 1
    host.send_signal(number)
    assert host.wait(20) != 0 and gone(mark)
    host.stdout.close()


def test_a_host_with_an_interrupt_handler_goes_on(driver):
    text = (
        START
        + "import os, signal\nsignal.signal(signal.SIGINT, lambda *a: None)\nos.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = driver.python(text + "launch()\nassert (result() == 1).all()")
    assert done.returncode == 0, done.stderr


def test_a_child_of_a_fork_has_its_own_server(driver, mark):
    done = driver.python(
        START
        + """
import os, sys
launch()
child = os.fork()
if child == 0:
    try:
        queue.finish(); launch(); os._exit(1)
    except cl.Error as error:
        if error.code != cl.status_code.INVALID_CONTEXT: os._exit(2)
    own = cl.create_some_context(interactive=False)
    made = cl.Program(own, "__kernel void f(__global int *a) { a[0] = 5; }").build()
    b = cl.Buffer(own, 0, 4)
    q = cl.CommandQueue(own)
    cl.Kernel(made, "f")(q, (1,), None, b)
    found = np.empty(1, np.int32)
    cl.enqueue_copy(q, found, b)
    os._exit(0 if found[0] == 5 else 3)
_, status = os.waitpid(child, 0)
assert status == 0, status
launch()
assert (result() == 2).all()
""",
        MARK=mark,
    )
    assert done.returncode == 0 and gone(mark), done.stderr


def test_the_death_of_the_server_is_an_error_of_the_next_call(driver, mark):
    done = driver.python(
        START
        + """
import os, signal, time
from tests.icd.test_processes import servers
(server,) = servers(os.environ["MARK"])
os.kill(server, signal.SIGKILL)
for _ in range(2):
    try:
        launch()
    except cl.Error as error:
        assert error.code == cl.status_code.OUT_OF_RESOURCES, error
    else:
        raise AssertionError("the launch went well")
print("alive")
""",
        MARK=mark,
        PYTHONPATH=str(Path(__file__).parents[2]),
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
    assert "the server" in done.stderr


def test_eight_threads_use_one_context(driver):
    done = driver.python(
        START
        + """
from threading import Thread
def work():
    mine, own = cl.CommandQueue(context), cl.Kernel(program, "f")
    for _ in range(20):
        launch(mine, own)
    mine.finish()
threads = [Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert (result() == 160).all(), result()
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_callback_may_take_the_lock_of_the_thread_that_waits(driver):
    done = driver.python(
        START
        + """
from threading import Lock, Event
lock, called = Lock(), Event()
gate = cl.UserEvent(context)
event = cl.enqueue_marker(queue, wait_for=[gate])
def call(status):
    with lock: called.set()
event.set_callback(cl.command_execution_status.COMPLETE, call)
with lock:
    gate.set_status(cl.command_execution_status.COMPLETE)
    queue.finish()
assert called.wait(20)
"""
    )
    assert done.returncode == 0, done.stderr


def test_a_missing_python_is_an_error_and_no_crash(driver):
    done = driver.python(
        "try:\n    cl.get_platforms()[0].get_devices()\nexcept cl.Error as error:\n    print(error.code)",
        SLUICE_PYTHON="/nowhere/python",
    )
    assert done.stdout == "-2\n" and "/nowhere/python does not start" in done.stderr


def test_a_wrong_setting_is_an_error_that_names_it(driver):
    done = driver.python("print(cl.get_platforms()[0].get_devices())", SLUICE_BOARD="nowhere")
    assert done.stdout == "[]\n" and "nowhere: unknown board; known are " in done.stderr


ASKED_TWICE = """
for _ in range(2):
    try:
        print(cl.get_platforms()[0].get_devices())
    except cl.Error as error:
        print(error.code)
"""


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("SLUICE_BOARD", "nowhere", "nowhere: unknown board; known are "),
        ("SLUICE_DEVICE", "fpga", "device must be one of "),
        ("SLUICE_DEVICE_TYPE", "dsp", "SLUICE_DEVICE_TYPE is one of "),
        ("SLUICE_PYTHON", "/nowhere/python", "/nowhere/python does not start"),
        ("CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA", "abc", "is the number of emulated devices, 0 to 128, not 'abc'"),
        ("CL_CONTEXT_EMULATOR_DEVICE_ALTERA", "129", "is the number of emulated devices, 0 to 128, not '129'"),
    ],
)
def test_a_wrong_setup_is_told_once_without_being_asked(driver, name, value, told):
    done = driver.python(ASKED_TWICE, **{"SLUICE_VERBOSE": "", name: value})
    assert done.returncode == 0 and "emulated" not in done.stdout
    assert done.stderr.count("sluice: no device: ") == 1 and told in done.stderr


def test_the_server_is_no_child_of_the_host(driver):
    done = driver.python(
        START
        + "import os\nlaunch()\nqueue.finish()\n"
        + "try:\n    print(os.waitpid(-1, os.WNOHANG))\nexcept ChildProcessError:\n    print('none')"
    )
    assert done.stdout == "none\n", done.stderr
