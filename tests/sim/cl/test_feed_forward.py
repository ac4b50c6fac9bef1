"""Split kernels under one name for the host: queues, events, waveform and profile on the board; emulator and model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "feed_forward" / "kernels.cl"
#: launches of several sizes in two queues, each compared with numpy; prints the figures of the last one
HOST = """
import json, sys
import numpy as np
from sluice import cl

context = cl.create_some_context()
queues = [cl.CommandQueue(context), cl.CommandQueue(context)]
program = cl.Program(context, open(sys.argv[1]).read()).build(sys.argv[2:])
assert program.kernel_names == "least", program.kernel_names
rng = np.random.default_rng(1)
row = np.concatenate([[0], np.cumsum(rng.integers(0, 5, 60))]).astype(np.int32)
column = rng.integers(0, 64, row[-1]).astype(np.int32)
value = rng.integers(0, 1000, 64).astype(np.int32)
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
given = [cl.Buffer(context, flags, hostbuf=one) for one in (row, column, value)]
events, outs = [], []
for k, n in enumerate((60, 0, 1, 60)):
    outs.append(cl.Buffer(context, flags, hostbuf=np.full(60, -1, np.int32)))
    events.append(program.least(queues[k % 2], (1,), None, *given, outs[-1], np.int32(n)))
for queue in queues:
    queue.finish()
for n, out in zip((60, 0, 1, 60), outs):
    found, wanted = np.empty(60, np.int32), np.full(60, -1, np.int32)
    cl.enqueue_copy(queues[0], found, out)
    wanted[:n] = [value[column[row[i] : row[i + 1]]].min(initial=1 << 30) for i in range(n)]
    assert (found == wanted).all(), (n, found, wanted)
assert all(one.command_execution_status == 0 for one in events)
print(json.dumps(events[0].stats.to_dict()))
"""
#: the first kernel, and none that is joined to others by channels
LEAST = SOURCE.read_text().partition("__kernel")[2].partition("__kernel")[0]


def run(folder: Path, *options: str, device: str = "board", **env: str) -> dict:
    """The figures that the host program prints, run on ecp5_onchip."""
    (folder / "k.cl").write_text(f"__kernel{LEAST}")
    (folder / "host.py").write_text(HOST)
    chosen = {"SLUICE_DEVICE": device, "SLUICE_BOARD": "ecp5_onchip", "SLUICE_STATS": "0"}
    command = [sys.executable, "-P", "-m", "sluice.host", "host.py", "k.cl", *options]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **chosen, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_emulator_knows_the_kernel_under_one_name(tmp_path):
    figures = run(tmp_path, device="emulator")
    assert figures["kernel"] == "least" and "parts" not in figures


def test_the_model_replays_the_parts_together(tmp_path):
    figures = run(tmp_path, device="model", SLUICE_STATS="1")  # printed too, those of the parts
    assert [one["kernel"] for one in figures["parts"]] == ["least_memory"]
    assert figures["cycles"] == figures["parts"][0]["cycles"] > 0


def test_an_unknown_value_of_the_option(tmp_path):
    with pytest.raises(AssertionError, match="-feed-forward=sometimes: the value is one of never, always, auto"):
        run(tmp_path, "-feed-forward=sometimes", device="emulator")


@pytest.mark.verilator
def test_queues_waveform_and_profile_on_the_board(tmp_path):
    trace, profile = tmp_path / "run.fst", tmp_path / "profile"
    profile.mkdir()
    figures = run(tmp_path, SLUICE_TRACE=str(trace), SLUICE_PROFILE=str(profile), SLUICE_STALL_SEED="3")
    (part,) = figures["parts"]
    assert part["cycles"] == figures["cycles"] == sum(one["cycles"] for one in part["accounts"])
    assert trace.stat().st_size > 1000
    found = json.loads((profile / "profile.json").read_text())
    kernels = {one["name"]: one for one in found["kernels"]}
    assert list(kernels) == ["least", "least_memory"]
    assert kernels["least"]["launches"] == kernels["least_memory"]["launches"] == 4
    assert kernels["least"]["cycles"] == kernels["least_memory"]["cycles"]
    launches = found["launches"]
    assert all(one["part"] == one["kernel"].endswith("_memory") for one in launches)
    assert all(
        launches[one["of"]]["kernel"] == one["kernel"].removesuffix("_memory") for one in launches if one["part"]
    )
