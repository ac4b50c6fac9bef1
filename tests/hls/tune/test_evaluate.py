"""Runs of a host program for a point: what they give, and what becomes of one that fails. No device runs here."""

import json
from pathlib import Path

import pytest

from hls.options import Options
from hls.target.board import load_board
from hls.tune import Point, Problem, StudyError
from hls.tune.evaluate import Evaluator, Program
from hls.tune.host_run import HostFailed

SOURCE = """\
__kernel void one(__global int *restrict o) { o[0] = 1; }
__kernel void two(__global int *restrict o) { o[0] = 2; }
__kernel void three(__global int *restrict o) { o[0] = 3; }
"""
FAILED = "host.py ended with exit code 1:\nTraceback (most recent call last):\nAssertionError: 3 != 4"
#: what the compiler refused, and no text of it
REFUSED = HostFailed("host.py ended with exit code 1:\nno result", [Problem("E0911", "not replayed")])
#: what a host program prints of its own, which is no refusal of the compiler
QUOTED = HostFailed(FAILED + " error[E0911]", [])


class Runs(Evaluator):
    """Gives each run the launches in ``found``, or its failure."""

    def __init__(self, folder, found):
        host = folder / "host.py"
        host.write_text("")
        program = Program(Path("k.cl"), SOURCE, host, (), load_board("ecp5_onchip"), Options())
        super().__init__(program, folder, "1")
        self.found, self.devices = found, []
        self._linked = frozenset({("two", "three")})

    def _run(self, *options):
        given = dict(zip(options[::2], options[1::2], strict=True))
        self.devices.append(given["--device"])
        assert json.loads(Path(given["--design"]).read_text())["source_hash"] == self.source_hash
        if isinstance(self.found, str):
            raise HostFailed(self.found, [])
        if isinstance(self.found, HostFailed):
            raise self.found
        Path(given["--stats-file"]).write_text(json.dumps(self.found))


POINT = Point((), 0.1, 100.0, 1.0)


def test_cycles_of_the_sources_kernels_are_summed_and_kept(tmp_path):
    launches = [{"kernel": name, "cycles": cycles} for name, cycles in (("one", 40), ("other", 7), ("one", 2))]
    runs = Runs(tmp_path, launches)
    assert runs.replay(POINT).replayed == 42 and runs.measure(POINT).measured == 42
    assert runs.devices == ["model", "board"]
    again = Runs(tmp_path, FAILED)
    assert again.replay(POINT).replayed == 42 and not again.devices


def test_launches_that_channels_connect_run_at_the_same_time(tmp_path):
    names = ("two", "one", "three", "three", "two")
    launches = [{"kernel": name, "cycles": 10**k} for k, name in enumerate(names)]
    assert Runs(tmp_path, launches).replay(POINT).replayed == 100 + 10 + 10_000


def test_cycles_that_no_estimate_gives_are_replayed(tmp_path):
    runs = Runs(tmp_path, [{"kernel": "one", "cycles": 50}])
    found = runs._replayed_instead(POINT, {}, "why")
    assert (found.cycles, found.problem) == (50, None) and found.seconds == pytest.approx(50 / 150e6)


@pytest.mark.parametrize("found, said", [(FAILED, "AssertionError: 3 != 4"), (REFUSED, "nor does the replay")])
def test_what_neither_estimate_nor_replay_gives(tmp_path, found, said):
    point = Runs(tmp_path, found)._replayed_instead(POINT, {}, "the estimate does not cover this")
    assert point.problem.text.startswith("the estimate does not cover this") and said in point.problem.text


def test_a_design_with_which_the_host_program_fails_is_none(tmp_path):
    found = Runs(tmp_path, FAILED).replay(POINT)
    assert found.replayed is None and found.problem is not None
    assert found.problem.text == "on the model, host.py ended with exit code 1: AssertionError: 3 != 4"


def test_a_program_that_fails_as_written_ends_the_search(tmp_path):
    with pytest.raises(StudyError, match="AssertionError: 3 != 4"):
        Runs(tmp_path, FAILED).replay(POINT, written=True)


def test_a_design_that_the_replay_does_not_cover_keeps_its_estimate(tmp_path):
    found = Runs(tmp_path, REFUSED).replay(POINT, written=True)
    assert found == POINT and found.best_known == 100.0


def test_a_host_program_that_prints_the_number_of_a_message_has_failed(tmp_path):
    assert Runs(tmp_path, QUOTED).replay(POINT).problem is not None


def test_what_the_compiler_refuses_names_the_problem(tmp_path):
    refused = HostFailed("host.py ended with exit code 1:\nno result", [Problem("E0801", "too large")])
    found = Runs(tmp_path, refused).replay(POINT).problem
    assert found is not None and found.code == "E0801"


def test_a_host_program_that_hides_the_message_still_tells_what_was_refused(tmp_path):
    """As a run does it: the host catches the error of the build, and says only that it failed."""
    (tmp_path / "k.cl").write_text(SOURCE)
    (tmp_path / "host.py").write_text(
        "import sys, sluice.cl as cl\n"
        "try:\n    cl.Program(cl.create_some_context(), '__kernel void k() { x = 1; }').build()\n"
        "except cl.Error:\n    sys.exit('no luck')\n"
    )
    program = Program(tmp_path / "k.cl", SOURCE, tmp_path / "host.py", (), load_board("ecp5_onchip"), Options())
    with pytest.raises(HostFailed, match="no luck") as failed:
        Evaluator(program, tmp_path, "1")._run("--device", "model")
    assert [one.code[:1] for one in failed.value.refused] == ["E"]
    assert "x" in failed.value.refused[0].text


def test_a_refusal_that_the_host_program_caught_is_not_why_it_failed(tmp_path):
    """It goes on with another program, and finds a wrong result."""
    (tmp_path / "k.cl").write_text(SOURCE)
    (tmp_path / "host.py").write_text(
        "import sluice.cl as cl\n"
        "try:\n    cl.Program(cl.create_some_context(), '__kernel void k() { x = 1; }').build()\n"
        "except cl.Error:\n    print('without it')\n"
        "assert 3 == 4, 'three'\n"
    )
    program = Program(tmp_path / "k.cl", SOURCE, tmp_path / "host.py", (), load_board("ecp5_onchip"), Options())
    with pytest.raises(HostFailed, match="three") as failed:
        Evaluator(program, tmp_path, "1")._run("--device", "model")
    assert failed.value.refused == ()


def test_runs_are_on_the_board_as_it_was_given(tmp_path, monkeypatch):
    """With its clock, and by its file: the name alone would be another board."""
    asked = []
    monkeypatch.setattr("hls.tune.evaluate.run_host", lambda host, arguments, board, *options: asked.append(board))
    board = load_board("ecp5_onchip@75")
    for given in ("ecp5_onchip@75", ""):
        made = Evaluator(Program(Path("k.cl"), SOURCE, tmp_path, (), board, Options(), given), tmp_path, "1")
        made._run("--device", "model")
    assert asked == ["ecp5_onchip@75", "ecp5_onchip"]
