"""A host program that forks: the child gets an error that says what to do, and the parent's board is unchanged."""

import subprocess
import sys

import pytest

#: Children do, one after the other, what is said by name; the parent goes on. Both say what they met.
HOST = """
import os, sys
import numpy as np
import sim.cl as cl
context = cl.create_some_context(board="de5net", device={device!r})
queue = cl.CommandQueue(context)
program = cl.Program(context, "__kernel void add(__global int *restrict o, int x, int n) {{ for (int i = 0; i < n; i++) o[i] += x; }}").build()
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.arange(64, dtype=np.int32))
view, found = buffer.bytes, np.empty(64, np.int32)
kernel = program.add
{before}
total = 0
for name, body in {bodies!r}.items():
    event = kernel(queue, (1,), None, buffer, np.int32(1), np.int32(64))
    pid = os.fork()
    if pid == 0:
        try:
            exec(body, globals())
        except cl.Error as error:
            print(name, "met:", error, flush=True)
            sys.exit(3)
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    kernel(queue, (1,), None, buffer, np.int32(10), np.int32(64)).wait()
    other, total = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64), total + 11
    cl.enqueue_copy(queue, found, buffer)
    assert (found == np.arange(64) + total).all(), (name, found)
    print(name, "ended with", status, flush=True)
"""
ERROR = "the context belongs to process"
#: what a child does, and how it ends
CHILDREN = {
    "nothing": ("pass", 0),
    "drops": (
        (
            "global buffer, view, event, kernel, program, queue, context\nimport gc\n"
            "del buffer, view, event, kernel, program, queue, context\ngc.collect()"
        ),
        0,
    ),
    "writes": ("view[:] = 99\nassert (view == 99).all()", 0),
    "launches": ("kernel(queue, (1,), None, buffer, np.int32(100), np.int32(64)).wait()", 3),
    "copies": ("cl.enqueue_copy(queue, buffer, np.zeros(64, np.int32))", 3),
    "fills": ("cl.enqueue_fill_buffer(queue, buffer, np.int32(5), 0, 256)", 3),
    "maps": ("cl.enqueue_map_buffer(queue, buffer, cl.map_flags.WRITE, 0, (64,), np.int32)", 3),
    "allocates": ("cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)", 3),
    "releases": ("buffer.release()", 3),
    "finishes": ("queue.finish()", 3),
    "marks": ("cl.enqueue_marker(queue)", 3),
    "builds": ("program.build()", 3),
    "own": (
        (
            "mine = cl.create_some_context(board='de5net', device='emulator')\nline = cl.CommandQueue(mine)\n"
            "made = cl.Program(mine, '__kernel void k(__global int *restrict o) { o[0] = 7; }').build()\n"
            "room = cl.Buffer(mine, cl.mem_flags.READ_WRITE, 64)\nmade.k(line, (1,), None, room)\n"
            "got = np.empty(1, np.int32)\ncl.enqueue_copy(line, got, room)\nassert got[0] == 7"
        ),
        0,
    ),
}


def run(device, children, before=""):
    text = HOST.format(device=device, bodies={name: CHILDREN[name][0] for name in children}, before=before)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "Exception" not in done.stderr, done.stderr
    for name in children:
        status = CHILDREN[name][1]
        assert f"{name} ended with {status}" in done.stdout
        met = next((line for line in done.stdout.splitlines() if line.startswith(f"{name} met")), "")
        assert (ERROR in met and "make a context in the child" in met) == (status == 3), met


def test_on_the_emulator():
    run("emulator", CHILDREN)


@pytest.mark.verilator
def test_on_the_board():
    """While a kernel runs, too."""
    run("board", CHILDREN)


def test_locks_that_other_threads_hold_do_not_stop_a_child():
    """A child has none of the parent's threads, so nobody would free a lock there."""
    before = """
import threading
from sim.cl import compiler, platform
from sim.emulator import library
stop, held = threading.Event(), threading.Event()
def hold():
    with compiler.ONE_AT_A_TIME, platform._making, library._loading:
        held.set()
        stop.wait()
kernel(queue, (1,), None, buffer, np.int32(0), np.int32(64))
threading.Thread(target=hold, daemon=True).start()
held.wait()
"""
    run("emulator", ["own", "launches", "copies"], before)
