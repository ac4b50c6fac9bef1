"""`sluice profile` and `sluice stalls` on a program whose kernels wait for each other: every figure agrees with every
other."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest

from hls.profile.columns import unpacked
from hls.report.packing import unpack
from tests.cli.golden_profiles import check_golden, check_sums

pytestmark = pytest.mark.verilator
ROOT = Path(__file__).parents[2]
HOST = f"""
import numpy as np, sim.cl as cl
ctx = cl.create_some_context()
one, two = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
source = open({str(ROOT / "tests/kernels/waits.cl")!r}).read()
program = cl.Program(ctx, source).build("-D CHAIN_AND_STRIDE")
rng = np.random.default_rng(1)
n, flags = 1500, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
table = cl.Buffer(ctx, flags, hostbuf=rng.integers(0, 9, 1 << 18).astype(np.int32))
at = cl.Buffer(ctx, flags, hostbuf=rng.integers(0, 1 << 18, n).astype(np.int32))
out = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, 4 * n)
for _ in range(2):
    program.feed(one, (1,), None, at, table, np.int32(n))
    program.drain(two, (1,), None, out, np.int32(n))
program.stride(two, (1,), None, table, out, np.int32(400))
cl.enqueue_copy(two, np.zeros(n, np.int32), out)
(first,) = program.capture()
(second,) = cl.get_profile_data_device_intel(ctx.devices[0], program)
assert [first["kernel"], first["start_ns"]] == ["pass", 0] and first["end_ns"] == second["start_ns"]
assert {{end["values"] for end in first["channels"]}} == {{2 * n}} and first["cycles"] > 2 * n > 100 > second["cycles"]
assert not any(end["values"] for end in second["channels"])
print("the program's own line")
"""


def sluice(folder: Path, *words: str, **environment: str):
    """The command in a folder of its own; simulators are built once for all of them."""
    command = [sys.executable, "-W", "ignore", "-m", "hls.cli", *words]
    env = os.environ | {"PYTHONPATH": str(ROOT), "SLUICE_CACHE": str(ROOT / ".sluice-cache")} | environment
    return subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True, check=False)


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """The folder of a profile."""
    folder = tmp_path_factory.mktemp("profile")
    (folder / "host.py").write_text(HOST)
    done = sluice(folder, "profile", "-o", "out", "host.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the program's own line\n"
    return folder / "out"


@pytest.fixture(scope="module")
def profile(profiled):
    return json.loads((profiled / "profile.json").read_text())


def test_the_profile_has_the_form_of_its_schema(profile):
    schema = json.loads((ROOT / "docs" / "profile.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(profile)


def test_accounts_samples_and_blame_sum(profile):
    assert [one["kernel"] for one in profile["launches"] if not one["capture"]].count("feed") == 2
    check_sums(profile)


def test_every_figure_is_as_in_the_golden_profile(profile, request):
    check_golden("waits", profile, request.config.getoption("--refresh"))


def test_verdicts_name_what_limits(profile):
    verdicts = {kernel["name"]: kernel["verdict"] for kernel in profile["kernels"]}
    assert verdicts["feed"]["rule"] == "pattern" and "the load of table (line 13)" in verdicts["feed"]["sentence"]
    assert verdicts["pass"]["rule"] == "channel" and "Look at the verdict of feed" in verdicts["pass"]["remedies"][0]
    for blame in (one for launch in profile["launches"] if launch["kernel"] == "drain" for one in launch["blame"]):
        assert blame["kernels"] in (["pass"], ["pass", "feed"])


def test_autorun_kernels_are_captured_in_each_launch(profile):
    captures = [one for one in profile["launches"] if one["kernel"] == "pass" and one["of"] is not None]
    launches = {one["number"]: one for one in profile["launches"]}
    assert captures and all(one["capture"] and not launches[one["of"]]["capture"] for one in captures)
    moved = [end["values"] for one in captures for end in one["channels"] if launches[one["of"]]["kernel"] == "drain"]
    assert 1500 in moved


def test_figures_of_memory_that_are_known_by_hand(profile):
    (launch,) = (one for one in profile["launches"] if one["kernel"] == "stride")
    (load,) = (one for one in launch["accesses"] if one["kind"] == "load")
    # 4 of each 64 bytes; a burst has at most 16 words
    assert load["efficiency"] == 0.0625 and load["bytes_moved"] == 400 * 64
    assert 1 <= load["average_burst"] <= load["max_burst"] == 16
    banks = launch["banks"]
    assert [one["memory"] for one in banks] == ["DDR", "DDR"]  # QDR is not used
    period = 4 * 1.25 / (launch["end_ns"] - launch["start_ns"])  # four clocks of 1.25 ns a burst of eight beats
    for bank in banks:
        assert bank["busy"] == pytest.approx((bank["reads"] + bank["writes"]) * period, rel=0.01)
    assert sum(bank["bytes_read"] for bank in banks) == load["bytes_moved"]


def test_captures_of_the_host_and_of_the_whole_run_are_apart(profile):
    apart = [one for one in profile["launches"] if one["capture"] and one["of"] is None]
    *by_host, whole = apart
    assert len(by_host) >= 1 and [end["values"] for end in whole["channels"]] == [3000, 3000]
    assert by_host[0]["cycles"] >= whole["cycles"] and whole["start_ns"] == 0
    assert sum(account["cycles"] for account in whole["accounts"]) == whole["cycles"]
    (kernel,) = (one for one in profile["kernels"] if one["name"] == "pass")
    captures = [one for one in profile["launches"] if one["capture"] and one["of"] is not None]
    assert kernel["launches"] == len(captures) and kernel["cycles"] == sum(one["cycles"] for one in captures)
    commands = [one for one in profile["commands"] if one["kind"] == "capture"]
    assert [one["launch"] for one in commands] == [one["number"] for one in by_host]


def test_the_commands_of_the_host_are_listed(profile):
    created = [one for one in profile["commands"] if one["kind"] == "create"]
    assert [one["bytes"] for one in created] == [4 << 18, 6000]
    # 2,000 ns, and 6 bytes a ns
    assert [round(one["end_ns"] - one["start_ns"], -1) for one in created] == [176_760, 3000]
    kinds = [one["kind"] for one in profile["commands"]]
    assert kinds.count("launch") == 5 and kinds.count("read") == 1 and kinds.count("build") == 1
    copy = next(one for one in profile["commands"] if one["kind"] == "read")
    assert copy["bytes"] == 6000 and copy["end_ns"] > copy["start_ns"]


def test_text_and_trace_are_there(profiled, profile):
    text = (profiled / "profile.txt").read_text()
    assert "pass waits " in text and len(text.splitlines()) < 120
    events = json.loads((profiled / "trace.json").read_text())["traceEvents"]
    runs = [one for one in events if one["ph"] == "X" and {"launch", "during launch"} & set(one["args"])]
    assert len(runs) == len(profile["launches"])
    tracks: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for one in (one for one in events if one["ph"] == "X"):
        tracks.setdefault((one["pid"], one["tid"]), []).append((one["ts"], one["ts"] + one["dur"]))
    for slices in map(sorted, tracks.values()):
        assert all(end <= after + 1e-5 for (_, end), (after, _) in pairwise(slices)), "slices of a track overlap"


def test_the_page_has_the_profile_and_the_report(profiled, profile):
    page = (profiled / "profile.html").read_text()
    data = dict(re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', page))
    shown = unpack(json.loads(data["profile"]))
    assert [one["cycles"] for one in shown["launches"]] == [one["cycles"] for one in profile["launches"]]
    heads = [column for one in sampled(shown) for column in one["columns"]]
    columns = unpacked(shown["columns"], [one["length"] for one in heads])
    issued = [sum(values) for one, values in zip(heads, columns) if one["id"] == "0_issued"]
    assert sorted(issued) == sorted(
        account["cycles"]
        for one in profile["launches"]
        if one["samples"]
        for account in one["accounts"]
        if account["id"] == "0_issued"
    )
    report = unpack(json.loads(data["report-0"]))
    assert {"feed", "pass", "drain"} <= {one["name"] for one in report["kernels"]}
    assert report["sources"][0]["text"] == profile["programs"][0]["source"]


def sampled(shown: dict) -> list[dict]:
    """The samples in a page, in the order of their columns."""
    return sorted((part for one in shown["launches"] for part in one["samples"]), key=lambda one: one["first_column"])


def test_rooflines_count_what_was_issued(profile):
    feed = next(one for one in profile["launches"] if one["kernel"] == "feed")
    (work,) = feed["work"]
    (loop,) = feed["loops"]
    assert work["kind"] == "integer" and work["operations"] % loop["iterations"] == 0
    assert 0 < feed["roof_bytes_per_ns"] < 25.6 and feed["roof_by"]


def test_some_launches_only(profiled, tmp_path):
    (tmp_path / "host.py").write_text(HOST)
    done = sluice(tmp_path, "profile", "--kernel", "feed", "--every", "2", "--launch", "0", "host.py")
    assert done.returncode == 0, done.stderr
    assert "recorded are launches of kernel feed only, one of 2" in done.stderr
    assert len(done.stderr[done.stderr.index("launch") :].splitlines()) < 40
    found = json.loads((tmp_path / "profile" / "profile.json").read_text())
    assert [one["kernel"] for one in found["launches"] if not one["capture"]] == ["feed"]
    assert [one["kind"] for one in found["commands"]].count("launch") == 5, "commands are all there"
    assert "Global memory, in launches 0, " in (tmp_path / "profile" / "profile.txt").read_text()
    done = sluice(tmp_path, "profile", "--launch", "77", "host.py")
    assert done.returncode == 1 and "error: --launch 77: the profile has launches 0" in done.stderr


def test_a_profile_compared_with_itself_is_no_worse(profiled):
    done = sluice(profiled, "profile", "--compare", "--fail-above", "0", "profile.json", "profile.json")
    assert done.returncode == 0 and "feed: " in done.stdout and "(+0.0 %)" in done.stdout


def test_stalls_of_a_waveform_sum_to_the_counters(tmp_path):
    (tmp_path / "host.py").write_text(HOST)
    done = sluice(tmp_path, "run", "--trace", "t.fst", "--stats-file", "stats.json", "--no-stats", "host.py")
    assert done.returncode == 0 and done.stdout == "the program's own line\n", done.stderr
    counted: dict[tuple, int] = {}
    for stats in json.loads((tmp_path / "stats.json").read_text()):
        for account in stats["accounts"]:
            key = stats["kernel"], account["cause"], account["line"]
            counted[key] = counted.get(key, 0) + account["cycles"]
        for access in stats["memory"]:
            key = stats["kernel"], f"{access['kind']} of {access['buffer']}", access["line"]
            counted[key] = counted.get(key, 0) + round(access["stall"] * stats["cycles"])
    rows = json.loads(sluice(tmp_path, "stalls", "t.fst", "--json").stdout)
    ours = {(row["kernel"], row["what"], row["line"]): row for row in rows if row["kernel"] != "pass"}
    assert {key: row["cycles"] for key, row in ours.items() if key in counted} == {
        key: counted[key] for key in ours if key in counted
    }
    load = ours["feed", "load of table", 14 - 1]
    assert load["cycles"] > 10 and load["longest"] <= load["cycles"] and load["stretches"] > 1
    whole = sluice(tmp_path, "stalls", "t.fst", "--kernel", "feed", "--line", "13")
    assert whole.returncode == 0 and "write_channel_intel" in whole.stdout
    half = json.loads(sluice(tmp_path, "stalls", "t.fst", "--json", "--to", str(load["at"] + 1)).stdout)
    cut = sum(row["cycles"] for row in half if row["what"] == "load of table" and row["kind"] == "held")
    assert 0 < cut < load["cycles"]
    assert sluice(tmp_path, "stalls", "t.fst", "--kernel", "none").returncode == 2
    meaning = json.loads((tmp_path / "t.fst.json").read_text())
    meaning["units"][0]["signal"] += "x"
    (tmp_path / "t.fst.json").write_text(json.dumps(meaning))
    other = sluice(tmp_path, "stalls", "t.fst")
    assert other.returncode == 2 and "t.fst has no signal " in other.stderr and "make both again" in other.stderr
    (tmp_path / "t.fst.json").write_text("{}")
    damaged = sluice(tmp_path, "stalls", "t.fst")
    assert damaged.returncode == 2 and "t.fst.json is not what `sluice run --trace` writes" in damaged.stderr
    (tmp_path / "t.fst.json").unlink()
    missing = sluice(tmp_path, "stalls", "t.fst")
    assert missing.returncode == 2 and "Traceback" not in missing.stderr and "t.fst.json" in missing.stderr


def test_short_stalls_are_left_out_and_the_page_is_opened(profiled, tmp_path):
    (tmp_path / "host.py").write_text(HOST)
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > opened\n')
    browser.chmod(0o755)
    done = sluice(
        tmp_path,
        "profile",
        "-o",
        "out",
        "--min-stall",
        "1000000",
        "--stall-seed",
        "3",
        "--open",
        "host.py",
        BROWSER=f"{browser} %s",
    )
    assert done.returncode == 0, done.stderr
    names = [
        sum(one["ph"] == "X" for one in json.loads((folder / "trace.json").read_text())["traceEvents"])
        for folder in (profiled, tmp_path / "out")
    ]
    assert names[0] > names[1], "no stall is as long as that"
    assert (tmp_path / "opened").read_text().strip().endswith("out/profile.html")


def test_a_host_that_fails_before_any_launch_leaves_no_folder(tmp_path):
    (tmp_path / "host.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "there").mkdir()
    for folder, left in (("made/out", "made"), ("there", "none"), ("there/out", "there/out")):
        done = sluice(tmp_path, "profile", "-o", folder, "host.py")
        assert done.returncode == 1 and "there is nothing to profile" in done.stderr
        assert not (tmp_path / left).exists() and (tmp_path / "there").is_dir(), folder
