"""Counter layout and decoding, against numbers computed by hand and against a small machine that counts."""

import random
from dataclasses import replace

import pytest

from hls.profile import CYCLES, Access, Account, Layout, Loop, ProfileError, decode
from hls.profile.layout import Local

OUTER = Loop("loop_i", "i", 4, static_ii=1, interleaving=1)
INNER = Loop("loop_k", "k", 6, static_ii=9, interleaving=9)
LOAD = Access("load_a", 7, "a", "load", "burst-coalesced", access_bytes=4, word_bytes=64, loop="loop_k")
LOAD = replace(LOAD, memory="DDR", peak_bytes_per_ns=12.8)
STORE = Access("store_c", 9, "c", "store", "burst-coalesced", access_bytes=4, word_bytes=64, loop="loop_i")
ACCOUNTS = (Account("issued", "issued"), Account("ramp", "ramp-up or drain"), Account("wait_a", "load of a", 7))
LAYOUT = Layout("dot", 240.0, (OUTER, INNER), (LOAD, STORE), ACCOUNTS)


def values(**given):
    return dict.fromkeys([c.name for c in LAYOUT.counters], 0) | {CYCLES: 0} | given


def test_counters_in_register_order_have_unique_names():
    names = [counter.name for counter in LAYOUT.counters]
    assert names[:4] == ["loop_i_issued", "loop_i_invocations", "loop_i_busy", "loop_i_starts"]
    assert names[8:12] == ["load_a_accepted", "load_a_stalled", "load_a_bursts", "load_a_words"]
    assert names[-3:] == ["account_issued", "account_ramp", "account_wait_a"]
    assert len(set(names)) == len(names) == 2 * 4 + 2 * 4 + 3
    assert LAYOUT.counters[-1].owner == "load of a" and LAYOUT.counters[-1].line == 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: Layout("k", 1.0, (OUTER, OUTER), (), ()), "named twice: loop_i_busy"),
        (lambda: Layout("k", 1.0, (OUTER,), (LOAD,), ()), "load_a is in unknown loop loop_k"),
        (lambda: Loop("l", "l", 1, static_ii=2, interleaving=3), r"interleaving 3 is not in 1..II = 2"),
        (lambda: Loop("l", "l", 1, static_ii=2, interleaving=0), r"interleaving 0 is not in 1..II = 2"),
    ],
)
def test_a_layout_that_contradicts_itself_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        change()


def test_every_figure():
    stats = decode(
        LAYOUT,
        values(
            cycles=1000,
            account_issued=700,
            account_ramp=100,
            account_wait_a=200,
            loop_i_issued=10,
            loop_i_invocations=1,
            loop_i_busy=901,
            loop_i_starts=1,
            loop_k_issued=700,
            loop_k_invocations=10,
            loop_k_busy=702,
            loop_k_starts=2,
            load_a_accepted=640,
            load_a_stalled=20,
            load_a_bursts=5,
            load_a_words=40,
            store_c_accepted=10,
            store_c_bursts=1,
            store_c_words=1,
        ),
    )
    assert list(stats) == ["kernel", "cycles", "clock_mhz", "loops", "memory", "channels", "local", "accounts", "units"]
    assert stats["loops"] == [
        {
            "line": 4,
            "label": "i",
            "name": "i",
            "static_ii": 1,
            "interleaving": 1,
            "scheduled_ii": 1.0,
            "measured_ii": 100.0,
            "iterations": 10,
            "invocations": 1,
        },
        {
            "line": 6,
            "label": "k",
            "name": "k",
            "static_ii": 9,
            "interleaving": 9,
            "scheduled_ii": 1.0,
            "measured_ii": 700 / 698,
            "iterations": 700,
            "invocations": 10,
        },
    ]
    assert stats["memory"][0] == {
        "line": 7,
        "buffer": "a",
        "kind": "load",
        "lsu": "burst-coalesced",
        "occupancy": 0.7,
        "stall": 0.02,
        "activity": 0.64,
        "bytes_used": 2560,
        "bytes_moved": 2560,
        "efficiency": 1.0,
        "reuse": 1.0,
        "average_burst": 8.0,
        "max_burst": None,
        "full_bursts": None,
        "unaligned": None,
        "cache_hit": None,
        "in_vain": None,
        "memory": "DDR",
        "bytes_per_ns": pytest.approx(0.6144),
        "peak_bytes_per_ns": 12.8,
        "bandwidth": pytest.approx(0.048),
    }
    assert stats["memory"][1]["cache_hit"] is None
    assert stats["memory"][1]["bytes_moved"] == 64
    assert stats["memory"][1]["efficiency"] == 40 / 64 and stats["memory"][1]["reuse"] == 1.0
    assert stats["accounts"][2] == {"cause": "load of a", "line": 7, "cycles": 200}


def test_what_only_a_simulator_counts():
    """Of a wide access that needs two words where it crosses: 64 requests of which 16 cross need 80 words, of which 20
    were moved."""
    wide = Access("x", 7, "a", "load", "any", access_bytes=16, word_bytes=64, cached=True, wide=True, max_burst=16)
    narrow = replace(wide, key="y", wide=False, max_burst=1)
    layout = Layout("dot", 240.0, (OUTER,), (wide, narrow), (), local=(Local("t", 8, "tile", "store", "loop_i"),))
    assert not [c for c in layout.counters if c.owner == "t" or c.kind in ("unaligned", "full")]
    values = dict.fromkeys([c.name for c in layout.counters], 0) | {CYCLES: 0}
    assert decode(layout, values)["local"] == [] and decode(layout, values)["memory"][0]["unaligned"] is None
    probed = replace(layout, probed=True)
    more = [c.name for c in probed.counters if c not in layout.counters]
    assert more == ["x_unaligned", "x_full", "t_accepted", "t_stalled"]
    counted = dict.fromkeys(more, 0) | {"x_accepted": 64, "x_words": 20, "x_bursts": 5, "x_full": 1, "x_unaligned": 16}
    stats = decode(replace(probed, accounts=()), values | counted | {"t_accepted": 30, "t_stalled": 6})
    first, second = stats["memory"]
    assert (first["unaligned"], first["full_bursts"], first["cache_hit"]) == (0.25, 0.2, 0.75)
    assert second["unaligned"] is second["full_bursts"] is None
    (tile,) = stats["local"]
    assert tile == {"line": 8, "memory": "tile", "kind": "store", "requests": 30, "activity": None, "stall": None}


@pytest.mark.parametrize(("cached", "hits"), [(True, 0.75), (False, None)])
def test_bytes_that_serve_several_requests_are_reuse_and_only_a_cache_has_hits(cached, hits):
    access = Access("x", 7, "a", "load", "any", access_bytes=64, word_bytes=64, cached=cached)
    layout = Layout("dot", 240.0, (), (access,), ())
    one = decode(layout, {CYCLES: 0, "x_accepted": 64, "x_stalled": 0, "x_bursts": 1, "x_words": 16})["memory"][0]
    assert (one["efficiency"], one["reuse"], one["cache_hit"]) == (1.0, 4.0, hits)


def test_atomic_operations_move_the_words_that_were_read_and_those_that_are_written_for_them():
    """1,024 operations on two words of memory."""
    access = Access("x", 7, "bins", "atomic", "atomic-pipelined", access_bytes=4, word_bytes=64)
    layout = Layout("dot", 240.0, (), (access,), ())
    one = decode(layout, {CYCLES: 0, "x_accepted": 1024, "x_stalled": 0, "x_bursts": 2, "x_words": 2})["memory"][0]
    assert (one["bytes_moved"], one["reuse"], one["average_burst"]) == (256, 16.0, None)


def test_early_loads_count_the_answers_that_are_dropped():
    layout = Layout("dot", 240.0, (), (Access("x", 7, "a", "load", "any", 4, 64, early=True),), ())
    counted = {"x_accepted": 64, "x_stalled": 0, "x_bursts": 1, "x_words": 4, "x_vain": 48}
    assert decode(layout, {CYCLES: 0} | counted)["memory"][0]["in_vain"] == 0.75


def test_figures_without_a_value_are_none():
    stats = decode(LAYOUT, values())
    assert stats["loops"][0]["measured_ii"] is None
    assert stats["memory"][0]["occupancy"] is None
    assert stats["memory"][0]["average_burst"] is None


def test_accounts_must_sum_to_the_cycles():
    with pytest.raises(ProfileError, match="kernel dot ran 1000 cycles, but its accounts sum to 999"):
        decode(LAYOUT, values(cycles=1000, account_issued=999))


def test_a_missing_counter_is_named():
    given = values()
    del given["load_a_words"]
    with pytest.raises(ProfileError, match="kernel dot: no value for load_a_words"):
        decode(LAYOUT, given)


def count(stretches, ii):
    """A header's counters over stretches of iterations that issue every ``ii`` cycles, idle between the stretches."""
    return {
        "loop_k_issued": sum(stretches),
        "loop_k_invocations": len(stretches),
        "loop_k_starts": len(stretches),
        "loop_k_busy": sum((trips - 1) * ii + 1 for trips in stretches),
    }


@pytest.mark.parametrize("ii", [1, 2, 9])
def test_measured_ii_is_exact_however_the_loop_is_entered(ii):
    rng = random.Random(ii)
    for _ in range(50):
        stretches = [rng.randint(1, 20) for _ in range(rng.randint(1, 30))]
        measured = decode(LAYOUT, values(**count(stretches, ii)))["loops"][1]["measured_ii"]
        assert measured == (None if max(stretches) == 1 else ii)


@pytest.mark.parametrize(("apart", "measured"), [(60, 84.0), (90, 90.0)])
def test_what_a_loop_inside_takes_is_shared_by_the_iterations_around_it(apart, measured):
    """Sixteen rows of 64 values, of which nine are summed at a time: rows leave in clusters, the first one late. Loops
    before and behind have the same labels, and are not inside."""
    inner, outer = replace(INNER, path="i/k"), replace(OUTER, path="i")
    before, behind = ([replace(inner, key=f"loop_k_{n}"), replace(outer, key=f"loop_i_{n}")] for n in (0, 1))
    layout = Layout("sums", 240.0, (*before, inner, outer, *behind), (), ())
    given = dict.fromkeys([c.name for c in layout.counters], 0) | {
        CYCLES: 0,
        "loop_k_0_busy": 5000,
        "loop_k_1_busy": 5000,
    }
    given |= {"loop_k_issued": 1024, "loop_k_invocations": 16, "loop_k_starts": 1, "loop_k_busy": 1344}
    given |= {"loop_i_issued": 16, "loop_i_invocations": 1, "loop_i_starts": 1, "loop_i_busy": 15 * apart + 1}
    found = {loop["line"]: loop["measured_ii"] for loop in decode(layout, given)["loops"][2:4]}
    assert found == {OUTER.line: measured, INNER.line: 1343 / 1023}


def test_compute_units():
    """Sums, means that still sum to the cycles, and what each unit did."""
    items = Loop("items", "work-items", 3, static_ii=1, interleaving=1)
    load = Access("load_a", 7, "a", "load", "burst-coalesced", access_bytes=4, word_bytes=64, loop="items")
    layout = Layout("k", 240.0, (items,), (load,), ACCOUNTS, units=2)
    names = [counter.name for counter in layout.counters]
    assert names[0] == "unit0_items_issued" and names[len(names) // 2] == "unit1_items_issued"
    given = dict.fromkeys(names, 0) | {CYCLES: 101}
    for unit, (issued, groups, wait) in enumerate(((60, 4, 1), (90, 6, 0))):
        given |= {
            f"unit{unit}_items_issued": issued,
            f"unit{unit}_items_invocations": groups,
            f"unit{unit}_load_a_accepted": issued,
            f"unit{unit}_account_issued": issued,
            f"unit{unit}_account_wait_a": wait,
            f"unit{unit}_account_ramp": 101 - issued - wait,
        }
    stats = decode(layout, given)
    assert [(one["unit"], one["groups"], one["occupancy"]) for one in stats["units"]] == [
        (0, 4, 60 / 101),
        (1, 6, 90 / 101),
    ]
    assert (stats["loops"][0]["iterations"], stats["loops"][0]["invocations"]) == (150, 10)
    assert stats["memory"][0]["bytes_used"] == 600 and stats["memory"][0]["occupancy"] == 150 / 202
    assert [account["cycles"] for account in stats["accounts"]] == [75, 26, 0]
    with pytest.raises(ProfileError, match="accounts sum to"):
        decode(layout, given | {"unit1_account_ramp": 12})
