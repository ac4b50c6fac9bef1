"""What profile.html has of a profile: columns in few bytes, and the total of the launches of each kernel."""

import random
from dataclasses import replace

import pytest

from hls.profile import model
from hls.profile.columns import packed, unpacked
from hls.profile.totals import total_of
from hls.records import plain
from hls.report import profile_page
from tests.hls.profile.records import launch, profile, with_access

RNG = random.Random(1)
COLUMNS = [[], [0], [64, 64, 64, 12], [0, -1, 1, 2**40, -(2**40)], [RNG.randrange(2**32) for _ in range(1000)]]


def sampled(number: int, kernel: str, rows: int) -> model.Launch:
    """A launch whose issues were sampled in so many intervals, and the level of a channel."""
    issues = tuple(float(RNG.randrange(65)) for _ in range(rows))
    levels = tuple(round(RNG.random() * 4, 3) for _ in range(rows))
    columns = (model.Column("account", "0_issue", issues), model.Column("level", "c", levels))
    return replace(launch(number, kernel, issue=64 * rows), samples=(model.Samples(0, 0, 64, 0, columns),))


@pytest.mark.parametrize("column", COLUMNS, ids=len)
def test_columns_are_read_back(column):
    assert unpacked(packed([column, [7, 7], column]), [len(column), 2, len(column)]) == [column, [7, 7], column]


def test_columns_that_change_little_are_small_and_wrong_lengths_are_noticed():
    text = packed([[64] * 1000] * 100)
    assert len(text) < 1000
    with pytest.raises(ValueError, match="left over"):
        unpacked(text, [1000] * 99)


def test_total_is_the_sum_of_counts_and_the_mean_of_shares():
    first = with_access(launch(0, issue=100), bytes_used=100, bytes_moved=400, stall=0.5, activity=1.0, cache_hit=1.0)
    later = with_access(
        launch(1, start_ns=5000.0, issue=200, memory=100), bytes_used=100, bytes_moved=0, stall=0.1, activity=0.0
    )
    loop = model.Loop("l", "i", 3, 1, 1, 1.0, 2.0, 30, 1)
    end = model.ChannelEnd("c", "c", 7, "read", 4, 2, 1.0, 100, 0.4, None)
    held = model.Held("l", "load", 4, "memory", 7, 10)
    first = replace(first, loops=(loop,), channels=(end,), held=(held,))
    later = replace(
        later,
        loops=(replace(loop, measured_ii=4.0, iterations=10), replace(loop, id="m")),
        channels=(replace(end, max_level=4, values=5, mean_level=2.0, read_stall=0.0),),
        held=(replace(held, cycles=5), replace(held, cause="other", cycles=100)),
    )
    total = total_of([first, later])
    assert (total.number, total.cycles, total.start_ns, total.end_ns) == (1, 400, 0.0, 8000.0)
    assert {one.cause: one.cycles for one in total.accounts} == {"issued": 300, "memory": 100}
    (access,) = total.accesses
    assert (access.bytes_used, access.bytes_moved, access.efficiency, access.reuse) == (200, 400, 0.5, 1.0)
    assert access.stall == pytest.approx((0.5 * 100 + 0.1 * 300) / 400)
    assert access.cache_hit == 1.0, "a launch without requests has no weight"
    assert [(one.id, one.iterations, one.measured_ii) for one in total.loops] == [("l", 40, 2.5), ("m", 30, 2.0)]
    (channel,) = total.channels
    assert (channel.values, channel.max_level, channel.write_stall) == (105, 4, None)
    assert channel.mean_level == 1.75 and channel.read_stall == pytest.approx(0.1)
    assert [(one.cause, one.cycles) for one in total.held] == [("other", 100), ("memory", 15)]


def test_totals_of_bursts_requests_and_accesses_inside_kernels():
    """Shares of bursts are weighted by bursts, those of requests by requests, those of cycles by cycles."""
    local = model.Local("t", "store", "tile", 5, "l", 50, 0.5, 0.2)
    one = with_access(
        launch(0, issue=100), activity=1.0, bytes_moved=6400, average_burst=64, full_bursts=1.0, unaligned=0.5
    )
    two = with_access(
        launch(1, issue=300), activity=1.0, bytes_moved=300, average_burst=1, full_bursts=0.0, unaligned=0.1
    )
    total = total_of([replace(one, local=(local,)), replace(two, local=(replace(local, requests=150, stall=0.0),))])
    (access,) = total.accesses
    assert access.full_bursts == pytest.approx(100 / 400) and access.unaligned == pytest.approx((50 + 30) / 400)
    (found,) = total.local
    assert (found.requests, found.activity, found.stall) == (200, 0.5, pytest.approx(0.05))


def test_operations_of_launches_are_summed():
    work = (model.Work("integer", 10, 2.0),)
    assert total_of([replace(launch(k, issue=5), work=work) for k in range(3)]).work == (
        model.Work("integer", 30, 2.0),
    )


def test_total_of_one_launch_is_that_launch():
    one = replace(with_access(launch(3, issue=10, memory=5)), loops=(model.Loop("l", "i", 3, 1, 1, 1.0, 2.0, 9, 1),))
    assert plain(total_of([one]), 9) == plain(replace(one, accounts=total_of([one]).accounts), 9)


def test_a_kernel_of_the_page_counts_each_cycle_of_a_capture_as_the_profile_does():
    """What the host captured, and the capture of the whole run, count the cycles of the captures of launches again."""
    end = model.ChannelEnd("c", "c", 7, "read", 4, 2, 1.0, 100, 0.4, None)
    capture = replace(launch(1, "auto", issue=80, channel=20), capture=True, channels=(end,))
    whole = profile(
        launch(0, issue=100), replace(capture, of=0), replace(capture, number=2), replace(capture, number=3)
    )
    (shown,) = (one for one in profile_page.page_data(whole)["kernels"] if one["name"] == "auto")
    (kernel,) = (one for one in whole.kernels if one.name == "auto")
    assert shown["total"]["cycles"] == kernel.cycles == 100 and shown["total"]["channels"][0]["values"] == 100
    assert sum(one["cycles"] for one in shown["total"]["accounts"]) == 100


def test_page_has_the_samples_of_the_profile():
    whole = profile(sampled(0, "k", 100), sampled(1, "k", 300), sampled(2, "other", 50))
    data = profile_page.page_data(whole)
    heads = [column for one in data["launches"] for part in one["samples"] for column in part["columns"]]
    order = sorted((part["first_column"], one["number"]) for one in data["launches"] for part in one["samples"])
    columns = unpacked(data["columns"], [300, 300, 50, 50, 100, 100])
    assert [number for _, number in order] == [1, 2, 0], "the longest launches come first"
    assert columns[1] == [round(1000 * value) for value in whole.launches[1].samples[0].columns[1].values]
    assert {(one["kind"], one["scale"]) for one in heads} == {("account", 1), ("level", 1000)}
    assert data["not_sampled"] == 0 and data["not_detailed"] == 0


def test_page_leaves_out_what_is_too_much(monkeypatch):
    monkeypatch.setattr(profile_page, "MOST_NUMBERS", 700)
    monkeypatch.setattr(profile_page, "MOST_DETAILED", 2)
    local = (model.Local("t", "store", "tile", 5, None, 50, 0.5, 0.2),)
    launches = (with_access(sampled(k, "k", rows)) for k, rows in enumerate((100, 100, 300)))
    whole = profile(*(replace(one, local=local) for one in launches))
    data = profile_page.page_data(whole)
    assert [bool(one["samples"]) for one in data["launches"]] == [False, False, True], "600 numbers fit"
    assert [one["detailed"] for one in data["launches"]] == [True, False, True]
    assert [len(one["accesses"]) for one in data["launches"]] == [1, 0, 1]
    assert [len(one["local"]) for one in data["launches"]] == [1, 0, 1]
    assert (data["not_sampled"], data["not_detailed"]) == (2, 1)
    assert [one["cycles"] for one in data["launches"]] == [6400, 6400, 19200], "each launch is there"
