"""What `sluice profile` says of other depths of channels, checked by runs with those depths; waits known by hand."""

import json

import pytest

from tests.cli.test_profile import ROOT, sluice

pytestmark = pytest.mark.verilator
N = 4096
HOST = f"""
import numpy as np, sim.cl as cl
ctx = cl.create_some_context()
one, two = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
program = cl.Program(ctx, open({str(ROOT / "tests/kernels/depths.cl")!r}).read()).build()
n, out = {N}, cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, 4)
burst = sum(i for i in range(n) if not i & 64)
for writer, reader, expected in (
    (program.write_bursts, program.read_bursts, burst),
    (program.write_bursts_deep, program.read_bursts_deep, burst),
    (program.write_always, program.read_each_third, n * (n - 1) // 2),
):
    reader(two, (1,), None, out, np.int32(n))
    writer(one, (1,), None, np.int32(n))
    found = np.zeros(1, np.int32)
    cl.enqueue_copy(two, found, out)
    assert found[0] == expected
"""


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("depths")
    (folder / "host.py").write_text(HOST)
    done = sluice(folder, "profile", "-o", "out", "host.py")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "out" / "profile.json").read_text())


@pytest.fixture(scope="module")
def launches(profile):
    return {one["kernel"]: one for one in profile["launches"]}


@pytest.fixture(scope="module")
def depths(profile):
    return {one["channel"]: one for one in profile["depths"]}


def test_the_replay_of_the_depth_of_the_run_is_the_run(depths, launches):
    for channel, reader in (("shallow", "read_bursts"), ("deep", "read_bursts_deep"), ("slow", "read_each_third")):
        found = depths[channel]
        (end,) = launches[reader]["channels"]
        assert found["actual"]["depth"] == end["depth"] and found["values"] == end["values"]
        # the launch has its ramp-up before and its store behind
        assert 0 < launches[reader]["cycles"] - found["actual"]["cycles"] < 400


def test_a_predicted_depth_saves_what_a_run_with_it_saves(depths, launches):
    found = depths["shallow"]
    # 64 values come in 64 cycles, in which 32 leave
    assert found["least"] == 32 == depths["deep"]["actual"]["depth"]
    assert found["sentence"].startswith("depth 32 instead of ")
    saved = launches["read_bursts"]["cycles"] - launches["read_bursts_deep"]["cycles"]
    # after each wait the pipelines of the ends are filled, which the replay does not know
    assert saved > N / 4 and found["saved"] == pytest.approx(saved, rel=0.05)
    assert depths["deep"]["least"] is None and depths["deep"]["saved"] == 0


def test_depth_does_not_help_against_a_slow_reader(depths, launches):
    found = depths["slow"]
    assert found["least"] is None
    assert found["sentence"] == "a greater depth does not help: the reader is slower"
    (end,) = launches["write_always"]["channels"]
    assert end["write_stall"] == pytest.approx(2 / 3, abs=0.02)
    assert found["actual"]["writer_waits"] == pytest.approx(2 * N, rel=0.02)
