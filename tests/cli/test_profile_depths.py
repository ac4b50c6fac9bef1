"""What `sluice profile` says of other depths of channels, checked by runs with those depths; waits known by hand."""

import json

import pytest

from tests.cli.golden_profiles import check_golden
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


def test_every_figure_is_as_in_the_golden_profile(profile, request):
    check_golden("depths", profile, request.config.getoption("--refresh"))


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


def cycles_of(launch, category: str) -> int:
    return sum(one["cycles"] for one in launch["accounts"] if one["category"] == category)


def test_all_cycles_in_which_a_full_channel_holds_its_writer_are_waits_for_it(launches):
    """Also those in which the channel has taken a value, and the loop, whose pipeline was full, does not issue yet."""
    always, third, bursts = (launches[name] for name in ("write_always", "read_each_third", "write_bursts"))
    assert cycles_of(always, "channel") == pytest.approx(2 * N, rel=0.01)
    # the reader finds a value whenever it looks for one: its interval is its own
    assert cycles_of(third, "recurrence") == pytest.approx(2 * N, rel=0.01) and cycles_of(third, "channel") < 40
    for one in (always, third, bursts):
        assert cycles_of(one, "latency") < 40, one["accounts"]
    assert cycles_of(bursts, "channel") == pytest.approx(bursts["cycles"] - N, abs=40)


def test_the_blame_of_a_slow_reader_is_its_recurrence(launches):
    blamed = launches["write_always"]["blame"]
    own = sum(one["cycles"] for one in blamed if str(one["last_cause"]).startswith("recurrence of loop i"))
    assert own == pytest.approx(2 * N, rel=0.01) and not any(one["end"] == "circle" for one in blamed), blamed
