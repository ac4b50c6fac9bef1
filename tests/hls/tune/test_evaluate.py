"""Runs of a host program for a point: what they give, and what becomes of one that fails. No device runs here."""

import json
from pathlib import Path

import pytest

from hls.options import Options
from hls.target.board import load_board
from hls.tune import Point, StudyError
from hls.tune.evaluate import Evaluator, Program

SOURCE = "__kernel void one(__global int *restrict o) { o[0] = 1; }\n"
FAILED = "host.py ended with exit code 1:\nTraceback (most recent call last):\nAssertionError: 3 != 4"
REFUSED = "host.py ended with exit code 1:\nbuild failed\n<program source>:1:1: error[E0911]: not replayed\n"


class Runs(Evaluator):
    """Gives each run the launches in ``found``, or its failure."""

    def __init__(self, folder, found):
        host = folder / "host.py"
        host.write_text("")
        program = Program(Path("k.cl"), SOURCE, host, (), load_board("ecp5_onchip"), Options())
        super().__init__(program, folder, "1")
        self.found, self.devices = found, []

    def _run(self, *options):
        given = dict(zip(options[::2], options[1::2], strict=True))
        self.devices.append(given["--device"])
        assert json.loads(Path(given["--design"]).read_text())["source_hash"] == self.source_hash
        if isinstance(self.found, str):
            raise StudyError(self.found)
        Path(given["--stats-file"]).write_text(json.dumps(self.found))


POINT = Point((), 0.1, 100.0, 1.0)


def test_cycles_of_the_sources_kernels_are_summed_and_kept(tmp_path):
    launches = [{"kernel": name, "cycles": cycles} for name, cycles in (("one", 40), ("other", 7), ("one", 2))]
    runs = Runs(tmp_path, launches)
    assert runs.replay(POINT).replayed == 42 and runs.measure(POINT).measured == 42
    assert runs.devices == ["model", "board"]
    again = Runs(tmp_path, FAILED)
    assert again.replay(POINT).replayed == 42 and not again.devices


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
