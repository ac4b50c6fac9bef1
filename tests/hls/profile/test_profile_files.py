"""What is made from a profile: its JSON and schema, its text, its trace events, a comparison."""

import io
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.profile import model, schema
from hls.profile.compare import compare, compare_text
from hls.profile.compare_figures import compare_areas, compare_figures
from hls.profile.profile_text import render_brief, render_profile
from hls.profile.trace_events import write_trace
from hls.records import plain
from tests.hls.profile.records import launch, profile, with_access

SCHEMA = Path(__file__).parents[3] / "docs" / "profile.schema.json"
COLUMNS = (
    model.Column("account", "0_issue", (64.0, 20.0, 64.0, 12.0)),
    model.Column("account", "0_memory", (0.0, 44.0, 0.0, 20.0)),
    model.Column("level", "c", (1.0, 0.5, 2.0, 0.0)),
)
SAMPLED = replace(
    with_access(launch(issue=160, memory=64)),
    samples=(model.Samples(0, 0, 64, 32, COLUMNS),),
    channels=(model.ChannelEnd("c", "c", 7, "read", 4, 2, 1.0, 100, 0.1, 0.0),),
    end_ns=2240.0,
)


def events(one: model.Profile, **options) -> tuple[list[dict], int]:
    out = io.StringIO()
    left = write_trace(one, out, **options)
    return json.loads(out.getvalue())["traceEvents"], left


def test_the_schema_in_docs_is_the_one_of_the_dataclasses():
    assert SCHEMA.read_text() == schema.text(), "python -m hls.profile.schema > docs/profile.schema.json"


def test_a_profile_has_the_form_that_the_schema_describes():
    checker = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    found = plain(profile(SAMPLED, launch(1, start_ns=3000.0, issue=10)))
    checker.validate(found)
    assert found["kernels"][0]["cycles"] == 234 and found["kernels"][0]["worst"] == 0
    del found["launches"][0]["cycles"]
    assert list(checker.iter_errors(found))


def test_kernels_are_sums_of_their_launches_and_accounts_sum_to_cycles():
    one = profile(launch(0, issue=60, memory=40), launch(1, issue=160, memory=40), launch(2, "other", issue=5))
    kernel, other = one.kernels
    assert (kernel.launches, kernel.cycles, kernel.mean, kernel.most, kernel.worst) == (2, 300, 150, 200, 1)
    assert [(a.cause, a.cycles) for a in kernel.accounts] == [("issued", 220), ("memory", 80)]
    assert other.cycles == sum(account.cycles for account in other.accounts)


def test_text_begins_with_verdicts_and_its_accounts_sum():
    many = {name: 10 for name in ("memory", "channel", "barrier", "groups", "recurrence", "drain")}
    text = render_profile(profile(launch(issue=940, **many)))
    assert text.splitlines()[1].startswith("- k issues an iteration in 94.0 % of its cycles")
    rows = text[text.index("Cycle accounts") :].splitlines()[3:]
    cycles = [int(row.split("%")[0].split()[-2].replace(",", "")) for row in rows if "%" in row]
    assert sum(cycles) == 1000 and "2 other accounts" in text
    assert max(map(len, text.splitlines()[3:])) <= 124


def test_verdicts_are_wrapped_and_as_many_as_have_room():
    """Sentences of chains of waits are long: several lines each, so that fewer kernels have room on a screen."""
    blame = tuple(
        model.Blame(f"waiting for channel c{k}", 7, (f"kernel_{k}",), "account", "issued", None, 90 - k)
        for k in range(4)
    )
    far = [replace(launch(k, f"k{k}", issue=500 - k, channel=500), blame=blame) for k in range(12)]
    whole = profile(*far)
    for text in (render_profile(whole), render_brief(whole)):
        assert max(map(len, text.splitlines())) <= 148 and "\n    Look at the verdict of kernel_0" in text
        verdicts = text.partition("\n\nKernels")[0].splitlines()[1:]
        assert max(map(len, verdicts)) <= 132 and verdicts[1].startswith("  ")
        assert (
            verdicts[-1] == f"and {12 - sum(one.startswith('- ') for one in verdicts)} more kernels: see profile.json"
        )
    assert len(render_brief(whole).splitlines()) < 39


def test_the_default_text_of_many_kernels_stays_short():
    text = render_profile(profile(*(launch(k, f"k{k}", issue=900 - k, memory=100) for k in range(70))))
    assert len(text.splitlines()) < 120 and "and 60 more kernels: see profile.json" in text


def test_copies_of_a_kernel_are_one_entry_and_other_tables_have_a_bound():
    access = with_access(launch()).accesses[0]
    accesses = tuple(replace(access, id=f"a{k}", buffer=f"b{k}", stall=k / 100) for k in range(30))
    whole = profile(
        *(launch(k, f"k{k}", issue=600 + k, memory=400, barrier=9) for k in range(20)),
        *(replace(launch(20 + k, f"m{k}", issue=900 + k), accesses=accesses) for k in range(9)),
    )
    copies = (tuple(f"k{k}" for k in range(20)),)
    whole = replace(whole, programs=(replace(whole.programs[0], copies=copies),))
    text = render_profile(whole)
    assert "k19 waits " in text and "(the slowest of 20 copies)" in text and "k19 x 20" in text and "k18" not in text
    assert "; the 14 of 270 that stall most" in text and " b29 " in text and " b5 " not in text
    assert len(text.splitlines()) < 120 and len(render_brief(whole).splitlines()) < 40


def test_accesses_of_one_line_to_one_buffer_are_one_row_and_what_loses_nothing_is_said():
    one = with_access(launch(issue=900, memory=100)).accesses[0]
    copies = tuple(replace(one, id=f"a{k}", stall=(1 + k) / 100) for k in range(8))
    others = (replace(one, id="b", buffer="b", stall=0.5), replace(one, id="c", buffer="c"))
    held = (
        model.Held("a7", "load of a", 4, "waiting for load of a", 4, 80),
        model.Held("b", "load of b", 4, "waiting for load of a", 9, 500),
        model.Held("c", "load of c", 4, "issued", None, 100),
    )
    whole = profile(replace(launch(issue=900, memory=100), accesses=(*copies, *others), held=held))
    text = render_profile(whole)
    table = text[text.index("Global memory") :].partition("\n\n\n")[0]
    assert " ".join(table.split()).count("k: load") == 3
    words = " ".join(word for row in table.splitlines() for word in row.split())
    assert "a x 8" in words and "8.0%" in words and "7.0%" not in words
    assert "nothing lost" in words and "(line 9)" in words and "(line 4)" not in words


def test_text_has_the_accesses_inside_kernels_that_wait():
    one = model.Local("t", "store", "tile", 5, None, 50, 0.5, 0.2)
    never = replace(one, id="u", memory="other", stall=0.0)
    text = render_profile(profile(replace(launch(issue=100), local=(never, one))))
    rows = text[text.index("Waits for ports inside kernels\n") :]
    assert "k: store tile" in rows and "20.0%" in rows and "other" not in rows
    assert "Waits for ports" not in render_profile(profile(replace(launch(issue=100), local=(never,))))
    many = tuple(replace(one, id=f"t{k}", stall=0.02 * k) for k in range(1, 10))
    text = render_profile(profile(replace(launch(issue=100), local=many)))
    assert "Waits for ports inside kernels, 4 of 9\n" in text and "18.0%" in text and "10.0%" not in text


def test_chosen_launches_are_those_whose_accesses_are_shown():
    whole = profile(*(with_access(launch(k, issue=100 + k), buffer=f"b{k}") for k in range(3)))
    assert " b2 " in render_profile(whole) and " b1 " in render_profile(whole, [1])
    assert "Global memory, in launch 1\n" in render_profile(whole, [1])


def test_slices_of_stalls_sum_to_the_accounts_and_do_not_overlap():
    found, left = events(profile(SAMPLED), min_stall=1)
    stalls = [one for one in found if one["ph"] == "X" and one["tid"] == 1]
    assert sum(one["args"]["cycles"] for one in stalls) == 64 and left == 0
    ends = [(one["ts"], one["ts"] + one["dur"]) for one in stalls]
    assert all(a[1] <= b[0] for a, b in pairwise(ends))
    (run,) = [one for one in found if one["ph"] == "X" and one["name"] == "k" and one["tid"] == 0]
    assert all(run["ts"] <= start and end <= run["ts"] + run["dur"] + 1e-6 for start, end in ends)
    assert len(events(profile(SAMPLED), min_stall=30)[0]) < len(found)
    issued = [(one["ts"], one["args"]["issued"]) for one in found if one["ph"] == "C" and one["name"] == "issued"]
    assert issued == [(0.0, 1.0), (0.64, 0.3125), (1.28, 1.0), (1.92, 0.375), (2.24, 0.0)]


def test_each_thing_that_is_waited_for_has_a_track_and_arrows_lie_in_slices():
    blame = (model.Blame("channel", 7, ("far",), "account", "issued", None, 60),)
    groups = replace(SAMPLED.accounts[1], id="0_groups", cause="earlier group", line=None)
    memory, more = (replace(COLUMNS[1], id=f"0_{name}", values=(0.0, 22.0, 0.0, 10.0)) for name in ("memory", "groups"))
    far = replace(
        SAMPLED, number=1, kernel="far", start_ns=1000.0, end_ns=3240.0, accounts=(*SAMPLED.accounts, groups),
        samples=(model.Samples(0, 0, 64, 32, (COLUMNS[0], memory, more)),),
    )  # fmt: skip
    found, _ = events(profile(replace(SAMPLED, blame=blame), far), min_stall=1)
    tracks = {(one["pid"], one["tid"]): one["args"]["name"] for one in found if one["name"] == "thread_name"}
    assert [name for (pid, _), name in tracks.items() if pid == 2] == ["launches", "memory (line 7)", "earlier group"]
    waits = [one for one in found if one["ph"] == "X" and one["name"] == "earlier group"]
    assert waits and {tracks[one["pid"], one["tid"]] for one in waits} == {"earlier group"}
    (start,), (finish,) = ([one for one in found if one["ph"] == kind] for kind in "sf")
    assert (start["pid"], finish["pid"]) == (2, 1) and 1.0 < start["ts"] == finish["ts"] < 2.24
    later = replace(far, start_ns=9000.0, end_ns=11240.0)
    apart, _ = events(profile(replace(SAMPLED, blame=blame), later))
    assert not [one for one in apart if one["ph"] in "sf"], "an arrow needs a slice at both ends"


def test_captures_that_overlap_are_on_tracks_of_their_own():
    captures = [replace(launch(k, "auto", 500.0 * k, issue=100), capture=True, of=9) for k in range(4)]
    found, _ = events(profile(launch(9, issue=300), *captures))
    runs = [(one["ts"], one["tid"]) for one in found if one["ph"] == "X" and one["name"] == "auto"]
    assert sorted(runs) == [(0.0, 0), (0.5, 1), (1.0, 0), (1.5, 1)]
    assert [one["args"]["name"] for one in found if one["name"] == "thread_name" and one["tid"] == 1] == ["launches 2"]


def test_the_shortest_slices_are_left_out_when_there_are_too_many():
    found, left = events(profile(SAMPLED), min_stall=1, most=7)
    assert len(found) == 7 and left == len(events(profile(SAMPLED), min_stall=1)[0]) - 7
    assert any(one["name"] == "k" and one["ph"] == "X" for one in found)  # the longest


def test_a_comparison_says_what_became_of_each_cause():
    old = plain(profile(launch(issue=100, recurrence=300), launch(1, "gone", issue=5)))
    new = plain(profile(launch(issue=100, memory=20)))
    changed = compare(old, new)
    assert changed[0].ratio == pytest.approx(-0.7)
    text = compare_text(changed)
    assert text.splitlines()[0] == "k: 400 -> 120 cycles (-70.0 %): recurrence -300"
    assert "    memory: 0 -> 20" in text and "gone: only in the old profile" in text


def test_the_same_work_in_fewer_launches_is_compared_as_a_whole():
    """Else who follows the advice to do more work in a launch would be told that it takes longer."""
    old = plain(profile(*(launch(k, issue=50, drain=200) for k in range(16))))
    new = plain(profile(*(launch(k, issue=400, drain=200) for k in range(2))))
    (changed,) = compare(old, new)
    assert changed.ratio == pytest.approx(1200 / 4000 - 1)
    assert (
        compare_text([changed]).splitlines()[0]
        == "k: 4,000 -> 1,200 cycles in 16 -> 2 launches (-70.0 %): drain -2,800"
    )
    (more,) = compare(old, plain(profile(*(launch(k, issue=50, drain=200) for k in range(8)))))
    assert (more.ratio, more.divided) == (0, None), "half of the work in half of the launches"


def test_a_comparison_that_got_worse_ends_with_3(tmp_path):
    for name, cycles in (("old", 100), ("new", 103)):
        (tmp_path / f"{name}.json").write_text(json.dumps(plain(profile(launch(issue=cycles)))))
    (tmp_path / "none.json").write_text("{}")
    old, new, none = (str(tmp_path / f"{name}.json") for name in ("old", "new", "none"))

    def code(*words: str) -> int:
        return CliRunner().invoke(main, ["profile", "--compare", *words]).exit_code

    assert code(old, new) == 0 and code("--fail-above", "5%", old, new) == 0
    assert code("--fail-above", "2%", old, new) == 3 and code("--fail-above", "2", new, old) == 0
    assert code(old) == 2 and code(old, none) == 2 and code("--fail-above", "x", old, new) == 2


LOOP = model.Loop("loop_i", "i@4", 4, 1, 1, 1.0, 2.0, 100, 1)


def test_a_comparison_matches_loops_accesses_and_channels_and_not_their_lines():
    before = with_access(replace(launch(issue=100), loops=(LOOP,)), loop="loop_i", efficiency=0.25)
    moved = replace(LOOP, id="loop_9", name="i", line=11, measured_ii=1.0)
    after = with_access(replace(launch(issue=100), loops=(moved,)), id="x", line=12, loop="loop_9", efficiency=1.0)
    found = compare_figures(plain(profile(before)), plain(profile(after)))
    figures = [(one.what, one.figure, one.before, one.after) for one in found["k"]]
    assert figures == [("loop i", "measured_ii", 2.0, 1.0), ("load of a, loop i", "efficiency", 0.25, 1.0)]
    twice = replace(before, accesses=(*before.accesses, replace(before.accesses[0], id="b", line=5)))
    (extra, *_) = compare_figures(plain(profile(before)), plain(profile(twice)))["k"]
    assert extra.what == "load of a, loop i (2)" and extra.before is None and extra.after is not None


def test_loops_of_one_label_are_told_apart_by_the_loops_around_them():
    """The loops k, one in i and one in j, have changed places in the source."""
    first = replace(LOOP, id="a", name="k@4", path="i/k", measured_ii=2.0)
    second = replace(LOOP, id="b", name="k@8", line=8, path="j/k", measured_ii=8.0)
    before, after = (replace(launch(issue=100), loops=loops) for loops in ((first, second), (second, first)))
    assert compare_figures(plain(profile(before)), plain(profile(after)))["k"] == ()
    faster = replace(after, loops=(replace(second, measured_ii=4.0), first))
    (only,) = compare_figures(plain(profile(before)), plain(profile(faster)))["k"]
    assert (only.what, only.before, only.after) == ("loop j/k", 8.0, 4.0)


def test_a_comparison_says_what_became_of_the_area(tmp_path):
    def of(*areas: model.Area) -> model.Profile:
        one = profile(launch(issue=100))
        return replace(one, programs=(replace(one.programs[0], areas=areas),))

    old = of(model.Area("k", 2000, 4000, 4, 0), model.Area("", 5000, 9000, 14, 0))
    new = of(model.Area("k", 2500, 4000, 4, 2), model.Area("", 5500, 9000, 14, 2))
    changes, areas = compare(plain(old), plain(new)), compare_areas(plain(old), plain(new))
    lines = compare_text(changes, areas).splitlines()
    assert lines[1] == "    area: logic cells 2,000 -> 2,500 (+25.0 %), DSP blocks 0 -> 2"
    assert lines[2] == "area of the whole design: logic cells 5,000 -> 5,500 (+10.0 %), DSP blocks 0 -> 2"
    assert compare_areas(plain(old), plain(old)) == {"k": (), "": ()}
    assert compare_areas(plain(profile(launch(issue=100))), plain(new)) == {}, "a profile without reports has no areas"
    two = replace(new, programs=(*new.programs, replace(new.programs[0], number=1)))
    assert "" not in compare_areas(plain(old), plain(two)), "it is not known which design to compare"
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, one in zip(paths, (old, new)):
        path.write_text(json.dumps(plain(one)))
    done = CliRunner().invoke(main, ["profile", "--compare", "-o", str(tmp_path / "out"), *map(str, paths)])
    assert done.exit_code == 0 and done.output.splitlines() == lines
    page = (tmp_path / "out" / "compare.html").read_text()
    assert "<td>area</td><td>logic cells</td><td>2,000</td><td>2,500</td>" in page


def test_figures_of_several_launches_are_means_counts_by_launch_and_others_by_cycles():
    one = replace(with_access(launch(issue=100), stall=0.1), loops=(LOOP,))
    other = replace(with_access(launch(1, issue=300), stall=0.5, bytes_moved=8000), loops=(LOOP,))
    found = compare_figures(plain(profile(one)), plain(profile(one, other)))["k"]
    figures = {(one.what, one.figure): one.after for one in found}
    assert figures == {("load of a, loop i", "bytes_moved"): 6000.0, ("load of a, loop i", "stall"): pytest.approx(0.4)}
    capture = replace(other, capture=True, of=None)  # of the whole run: its cycles are counted already
    assert compare_figures(plain(profile(one)), plain(profile(one, capture)))["k"] == ()


def test_the_page_of_a_comparison_says_what_the_text_says(tmp_path):
    old = profile(replace(with_access(launch(issue=100, recurrence=300)), loops=(LOOP,)), launch(1, "gone", issue=5))
    fast = replace(LOOP, measured_ii=1.0)
    new = profile(replace(with_access(launch(issue=100, memory=20), efficiency=0.5), loops=(fast,)))
    for name, one in (("<old>.json", old), ("new.json", new)):
        (tmp_path / name).write_text(json.dumps(plain(one)))
    paths = [str(tmp_path / "<old>.json"), str(tmp_path / "new.json")]
    done = CliRunner().invoke(main, ["profile", "--compare", "-o", str(tmp_path / "out"), *paths])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "compare.html").read_text()
    assert not any(word in page for word in ("<script", "http:", "https:", "<old>")) and "&lt;old&gt;.json" in page
    assert "<h2>k: 400 -&gt; 120 cycles (-70.0 %): recurrence -300</h2>" in page
    assert '<td>recurrence</td><td>300</td><td>0</td><td class="better">-300</td>' in page
    assert '<td>memory</td><td>0</td><td>20</td><td class="worse">+20</td>' in page
    assert "<th>400</th><th>120</th><th>-280</th>" in page and "width:75.0%" in page
    assert "<td>loop i</td><td>II</td><td>2</td><td>1</td>" in page
    assert "<td>load of a, loop i</td><td>efficiency</td><td>1</td><td>0.5</td>" in page
    assert "<h2>gone: only in the old profile</h2>" in page


def said(*words: object) -> tuple[int, str]:
    """The exit code of ``sluice``, and the last line of its message."""
    done = CliRunner().invoke(main, list(map(str, words)))
    return done.exit_code, done.output.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read {}: No such file or directory"),
        ("[1", "{} is no JSON ("),
        ("{}", "{} is no profile.json of this version (schema 1): make it again"),
        ('{"schema": 99, "kernels": []}', "{} is no profile.json of this version (schema 1): make it again"),
        ('{"schema": 1}', "{} is damaged: make it again"),
        ('{"schema": 1, "kernels": [{"name": "k"}]}', "{} is damaged: make it again"),
    ],
)
def test_a_comparison_names_the_file_that_is_no_profile(tmp_path, text, words):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(plain(profile(launch(issue=100)))))
    if text is not None:
        new.write_text(text)
    code, message = said("profile", "--compare", old, new)
    assert code == 2 and words.format(new) in message


def test_a_folder_that_cannot_be_written_is_told_before_the_program_runs(tmp_path):
    (tmp_path / "host.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "file").touch()
    code, message = said("profile", "-o", tmp_path / "file" / "out", tmp_path / "host.py")
    assert code == 1 and message.startswith("Error: cannot write into folder ") and message.endswith("another with -o")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", ["", "no waveform"])
def test_a_file_that_is_no_waveform_is_named(tmp_path, content):
    (tmp_path / "t.fst").write_text(content)
    code, message = said("stalls", tmp_path / "t.fst")
    assert code == 2 and f"cannot read {tmp_path / 't.fst'}: it is no FST file" in message and "--trace" in message
