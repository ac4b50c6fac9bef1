"""The search: tiers, areas that do not fit, goals, the front; against a machine whose figures are formulas."""

import itertools
from dataclasses import replace

import pytest

from hls.tune import Area, Goal, Knob, Point, Problem, Study, Tuning, tune
from hls.tune.search import COUNTED, enqueue, front, work
from hls.tune.space import Constraint

KNOBS = (
    Knob("unroll i@1", "unroll", None, (None, 2, 4, 8, 16)),
    Knob("unroll k@2", "unroll", None, (None, 2, 4, 8, 16)),
    Knob("-D T", "define", None, ("4", "8")),
)


class Formulas:
    """Cycles fall with each factor, area grows with their product; a point with T = 8 and i = 16 has a problem."""

    def __init__(self):
        self.counted, self.replayed, self.measured = [], [], []

    def bound_area(self, base, fit):
        assert base.area is not None and fit == 0.85

    def factors(self, point):
        values = dict(point.knobs)
        return values.get("unroll i@1", 1), values.get("unroll k@2", 1), int(values["-D T"])

    def estimate(self, values):
        point = Point.of(values)
        i, k, t = self.factors(point)
        if (i, t) == (16, 8):
            return Point(point.knobs, problem=Problem("E0801", "too much"))
        return Point(point.knobs, i * k / 128, 8192 / i / k + t, (8192 / i / k + t) / 1e6)

    def count(self, point):
        i, k, _ = self.factors(point)
        self.counted.append(point.name)
        return Point(point.knobs, point.least, point.cycles, point.seconds, Area(i * k, 0, 0, 0, i * k / 64))

    def replay(self, point, written=False):
        """What the estimate does not know: of k = 4, each iteration waits; k = 8 fails, as the host says; the replay
        does not cover T = 8."""
        self.replayed.append(point.name)
        _, k, t = self.factors(point)
        if k == 8:
            return replace(point, problem=Problem("", "host.py ended with exit code 1"))
        return point if t == 8 else replace(point, replayed=round(point.cycles) + (4000 if k == 4 else 2))

    def measure(self, point):
        self.measured.append(point.name)
        return replace(point, measured=round(point.cycles) + 3)


def searched(tmp_path, goal="cycles", budget=100, knobs=KNOBS, constraints=(), replays=0):
    given = tuple(map(Constraint, constraints))
    tuning = Tuning(knobs, given, Goal.parse(goal), budget, 0.85, replays=replays)
    study, machine = Study(str(tmp_path / "j"), knobs, {}, tuning.sampled), Formulas()
    enqueue(study, tuning)
    work(study, tuning, machine)
    return tune(study, tuning, machine), machine


def sweep(score):
    """The best point by trying all."""
    machine = Formulas()
    found = []
    for values in itertools.product(*(knob.values for knob in KNOBS)):
        point = machine.estimate(dict(zip((knob.name for knob in KNOBS), values)))
        if point.problem is None and (point := machine.count(point)).area.share <= 0.85:
            found.append(point)
    return min(found, key=score)


def test_the_best_point_is_that_of_a_sweep(tmp_path):
    outcome, machine = searched(tmp_path)
    best = sweep(lambda one: (one.cycles, one.area.share))
    assert outcome.best.cycles == best.cycles and len(outcome.points) == 50
    assert len(machine.measured) == 3 and outcome.best.measured is not None
    assert dict(outcome.base.knobs) == {"-D T": "4"}


def test_a_point_whose_arithmetic_is_too_large_is_not_counted(tmp_path):
    outcome, machine = searched(tmp_path)
    large = [one for one in outcome.points if one.problem and "arithmetic alone" in one.problem.text]
    assert large and not {one.name for one in large} & set(machine.counted)
    assert all(one.least > 0.85 for one in large)
    too_large = [one for one in outcome.points if one.problem and "of a resource" in one.problem.text]
    assert too_large and {one.name for one in too_large} <= set(machine.counted)
    assert len(set(machine.counted)) <= COUNTED + len(too_large) + 1


def test_the_goal_area_wants_the_smallest_that_is_fast_enough(tmp_path):
    outcome, _ = searched(tmp_path, "area:cycles<1_100")
    i, k, _ = Formulas().factors(outcome.best)
    assert outcome.best.measured < 1100 and i * k == 8


def test_the_smallest_design_is_not_among_the_fastest(tmp_path):
    """More designs than are counted are faster than the smallest that is fast enough."""
    outcome, machine = searched(tmp_path, "area:cycles<5000")
    best = sweep(lambda one: (one.cycles >= 5000, one.area.share, one.cycles))
    assert (outcome.best.area, outcome.best.cycles) == (best.area, best.cycles) and best.area.logic == 2
    assert outcome.best.name in machine.counted[: COUNTED + 1]


def test_nothing_fast_enough_is_no_design(tmp_path):
    assert searched(tmp_path, "area:cycles<10")[0].best is None


def test_replays_decide_what_runs_in_rtl(tmp_path):
    outcome, machine = searched(tmp_path, replays=8)
    assert machine.replayed[0] == outcome.base.name and len(machine.replayed) == len(set(machine.replayed))
    factors = {one.name: machine.factors(one) for one in outcome.points}
    assert {factors[name][1] for name in machine.replayed} >= {4, 8}  # the estimate thinks that these are fast
    measured = [one for one in outcome.points if one.measured is not None]
    assert len(measured) == 3 and all(one.replayed is not None for one in measured)
    assert not {factors[one.name][1] for one in measured} & {4, 8}
    failed = [one for one in outcome.points if one.problem is not None and "exit code 1" in one.problem.text]
    assert failed and all(one in outcome.points[-len(outcome.points) // 2 :] for one in failed)
    good = [one for one in outcome.points if one.replayed is not None and one.knobs != outcome.base.knobs]
    assert len(good) == 8


def test_replays_go_on_until_enough_meet_the_goal(tmp_path):
    """The estimate is below the limit, where the replay of many is not."""
    outcome, machine = searched(tmp_path, "area:cycles<2100", replays=2)
    assert len(machine.replayed) > 3
    assert outcome.best.problem is None and outcome.best.measured < 2100
    assert machine.factors(outcome.best)[1] not in (4, 8)


def test_constraints_leave_points_out(tmp_path):
    outcome, _ = searched(tmp_path, constraints=["i * k <= 4"])
    products = [i * k for i, k, _ in map(Formulas().factors, outcome.points)]
    assert max(products) == 4


def test_a_small_budget_samples_and_begins_with_single_changes(tmp_path):
    outcome, _ = searched(tmp_path, budget=24)
    assert 20 <= len(outcome.points) <= 24
    singles = sum(len(dict(one.knobs)) == 2 for one in outcome.points)
    assert singles >= 6


def test_two_searches_are_the_same(tmp_path):
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        found.append(searched(tmp_path / name, budget=24)[0])
    assert found[0] == found[1]


def test_the_front_has_no_point_that_another_beats(tmp_path):
    outcome, _ = searched(tmp_path)
    best = front(outcome.points)
    assert best == sorted(best, key=lambda one: -one.area.share)
    for one, other in itertools.product(best, best):
        assert one is other or not (
            (one.measured or one.cycles) <= (other.measured or other.cycles) and one.area.share <= other.area.share
        )


@pytest.mark.parametrize("text", ["speed", "area", "area:cycles<", "area:cycles<x"])
def test_other_goals_are_refused(text):
    with pytest.raises(ValueError, match="is no goal"):
        Goal.parse(text)
