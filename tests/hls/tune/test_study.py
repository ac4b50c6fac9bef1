"""Studies: points are done once, those of dead workers again, and a study belongs to one program."""

import json
import subprocess
import sys

import pytest

from hls.tune import Knob, Point, Study, StudyError

KNOBS = (Knob("unroll i@3", "unroll", None, (None, 2, 4)), Knob("-D T", "define", None, ("8", "16")))
IDENTITY = {"source": "abc", "board": "de5net"}


def every():
    return [{"unroll i@3": a, "-D T": b} for a in KNOBS[0].values for b in KNOBS[1].values]


def study(folder, **changed):
    return Study(str(folder / "journal"), KNOBS, {**IDENTITY, **changed})


def finish(one: Study, limit: int = 100) -> list[dict]:
    done = []
    while len(done) < limit and (taken := one.take(limit)) is not None:
        values = tuple((name, value) for name, value in taken.values.items() if value is not None)
        one.give(taken, Point(values, cycles=float(len(done))))
        done.append(taken.values)
    return done


def test_each_point_is_done_once_and_a_second_start_goes_on(tmp_path):
    first = study(tmp_path)
    first.enqueue(every())
    assert finish(first, 2) == every()[:2]
    second = study(tmp_path)
    second.enqueue(every())
    assert finish(second) == every()[2:]
    assert finish(study(tmp_path)) == []
    assert len(list(second.points())) == len(every())


def test_the_point_of_a_dead_worker_is_done_again(tmp_path):
    one = study(tmp_path)
    one.enqueue(every()[:2])
    lost = one.take(9)
    assert one.reclaim() == 0
    later = lost.trial.user_attrs["lease"][1] + 1
    assert one.reclaim(later) == 1 and one.reclaim(later) == 0
    assert [values for values in finish(one)] == [every()[1], lost.values]
    # the worker was only slow: its answer comes too late, and does no harm
    one.give(lost, Point((), cycles=1.0))
    assert len(list(one.points())) == 2


def test_two_processes_share_the_points(tmp_path):
    study(tmp_path).enqueue(every())
    code = (
        "import sys, json, time; from pathlib import Path; sys.path.insert(0, '.')\n"
        "from tests.hls.tune.test_study import study, Point\n"
        "one, done = study(Path(sys.argv[1])), []\n"
        "while (taken := one.take(99)) is not None:\n"
        "    time.sleep(0.05); done.append(taken.values)\n"
        "    one.give(taken, Point(tuple((n, v) for n, v in taken.values.items() if v is not None), cycles=1.0))\n"
        "print(json.dumps(done))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    done = [json.loads(worker.communicate()[0]) for worker in workers]
    assert sorted(map(str, done[0] + done[1])) == sorted(map(str, every()))


def test_a_worker_that_loses_the_last_point_to_another_one_gets_none(tmp_path, monkeypatch):
    study(tmp_path).enqueue(every()[:1])
    slow = study(tmp_path)
    before, lost = slow._trials, [slow._trials()]
    assert study(tmp_path).take(9) is not None
    # the list that this worker looked at is older than the other worker's choice
    monkeypatch.setattr(slow, "_trials", lambda: lost.pop() if lost else before())
    assert slow.take(9) is None
    assert len(slow.known()) == 1 and slow.running() == 1


@pytest.mark.parametrize("changed", [{"board": "a10pac"}, {"source": "def"}])
def test_a_study_of_something_else_is_refused(tmp_path, changed):
    study(tmp_path)
    with pytest.raises(StudyError, match=f"study of another {next(iter(changed))}"):
        study(tmp_path, **changed)


def test_sqlite_is_refused_with_several_workers(tmp_path):
    with pytest.raises(StudyError, match="SQLite locks"):
        Study(f"sqlite:///{tmp_path}/s.db", KNOBS, IDENTITY, workers=2)


def test_a_place_that_cannot_be_used_is_an_error(tmp_path):
    with pytest.raises(StudyError, match="cannot be used"):
        Study(str(tmp_path / "none" / "journal"), KNOBS, IDENTITY)
    with pytest.raises(StudyError, match="cannot be used"):
        Study("nodb://here", KNOBS, IDENTITY)


def test_a_sampler_ends_with_the_budget(tmp_path):
    one = Study(str(tmp_path / "journal"), KNOBS, IDENTITY, sampled=True)
    one.enqueue(every()[:1])
    while (taken := one.take(4)) is not None:
        one.give(taken, Point(tuple((n, v) for n, v in taken.values.items() if v is not None), cycles=2.0))
    assert len(one.known()) == 4
