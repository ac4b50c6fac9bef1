"""The text form of a run's statistics."""

from pathlib import Path

from test_decode import LAYOUT, values

from hls.profile import decode, render
from hls.profile.text import table, tables_text

GOLDEN = Path(__file__).with_name("run.expect")
SOURCE = (
    "\n\n\n  for (int i = 0; i < n; i++) {\n\n    for (int k = 0; k < n; k++)\n      sum += a[k];\n\n    c[i] = sum;\n"
)
STATS = decode(
    LAYOUT,
    values(
        cycles=1000,
        account_issued=700,
        account_ramp=0,
        account_wait_a=300,
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
    ),
)


def test_golden(request):
    if request.config.getoption("--refresh"):
        GOLDEN.write_text(render(STATS, SOURCE))
    assert render(STATS, SOURCE) == GOLDEN.read_text()


def test_every_account_with_cycles_is_shown_and_no_other():
    text = render(STATS)
    assert "load of a" in text and "issued" in text and "ramp-up" not in text


def test_no_line_is_wider_than_asked():
    stats = STATS | {"accounts": [{"cause": "a cause told at length " * 8, "line": 7, "cycles": 1000}]}
    assert max(map(len, render(stats, SOURCE, width=90).splitlines())) <= 90


def test_source_text_is_not_taken_for_markup():
    stats = STATS | {"accounts": [{"cause": "issued", "line": 1, "cycles": 1000}]}
    assert "x[red] = y[/red] :smile:" in render(stats, "x[red] = y[/red] :smile:\n")


def test_a_kernel_without_loops_accesses_or_cycles():
    stats = {"kernel": "k", "cycles": 0, "clock_mhz": 100.0, "loops": [], "memory": [], "channels": [], "accounts": []}
    assert render(stats) == "k: 0 cycles at 100 MHz = 0 ns\n"


def test_a_channel_that_is_full_and_empty_in_turn_is_told():
    channel = {
        "line": 3, "name": "c", "end": "read", "depth": 16, "max_level": 16, "values": 9, "read_stall": 0.3, "write_stall": 0.1,
    }  # fmt: skip
    said = render(STATS | {"channels": [channel]}, width=400)
    assert "channel c of depth 16 was full and empty in turn: both of its ends waited for 10.0 % of" in said
    assert "full and empty" not in render(STATS | {"channels": [channel | {"write_stall": 0.0}]})
    assert "full and empty" not in render(STATS | {"channels": [channel | {"max_level": 15}]})


def test_words_are_broken_only_where_a_table_would_be_too_wide():
    def text(width: int, beyond: int) -> str:
        made = table("Units", "<unit", "<held up by")
        made.add_row("burst-coalesced non-aligned", "iterations were issued")
        return tables_text([made], width, beyond)

    assert max(map(len, text(20, 0).splitlines())) <= 20 and "burst-coalesced" not in text(20, 0)
    assert max(map(len, text(20, 10).splitlines())) > 20
    assert all(word in text(20, 10) for word in ("burst-coalesced", "non-aligned", "iterations"))
