"""The waveform of `sluice run --trace`: accounts and states in words, saved views, the worst stalls, and the cycle of a
deadlock."""

import json
import re
from collections import Counter

import pylibfst
import pytest

from hls.profile.stalls import signals_of
from tests.cli.test_profile import HOST, ROOT, sluice

pytestmark = pytest.mark.verilator
STUCK = f"""
import numpy as np, sim.cl as cl
ctx = cl.create_some_context()
program = cl.Program(ctx, open({str(ROOT / "tests/kernels/waits.cl")!r}).read()).build()
program.write_fast(cl.CommandQueue(ctx), (1,), None, np.int32(100)).wait()
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """The folder of a waveform, and what the run printed."""
    folder = tmp_path_factory.mktemp("traced")
    (folder / "host.py").write_text(HOST)
    done = sluice(folder, "run", "--trace", "t.fst", "--stats-file", "stats.json", "--no-stats", "host.py")
    assert done.returncode == 0 and done.stdout == "the program's own line\n", done.stderr
    return folder, done.stderr


@pytest.fixture(scope="module")
def signals(traced):
    return signals_of(traced[0] / "t.fst")


def test_every_name_in_the_saved_views_is_in_the_waveform(traced, signals):
    folder, _ = traced
    gtkw, sucl = (folder / "t.gtkw").read_text(), (folder / "t.sucl").read_text()
    named = [line for line in gtkw.splitlines() if re.match(r"\w+\.", line)]
    assert named and set(named) <= {name + bits for name, bits in signals.items()}
    shown = [line.split()[1] for line in sucl.splitlines() if line.startswith("variable_add ")]
    assert shown == [name.partition("[")[0] for name in named] and len(set(shown)) == len(shown)
    for kernel, access in (("feed", "load_table_L13"), ("drain", "channel_read_L28"), ("pass", "channel_write_L22")):
        assert f"system.sluice_system.{kernel}.{access}_unit.i__valid" in shown or (
            f"system.sluice_system.{kernel}.{access}_unit.i__0__valid" in shown
        )
        assert f"system.sluice_system.probe_states.kernel_{kernel}.{access}_state" in shown
    assert "-load of table (line 13): write_channel_intel(raw, table[at[k]]);" in gtkw


def test_the_commands_for_surfer_are_those_that_it_has(traced):
    forms = (
        r"variable_add [\w.]+",
        r"divider_add .+",
        r"item_focus [a-z]+",
        r"item_set_color Yellow",
        r"item_unfocus",
        r"marker_set_at \d+ [A-E]",
        r"cursor_set \d+",
        r"zoom_to \d+ \d+",
    )
    lines = (traced[0] / "t.sucl").read_text().splitlines()
    assert all(any(re.fullmatch(form, line) for form in forms) for line in lines)
    rows = [line for line in lines if line.startswith(("variable_add", "divider_add"))]
    codes = [line.split()[1] for line in lines if line.startswith("item_focus")]
    number = {code: sum(26**k * (ord(c) - 97) for k, c in enumerate(reversed(code))) for code in codes}
    assert all(re.search(r"(\.account|_state)$", rows[number[code]]) for code in codes) and len(codes) > 10


def test_the_window_and_the_markers_are_at_the_longest_stalls(traced):
    folder, printed = traced
    rows = json.loads(sluice(folder, "stalls", "t.fst", "--json").stdout)
    accounts = [row for row in rows if row["kind"] == "account"]
    waits = sorted(accounts, key=lambda row: (row["autorun"], -row["longest"], row["at"]))
    order = [row["kernel"] == "pass" for row in accounts]
    assert order == sorted(order) and any(order), "an autorun kernel also waits while there is nothing to do"
    period = 1e6 / json.loads((folder / "t.fst.json").read_text())["clock_mhz"]
    times = [round(row["at"] * period) for row in waits[:5]]
    lines = (folder / "t.sucl").read_text().splitlines()
    assert [int(line.split()[1]) for line in lines if line.startswith("marker_set_at")] == times
    begin, end = map(int, lines[-1].split()[1:])
    assert begin < times[0] < times[0] + round(waits[0]["longest"] * period) < end
    zoom = next(line for line in (folder / "t.gtkw").read_text().splitlines() if line.startswith("*"))
    assert list(map(int, zoom.split()[1:7])) == [times[0], *times]
    # GTKWave's zoom is the negated logarithm of the time that 200 pixels show: its 780 pixels of waves show the same window
    assert 2 ** -float(zoom.split()[0][1:]) * 780 / 200 == pytest.approx(end - begin, rel=1e-3)
    worst = [row for row in rows if row["kind"] == "account"][:3]
    for row in worst:
        assert f"  {row['kernel']}, line {row['line']}: {row['what']}: {row['cycles']:,} of {row['of']:,} " in printed
    assert f"gtkwave {folder / 't.fst'} {folder / 't.gtkw'}" in printed
    assert f"surfer --command-file {folder / 't.sucl'} {folder / 't.fst'}" in printed


def words_of(path, signal: str) -> Counter:
    """The cycles of each word of a signal in a waveform."""
    file = pylibfst.lib.fstReaderOpen(str(path).encode())
    tables, table, handles, found = {}, None, {}, Counter()
    scope: list[str] = []
    for entry in iter(lambda: pylibfst.lib.fstReaderIterateHier(file), pylibfst.ffi.NULL):
        if entry.htyp == pylibfst.lib.FST_HT_SCOPE:
            scope.append(pylibfst.ffi.string(entry.u.scope.name).decode())
        elif entry.htyp == pylibfst.lib.FST_HT_UPSCOPE:
            scope.pop()
        elif entry.htyp == pylibfst.lib.FST_HT_ATTRBEGIN:
            name = pylibfst.ffi.string(entry.u.attr.name).decode()
            if name:
                _, count, *parts = name.split()
                tables[entry.u.attr.arg] = dict(zip(parts[int(count) :], parts[: int(count)], strict=True))
            else:
                table = tables[entry.u.attr.arg]
        elif entry.htyp == pylibfst.lib.FST_HT_VAR:
            name = pylibfst.ffi.string(entry.u.var.name).decode().partition(" ")[0]
            handles[".".join([*scope, name])] = entry.u.var.handle, table
            table = None
    handle, words = handles[signal]
    assert words is not None
    pylibfst.lib.fstReaderClrFacProcessMaskAll(file)
    pylibfst.lib.fstReaderSetFacProcessMask(file, handle)
    changes: list[tuple[int, str]] = []

    def changed(_data, time, _handle, value, _size=None):
        changes.append((time, pylibfst.ffi.string(value).decode()))

    pylibfst.fstReaderIterBlocks2(file, changed, changed)
    end = pylibfst.lib.fstReaderGetEndTime(file)
    pylibfst.lib.fstReaderClose(file)
    for (time, value), (until, _) in zip(changes, [*changes[1:], (end, "")]):
        found[words[value]] += until - time
    return found


def test_accounts_and_states_are_words_that_sum_to_the_counters(traced):
    folder, _ = traced
    period = 1e6 / json.loads((folder / "t.fst.json").read_text())["clock_mhz"]
    counted: Counter = Counter()
    for stats in json.loads((folder / "stats.json").read_text()):
        if stats["kernel"] == "feed":
            counted.update({one["cause"]: one["cycles"] for one in stats["accounts"]})
            (load,) = (one for one in stats["memory"] if one["buffer"] == "table")
            counted["stalled"] += round(load["stall"] * stats["cycles"])
            counted["moved"] += round(load["activity"] * stats["cycles"])
    scope = "system.sluice_system.probe_states.kernel_feed"
    account = words_of(folder / "t.fst", f"{scope}.account")
    assert round(account["issued"] / period) == counted["issued"] == 3000
    room = "waiting for channel raw to have room"
    assert round(account[room.replace(" ", "_") + "_L13"] / period) == counted[room]
    assert account["not_running"] > 0 and account["latency"] > 0
    state = words_of(folder / "t.fst", f"{scope}.load_table_L13_state")
    assert round(state["stall"] / period) == counted["stalled"] > 0
    assert round(state["move"] / period) == counted["moved"] == 3000
    assert set(state) <= {"idle", "move", "stall", "wait"} and state["wait"] > 0


def test_a_deadlock_names_the_cycle_to_look_at(tmp_path):
    (tmp_path / "host.py").write_text(STUCK)
    command = ("run", "--trace", "t.fst", "--trace-signals", "accounts", "--no-stats", "host.py")
    done = sluice(tmp_path, *command)
    assert done.returncode == 1 and "the kernels wait for each other" in done.stderr
    cycle, file = re.search(r"nothing has changed since cycle ([\d,]+): look there in (\S+)", done.stderr).groups()
    assert file == str(tmp_path / "t.fst")
    rows = json.loads(sluice(tmp_path, "stalls", "t.fst", "--kernel", "write_fast", "--json").stdout)
    (wait,) = (row for row in rows if row["what"] == "waiting for channel shallow to have room")
    assert wait["at"] == int(cycle.replace(",", "")) and wait["longest"] > 10_000
    names = list(signals_of(tmp_path / "t.fst"))
    assert all(name.endswith(("observed", ".account", "_state")) for name in names), names
    assert (tmp_path / "t.gtkw").is_file()


def test_signals_without_a_waveform_are_wrong_usage(tmp_path):
    (tmp_path / "host.py").write_text(STUCK)
    done = sluice(tmp_path, "run", "--trace-signals", "all", "host.py")
    assert done.returncode == 2 and "--trace-signals goes with --trace FILE" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--trace-window", "0:9"), "--trace-window goes with --trace FILE"),
        (("--trace", "t.fst", "--trace-window", "20000"), "'20000' is not START:CYCLES, such as 1000:20000"),
        (("--trace", "t.fst", "--trace-window", "5:0"), "'5:0' is not START:CYCLES"),
    ],
)
def test_a_window_that_is_none_is_wrong_usage(tmp_path, words, said):
    (tmp_path / "host.py").write_text(STUCK)
    done = sluice(tmp_path, "run", *words, "host.py")
    assert done.returncode == 2 and said in " ".join(done.stderr.split())


def test_a_window_is_recorded_and_what_is_cut_off_is_told(tmp_path):
    (tmp_path / "host.py").write_text(HOST)
    done = sluice(tmp_path, "run", "--trace", "t.fst", "--trace-window", "100:500", "--no-stats", "host.py")
    assert done.returncode == 0 and "the trace window of 500 cycles ended before the launches did" in done.stderr
    rows = json.loads(sluice(tmp_path, "stalls", "t.fst", "--json").stdout)
    assert rows and max(row["of"] for row in rows) in range(490, 502)


def test_two_parts_of_a_waveform_sum_to_the_whole(traced):
    folder, _ = traced

    def cycles(*window: str) -> int:
        return sum(row["cycles"] for row in json.loads(sluice(folder, "stalls", "t.fst", "--json", *window).stdout))

    whole, first, rest = cycles(), cycles("--to", "2000"), cycles("--from", "2000")
    assert first > 0 and rest > 0 and first + rest == whole
    few, all_rows = (sluice(folder, "stalls", "t.fst", "--top", top).stdout.splitlines() for top in ("1", "99"))
    assert len(few) < len(all_rows)
