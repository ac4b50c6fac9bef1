"""Kernels run through the host API."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sim import cl
from tests import pocl

pytestmark = pytest.mark.verilator
mf = cl.mem_flags

SCRIPT = '''
import numpy as np
import {module} as cl

n = 1000
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
program = cl.Program(context, """
    __kernel void scaled_sum(__global const int *restrict a, __global const int *restrict b,
                             __global int *restrict c, int n, int scale) {{
        for (int i = 0; i < n; i++) c[i] = a[i] * scale + b[i];
    }}""").build(options=["-D", "UNUSED=1"])
a = np.arange(n, dtype=np.int32)
b = np.arange(n, dtype=np.int32)[::-1].copy()
a_dev = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
b_dev = cl.Buffer(context, cl.mem_flags.READ_ONLY, size=b.nbytes)
c_dev = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, size=b.nbytes)
cl.enqueue_copy(queue, b_dev, b)
cl.enqueue_fill_buffer(queue, c_dev, np.int32(-1), 0, c_dev.size)
kernel = cl.Kernel(program, "scaled_sum")
kernel.set_scalar_arg_dtypes([None, None, None, np.int32, np.int32])
event = kernel(queue, (1,), None, a_dev, b_dev, c_dev, n // 2, 7)
event.wait()
assert event.profile.end > event.profile.start
c = np.empty_like(a)
cl.enqueue_copy(queue, c, c_dev)
queue.finish()
print(c.tobytes().hex())
'''


def run_script(module: str, tmp_path: Path) -> str:
    script = tmp_path / "host.py"
    script.write_text(SCRIPT.format(module=module))
    command = [sys.executable, str(script)]
    root = str(Path(__file__).parents[3])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": root}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pyopencl_script_runs_with_its_import_changed(tmp_path, monkeypatch):
    monkeypatch.setenv("PYOPENCL_CTX", str(pocl.need()))
    assert run_script("sim.cl", tmp_path) == run_script("pyopencl", tmp_path)


def test_a_run_has_statistics_and_takes_simulated_time(context, program, queue):
    data = np.arange(16 * 20, dtype=np.int32)
    buffer = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=data)
    event = program.increment(queue, (1,), None, buffer, np.int32(20), np.int32(-3))
    back = np.empty_like(data)
    cl.enqueue_copy(queue, back, buffer)
    assert (back == data - 3).all()
    cycles = event.stats.to_dict()["cycles"]
    assert event.profile.end - event.profile.start == pytest.approx(cycles * 1000 / 240, abs=1)


def test_a_buffer_that_is_too_small_is_named(context, program, queue):
    small = cl.Buffer(context, mf.READ_WRITE, 64 * 4)
    with pytest.raises(
        cl.RuntimeError,
        match="bytes 256 to 319 of argument `data` .address 0x[0-9a-f]+. leaves its buffer of 256 bytes",
    ):
        program.increment(queue, (1,), None, small, np.int32(5), np.int32(1)).wait()
    program.increment(queue, (1,), None, small, np.int32(4), np.int32(1)).wait()  # the board still works


def test_two_programs_share_the_memory(context, compiled, queue):
    buffer = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.zeros(16, np.int32))
    for amount in (1, 10):
        cl.Program(context, "").build().increment(queue, (1,), None, buffer, np.int32(1), np.int32(amount))
    back = np.empty(16, np.int32)
    cl.enqueue_copy(queue, back, buffer)
    assert (back == 11).all()


def test_the_watchdog(context, program, queue, monkeypatch):
    monkeypatch.setenv("SLUICE_MAX_CYCLES", "100")
    buffer = cl.Buffer(context, mf.READ_WRITE, 64 * 1000)
    with pytest.raises(cl.RuntimeError, match="not finished after SLUICE_MAX_CYCLES = 100"):
        program.increment(queue, (1,), None, buffer, np.int32(1000), np.int32(1)).wait()


def _fst_header(path) -> tuple[int, int, int]:
    """(first time, last time, scopes) of a waveform, from the block at its begin."""
    head = path.read_bytes()[:49]
    assert head[0] == 0, "the header is the first block"
    _, first, last = struct.unpack(">QQQ", head[1:25])
    return first, last, struct.unpack(">Q", head[41:49])[0]


def test_a_trace_holds_every_module_and_every_cycle(monkeypatch, tmp_path):
    monkeypatch.setenv("SLUICE_TRACE", str(tmp_path / "run.fst"))
    run_script("sim.cl", tmp_path)
    first, last, scopes = _fst_header(tmp_path / "run.fst")
    assert scopes > 100 and last - first > 500, (first, last, scopes)


def test_a_trace_of_a_window_is_told_to_be_cut(context, compiled, queue, monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("SLUICE_TRACE", str(tmp_path / "run.fst"))
    monkeypatch.setenv("SLUICE_TRACE_WINDOW", "0:100")
    buffer = cl.Buffer(context, mf.READ_WRITE, 64 * 100)
    program = cl.Program(context, "").build()
    program.increment(queue, (1,), None, buffer, np.int32(100), np.int32(1)).wait()
    assert "the trace window of 100 cycles ended" in capfd.readouterr().err
    assert (tmp_path / "run.fst").stat().st_size > 500
