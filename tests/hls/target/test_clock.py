"""Another clock than the board's: for a whole design, and for one kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.target.board import BoardError, load_board
from tests.plans import planned_text

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples/vecadd/kernel.cl"
HOST = """
import numpy as np, sim.cl as cl
context = cl.create_some_context()
queue = cl.CommandQueue(context)
program = cl.Program(context, {text!r}).build()
a, o = (cl.Buffer(context, cl.mem_flags.READ_WRITE, 4096) for _ in range(2))
program.k(queue, (1,), None, a, o, np.int32(100)).wait()
"""
SUM = "{} __kernel void {}(__global const float *restrict a, __global float *restrict o, int n) "
SUM += "{{ float s = 0; for (int i = 0; i < n; i++) s += a[i]; *o = s; }}\n"


def sums(**targets: int) -> str:
    """A kernel for each name; a target of 0 is the board's clock."""
    return "".join(
        SUM.format(f"__attribute__((scheduler_target_fmax_mhz({target})))" if target else "", name)
        for name, target in targets.items()
    )


def intervals(text: str, board: str) -> dict[str, int]:
    """The II of the only loop of each kernel."""
    kernels = planned_text(text, board).kernels
    return {k.function.name: max(r.ii for r in k.plan.loops.values()) for k in kernels}


def test_a_board_at_another_clock():
    usual, fast = load_board("de5net"), load_board("de5net@480")
    assert (fast.name, fast.clock.kernel_mhz) == (usual.name, 480)
    assert fast.read_latency == 2 * usual.read_latency, "the same time"
    assert fast.memory.timing == usual.memory.timing
    assert load_board("ecp5_onchip@12.5").read_latency == 1, "memory on the chip has the kernel's clock"


@pytest.mark.parametrize("name", ["de5net@0.5", "de5net@2001", "de5net@", "de5net@fast", "nowhere@100"])
def test_no_such_clock(name):
    with pytest.raises(BoardError, match="kernel clock must be 1 to 2,000 MHz|unknown board"):
        load_board(name)


def test_a_file_at_another_clock(tmp_path):
    file = tmp_path / "b@1.toml"
    file.write_text((load_board.__globals__["BOARDS"] / "de5net.toml").read_text())
    assert load_board(f"{file}@99").clock.kernel_mhz == 99
    assert load_board(str(file)).clock.kernel_mhz == 240


def test_ii_follows_the_clock():
    found = [intervals(sums(k=0), f"de5net@{mhz}")["k"] for mhz in (120, 240, 400)]
    assert found == sorted(set(found)), "each clock needs a longer adder than the one before"


def test_a_kernel_is_scheduled_as_in_a_design_of_its_clock():
    kernels = intervals(sums(slow=120, usual=0, fast=400), "de5net")
    alone = {mhz: intervals(sums(k=0), f"de5net@{mhz}")["k"] for mhz in (120, 240, 400)}
    assert kernels == {"slow": alone[120], "usual": alone[240], "fast": alone[400]}


def test_target_in_report_and_warning(tmp_path):
    (tmp_path / "k.cl").write_text(sums(slow=120, fast=400))
    out = tmp_path / "out"
    found = CliRunner().invoke(main, ["compile", str(tmp_path / "k.cl"), "-o", str(out), "--no-html"])
    assert found.exit_code == 0
    assert "warning[W0708]: kernel 'slow' is scheduled for 120 MHz, but the kernel clock is 240 MHz" in found.output
    assert "'fast' is scheduled" not in found.output
    report = json.loads((out / "report.json").read_text())
    assert {one["name"]: one["target_mhz"] for one in report["kernels"]} == {"slow": 120, "fast": 400}
    assert "Scheduled for 400 MHz (scheduler_target_fmax_mhz)" in (out / "report.txt").read_text()


def test_clock_of_a_command(tmp_path):
    (tmp_path / "k.cl").write_text(sums(k=0))
    out = tmp_path / "out"
    command = ["compile", str(tmp_path / "k.cl"), "-o", str(out), "--no-html", "--clock", "120"]
    assert CliRunner().invoke(main, command, env={"SLUICE_BOARD": "de5net@300"}).exit_code == 0
    assert "de5net, kernel clock 120 MHz" in (out / "report.txt").read_text()


def test_no_part_is_as_fast_as_that():
    found = CliRunner().invoke(main, ["compile", str(EXAMPLE), "--clock", "1999", "-o", "/nonexistent/o"])
    assert found.exit_code == 1
    assert "error[E0702]: this operation cannot run at the kernel clock" in found.output
    assert "--clock" in found.output


def test_seconds_of_a_run_follow_the_clock(tmp_path, monkeypatch):
    (tmp_path / "host.py").write_text(HOST.format(text=sums(k=0)))
    monkeypatch.chdir(tmp_path)
    for clock in ("120", "240"):
        command = [sys.executable, "-m", "hls.cli", "run", "--device", "model", "--clock", clock, "host.py"]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=env, text=True, capture_output=True, check=True)
        assert f"cycles at {clock} MHz" in done.stderr


@pytest.mark.parametrize("clock", ["nan", "inf"])
def test_a_clock_is_a_number(clock):
    found = CliRunner().invoke(main, ["compile", str(EXAMPLE), "--clock", clock])
    assert found.exit_code == 2 and "'--clock'" in found.output
