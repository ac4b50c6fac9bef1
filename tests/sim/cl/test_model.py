"""``device="model"``: host programs with predicted cycles, and no hardware."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from hls import cli_model
from hls.cli import main
from sim import cl

SOURCE = """__kernel void sums(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j <= i; j++)
            sum += a[j];
        out[i] = sum;
    }
}

__kernel void turned(__global const int *restrict a, __global int *restrict out, int n) {
#pragma ivdep
    for (int i = 0; i < n; i += 8) {
        int row[8][9];  // too many words for registers
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 9; k++) row[j][k] = a[i + j] + k;
        for (int j = 0; j < 8; j++)
            out[i + j] = row[7 - j][j];
    }
}

__kernel void broken(__global const int *restrict a, __global int *restrict out, int n) {
#pragma ivdep
    for (int i = 1; i < n; i++)
        out[i] = out[i - 1] + a[i];
}

__kernel void copies(__global const int *a, __global int *out, int n) {
    for (int i = 0; i < n; i++)
        out[i] = a[i] + 1;
}
"""
N = 16


@pytest.fixture(scope="module")
def program():
    context = cl.create_some_context(board="ecp5_onchip", device="model")
    return cl.Program(context, SOURCE).build()


def buffers(program):
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return [cl.Buffer(program.context, flags, hostbuf=np.arange(N, dtype=np.int32)) for _ in range(2)]


def test_what_ivdep_asserts_is_checked_of_the_source(program):
    """The planned kernel has copies of the array, in which iterations take turns."""
    queue, (a, out) = cl.CommandQueue(program.context), buffers(program)
    program.turned(queue, (1,), None, a, out, np.int32(N))
    found = np.empty(N, np.int32)
    cl.enqueue_copy(queue, found, out).wait()
    assert found.tolist() == [i + 7 - 2 * (i % 8) + i % 8 for i in range(N)]
    with pytest.raises(cl.RuntimeError, match="#pragma ivdep does not hold: iteration 1 reads .* which iteration 0"):
        program.broken(queue, (1,), None, a, out, np.int32(N)).wait()


def test_bytes_cycles_and_times(program):
    queue, (a, out) = cl.CommandQueue(program.context), buffers(program)
    first, second = (program.sums(queue, (1,), None, a, out, np.int32(N)) for _ in range(2))
    found = np.empty(N, np.int32)
    cl.enqueue_copy(queue, found, out).wait()
    assert found.tolist() == np.arange(N).cumsum().tolist()
    stats = first.stats.to_dict()
    assert stats["device"] == "model" and stats["cycles"] == second.stats.to_dict()["cycles"]
    assert sum(account["cycles"] for account in stats["accounts"]) == stats["cycles"]
    assert all(one["bandwidth"] is one["peak_bytes_per_ns"] is None for one in stats["memory"]), "each has a port"
    assert {loop["line"]: (loop["iterations"], loop["invocations"]) for loop in stats["loops"]} == {
        2: (N, 1),
        4: (N * (N + 1) // 2, N),
    }
    ns = stats["cycles"] / stats["clock_mhz"] * 1e3
    assert first.profile.end - first.profile.start == pytest.approx(ns, abs=1)
    assert second.profile.start >= first.profile.end


def test_buffers_that_overlap_take_longer(program):
    queue, (a, out) = cl.CommandQueue(program.context), buffers(program)
    apart, shared = (program.copies(queue, (1,), None, a, to, np.int32(N)).stats.to_dict()["cycles"] for to in (out, a))
    assert shared > 1.5 * apart


def test_a_device_that_does_not_exist_is_named():
    with pytest.raises(cl.LogicError, match="board, emulator, model"):
        cl.create_some_context(device="paper")


def test_predictions_are_printed(program, monkeypatch, capsys):
    queue, (a, out) = cl.CommandQueue(program.context), buffers(program)
    for form in ("text", "json"):
        monkeypatch.setenv("SLUICE_PREDICT", form)
        cycles = program.sums(queue, (1,), None, a, out, np.int32(N)).stats.to_dict()["cycles"]
    text, line = capsys.readouterr().out.rsplit("\n", 2)[:2]
    assert f"sums on ecp5_onchip: {cycles} cycles" in text
    assert json.loads(line)["cycles"] == {"likely": cycles, "least": cycles, "most": cycles}


def test_the_command_runs_the_program_on_the_model(tmp_path, monkeypatch):
    host, seen = tmp_path / "host.py", []
    host.write_text("")
    monkeypatch.setattr(cli_model, "supervise", lambda command, env: seen.append((command, env)) or 0)
    assert (
        CliRunner().invoke(main, ["predict", "--board", "ecp5_onchip", "--json", str(host), "--n", "4"]).exit_code == 0
    )
    ((command, env),) = seen
    assert command == [sys.executable, "-P", "-m", "sluice.host", str(host), "--n", "4"]
    wanted = {"SLUICE_DEVICE": "model", "SLUICE_PREDICT": "json", "SLUICE_BOARD": "ecp5_onchip"}
    assert wanted.items() <= env.items()
