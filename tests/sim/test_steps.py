"""Messages while a simulator is built, and the estimated duration."""

import json

import pytest

from sim import build_time
from sim.errors import BuildError
from sim.steps import Steps


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path))
    return tmp_path


def test_the_estimate_is_the_pace_of_the_last_build(cache):
    first = build_time.estimate("traced quick", 1000)
    assert first == build_time.estimate("quick", 1000) > 0
    build_time.remember("traced quick", 500, 10.0)
    assert build_time.estimate("traced quick", 1000) == pytest.approx(20.0)
    assert build_time.estimate("quick", 1000) == first
    assert [path.name for path in cache.iterdir()] == ["paces.json"]


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b"{", b"\xff\x00", b'{"quick": "x"}', b'{"quick": -1}', b'{"quick": 1e99}']
)
def test_a_damaged_file_of_paces_is_made_anew(cache, content):
    (cache / "paces.json").write_bytes(content)
    assert build_time.estimate("quick", 1_000_000) == build_time.PACES["quick"]
    build_time.remember("quick", 1, 1e-6)
    assert json.loads((cache / "paces.json").read_text()) == {"quick": 1.0}


@pytest.mark.parametrize("seconds, text", [(0.1, "5 s"), (13, "15 s"), (59, "60 s"), (100, "2 min")])
def test_times_in_words(seconds, text):
    assert build_time.in_words(seconds) == text


def test_a_line_each_where_nobody_watches(capsys):
    steps = Steps()
    for step in ("one", "two", "", ""):
        steps(step)
    assert capsys.readouterr().err == "sluice: one\nsluice: two\n"


def test_one_line_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    steps = Steps()
    steps("one")
    steps("two [sic]")
    assert steps._line is not None
    steps("")
    assert steps._line is None and "Traceback" not in capsys.readouterr().err


def test_a_build_that_fails_ends_its_line():
    from sim.build import _timed

    said = []
    with pytest.raises(BuildError), _timed("quick", ["text"], "it", said.append):
        raise BuildError("no")
    assert said[0].startswith("building it: about 5 s, once; it is kept in ") and said[1:] == [""]
