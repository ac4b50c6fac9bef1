"""Each rule has figures that trigger it, and figures that do not."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hls.profile import model
from hls.profile.layout import CATEGORIES
from hls.profile.summary import kernels_of
from hls.profile.verdict import blame_sentence, load_rules
from tests.hls.profile.records import launch, with_access

IDLE = model.Blame("waiting for channel c to have a value", 7, ("far",), "idle", None, None, 60)
BLAME = model.Blame(
    "waiting for channel c to have a value", 7, ("pass", "feed"), "account", "waiting for load of t", 9, 90
)
CHANNEL = model.ChannelEnd("c", "c", 7, "read", 2, 2, 1.0, 100, 0.2, 0.15)
BANK = model.Bank(0, "DDR", 0.5, 6400, 0, 100, 0, 90, 90, 0, 0)


#: 4,000 cycles long, of which depth 32 saves a quarter
DEEP = model.ChannelDepth(
    0, "c", 100, model.Depth(2, 4000, 900, 100), (model.Depth(32, 3000, 0, 0),), 32, 1000, "depth 32 helps"
)


def verdict(*launches: model.Launch, depths: Sequence[model.ChannelDepth] = (DEEP,)) -> model.Verdict:
    (kernel,) = kernels_of(launches, depths)
    return kernel.verdict


#: by rule: launches that trigger it, and what nearly does but is another rule's
CASES = {
    "short": (launch(issue=600, ramp_up=200, drain=200), launch(issue=800, ramp_up=100, drain=100)),
    "idle": (
        replace(launch(issue=300, channel=700), blame=(replace(IDLE, cycles=550), replace(BLAME, cycles=150))),
        replace(launch(issue=300, channel=700), blame=(replace(IDLE, cycles=450), replace(BLAME, cycles=250))),
    ),
    "channel depth": (
        replace(launch(issue=850, channel=150), channels=(CHANNEL,)),
        replace(launch(issue=850, channel=150), channels=(replace(CHANNEL, name="other"),)),
    ),
    "channel": (replace(launch(issue=850, channel=150), blame=(BLAME, IDLE)), launch(issue=910, channel=90)),
    "recurrence": (launch(issue=700, recurrence=300), launch(issue=850, recurrence=150)),
    "memory order": (launch(issue=700, memory_order=300), launch(issue=850, memory_order=150)),
    "one bank": (
        replace(
            launch(issue=500, memory_order=500), banks=(replace(BANK, busy=0.9), replace(BANK, number=1, busy=0.1))
        ),
        replace(
            launch(issue=500, memory_order=500), banks=(replace(BANK, busy=0.9), replace(BANK, number=1, busy=0.6))
        ),
    ),
    "latency": (
        with_access(launch(issue=700, memory=300), bandwidth=0.02),
        with_access(launch(issue=700, memory=300), bandwidth=0.3),
    ),
    "pattern": (
        with_access(launch(issue=800, memory=200), efficiency=1 / 16, bytes_used=4000, bytes_moved=64000),
        with_access(launch(issue=800, memory=200)),
    ),
    "bandwidth": (
        with_access(launch(issue=950, memory=50), bandwidth=0.85),
        with_access(launch(issue=950, memory=50), bandwidth=0.7),
    ),
    "rows": (
        replace(launch(issue=700, memory=300), banks=(BANK,)),
        replace(launch(issue=700, memory=300), banks=(replace(BANK, activates=10),)),
    ),
    "memory": (launch(issue=700, memory=300), launch(issue=850, memory=150)),
    "local memory": (launch(issue=700, local_memory=300), launch(issue=850, local_memory=150)),
    "barrier": (launch(issue=700, barrier=300), launch(issue=850, barrier=150)),
    "groups": (launch(issue=700, groups=300), launch(issue=850, groups=150)),
    "inner loop": (launch(issue=700, inner_loop=300), launch(issue=850, inner_loop=150)),
    "full": (with_access(launch(issue=950, drain=50)), with_access(launch(issue=850, drain=150))),
    "nothing": (launch(issue=850, drain=150), launch(issue=600, drain=400)),
}


@pytest.mark.parametrize("name", CASES)
def test_each_rule_has_figures_that_trigger_it_and_figures_that_do_not(name):
    hit, miss = CASES[name]
    assert verdict(hit).rule == name
    assert verdict(miss).rule != name


def test_a_host_that_is_not_ready():
    apart = [launch(k, start_ns=40_000.0 * k, issue=850, drain=150) for k in range(3)]
    close = [launch(k, start_ns=11_000.0 * k, issue=850, drain=150) for k in range(3)]
    assert verdict(*apart).rule == "host" and verdict(*close).rule == "nothing"


def test_bandwidth_is_what_memory_has_for_accesses_in_this_order():
    """Half of the peak is all that there is for unrelated addresses, unless it is that of another memory."""
    half = with_access(launch(issue=950, memory=50), bandwidth=0.5, bytes_per_ns=12.8)
    at_roof = replace(half, roof_bytes_per_ns=13.2, roof_by="activation")
    assert verdict(half).rule == "full" and verdict(at_roof).rule == "bandwidth"
    assert (
        "97.0 % of what memory can at most for accesses in this order (50.0 % of the peak)" in verdict(at_roof).sentence
    )
    other = replace(half.accesses[0], id="other", memory="QDR", bandwidth=0.1)
    assert verdict(replace(at_roof, accesses=(*half.accesses, other))).rule == "full"


def test_memory_that_is_idle_while_a_kernel_waits_for_it_is_no_pattern():
    """A list that is followed from node to node wastes 60 of 64 bytes, which nothing else wants."""
    wasted = {"efficiency": 1 / 16, "bytes_used": 4000, "bytes_moved": 64000}
    chase = with_access(launch(issue=30, memory=970), bandwidth=0.02, **wasted)
    assert verdict(chase).rule == "latency" and "97.0 % of its cycles" in verdict(chase).sentence
    assert verdict(with_access(launch(issue=30, memory=970), bandwidth=0.5, **wasted)).rule == "pattern"


def test_an_access_that_moves_little_is_no_pattern_to_look_at():
    """A single store of 4 bytes moves a word of 64, beside a load that uses all of its bytes."""
    one = with_access(launch(issue=700, memory=300), bytes_used=64000, bytes_moved=64000)
    store = replace(one.accesses[0], id="store", kind="store", bytes_used=4, bytes_moved=64, efficiency=1 / 16)
    assert verdict(replace(one, accesses=(*one.accesses, store))).rule == "memory"
    many = replace(store, bytes_used=4000, bytes_moved=64000)
    assert verdict(replace(one, accesses=(*one.accesses, many))).rule == "pattern"


def test_full_says_nothing_of_memory_to_a_kernel_without_accesses():
    alone = verdict(launch(issue=950, drain=50))
    assert alone.rule == "full"
    assert alone.sentence.endswith(
        "issues an iteration in 95.0 % of its cycles: it does all that one iteration a cycle allows."
    )
    assert {figure.name: figure.value for figure in alone.figures} == {"issue": 0.95, "sharing_accesses": 0}
    accessing = with_access(launch(issue=950, drain=50))
    assert "of what memory can" in verdict(accessing).sentence
    own_port = replace(accessing, accesses=tuple(replace(one, bandwidth=None) for one in accessing.accesses))
    assert verdict(own_port).sentence == alone.sentence


def test_every_rule_is_tested_and_speaks_of_figures_that_exist():
    assert {rule.name for rule in load_rules()} == {*CASES, "host"}
    for name, (hit, _) in CASES.items():
        said = verdict(hit)
        assert "{" not in said.sentence + "".join(said.remedies) and said.remedies and said.section
        rule = next(rule for rule in load_rules() if rule.name == name)
        assert {figure.name for figure in said.figures} == set(rule.when)


def test_without_a_rule_the_longest_causes_are_named_with_their_shares():
    found = verdict(launch(issue=700, drain=120, recurrence=90, memory=60, ramp_up=20, barrier=10))
    causes = found.sentence.partition("The others: ")[2].rstrip(".").split(", ")
    assert found.rule == "nothing" and [one.rsplit(maxsplit=2)[1:] for one in causes] == [
        [share, "%"] for share in ("12.0", "9.0", "6.0", "3.0")
    ]
    assert causes[0].startswith("drain") and causes[-1].startswith("other causes")
    assert found.remedies[0].startswith("The first of these causes is worth 12.0 % of the cycles.")


def test_a_busy_bank_counts_over_all_launches_and_beside_others_of_its_memory():
    """Two launches keep one bank each busy; the only bank of a memory has no others beside it."""
    one, other = replace(BANK, busy=0.9), replace(BANK, number=1, busy=0.0)
    first = replace(launch(issue=500, memory_order=500), banks=(one, other))
    second = replace(first, number=1, banks=(replace(one, busy=0.0), replace(other, busy=0.9)))
    assert verdict(first, first).sentence.startswith("bank 0 of DDR moves data in 90.0 % of the time of k, the other")
    assert verdict(first, second).rule == "memory order"
    assert verdict(replace(first, banks=(one,))).rule == "memory order"
    assert verdict(replace(first, banks=(one, replace(other, memory="QDR")))).rule == "memory order"


def test_a_victim_names_the_kernel_to_look_at():
    said = verdict(CASES["channel"][0])
    assert "150 cycles (15.0 %) for channels, most for channel c (line 7)" in said.sentence
    assert "90 cycles for feed, which waited for load of t (line 9)" in said.sentence
    assert (
        "60 cycles while kernel far did not run" in said.sentence and "Look at the verdict of feed" in said.remedies[0]
    )


def test_a_kernel_that_has_nothing_to_do_names_the_one_that_does_not_run():
    said = verdict(CASES["idle"][0])
    assert (
        said.sentence.startswith("k has nothing to do in 55.0 % of its cycles") and "far does not run" in said.sentence
    )
    assert "start far at the same time" in said.remedies[0]


def test_a_channel_whose_depth_helps_gets_the_depth_of_the_replay():
    said = verdict(CASES["channel depth"][0])
    assert "and c is full and empty in turn: depth 32 helps." in said.sentence
    assert said.remedies[0].startswith("Give c depth(32)")
    (figure,) = (one for one in said.figures if one.name == "depth_saves")
    assert figure.value == 0.25
    for other in (replace(DEEP, program=1), replace(DEEP, saved=100), replace(DEEP, least=None, saved=0)):
        assert verdict(CASES["channel depth"][0], depths=(other,)).rule == "channel"
    more = replace(DEEP, channel="d", saved=2000, least=64)
    both = replace(launch(issue=850, channel=150), channels=(CHANNEL, replace(CHANNEL, name="d")))
    assert verdict(both, depths=(DEEP, more)).remedies[0].startswith("Give d depth(64)")


def test_each_end_of_a_chain_of_waits_has_its_words():
    def said(end: str, cause: str | None = None, line: int | None = None) -> str:
        return blame_sentence([replace(BLAME, end=end, last_cause=cause, last_line=line)])[0]

    assert said("account", "recurrence of loop k", 5) == "90 cycles for feed: recurrence of loop k (line 5)"
    issued = "90 cycles while feed issued (latency of its pipeline, the effect of an earlier wait, or iterations that pass no value)"
    assert said("account", "issued") == issued
    several = [replace(BLAME, kernels=(name,), cycles=9 - k, last_cause="issued") for k, name in enumerate("ab")]
    assert blame_sentence(several)[0].endswith("pass no value), 8 cycles while b issued"), "what it means is said once"
    assert said("circle") == "90 cycles in a circle through feed: kernels wait for each other"
    assert said("stream") == "90 cycles while a stream of the board was not ready"
    far = [replace(IDLE, kernels=(name,), cycles=cycles) for name, cycles in zip("abcd", (9, 8, 7, 6))]
    assert blame_sentence(far)[0].endswith("7 cycles while kernel c did not run, 6 cycles for other causes")


def test_categories_of_the_rules_are_those_of_accounts():
    names = {name for rule in load_rules() for name in rule.when}
    known = {category.replace(" ", "_") for category in CATEGORIES}
    assert names <= known | {
        "depth_saves",
        "idle",
        "ramp_up_and_drain",
        "efficiency",
        "wasted",
        "bandwidth",
        "bandwidth_in_order",
        "row_misses",
        "gaps",
        "launches",
        "sharing_accesses",
        "busiest_bank",
        "other_banks",
    }
