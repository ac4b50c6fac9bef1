"""The search in tiers: all points by estimate, the best by counted area and by replay, the best few of these in RTL."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .evaluate import Evaluator
from .knobs import Knob, Values
from .points import Point, Problem
from .space import Constraint, legal, points, single_changes, size_of
from .study import Study, StudyError

__all__ = ["Goal", "Outcome", "Tuning", "front", "tune", "work"]

#: points that fit and whose area is counted, those of them that are replayed, and those that are run in RTL
COUNTED, REPLAYED, MEASURED = 20, 20, 3


@dataclass(frozen=True)
class Goal:
    """What is to be small: "cycles", "seconds" or "area" (the largest share of a resource); for area, cycles must stay
    below ``limit``."""

    what: str
    limit: float | None = None

    @classmethod
    def parse(cls, text: str) -> "Goal":
        """``cycles``, ``seconds`` or ``area:cycles<N``. Raises ValueError."""
        if text in ("cycles", "seconds"):
            return cls(text)
        if found := re.fullmatch(r"area:cycles<([\d_,]+)", text):
            return cls("area", float(re.sub(r"[_,]", "", found[1])))
        raise ValueError(f"{text!r} is no goal: cycles, seconds or area:cycles<N")

    def of(self, point: Point) -> float:
        """The figure of a point that is to be small; infinite for one that cannot be a result."""
        cycles = point.best_known
        if point.problem is not None or point.cycles is None or cycles is None:
            return float("inf")
        if self.what == "area":
            short = self.limit is not None and cycles < self.limit
            return point.area.share if short and point.area is not None else float("inf")
        if self.what == "seconds" and point.seconds is not None:
            return point.seconds * cycles / point.cycles if point.cycles else 0.0
        return cycles

    def before_counting(self, point: Point) -> tuple[bool, float, float, int, str]:
        """The order in which areas are counted: the fastest first, or of those that are fast enough, the ones with the
        least arithmetic."""
        cycles = point.cycles or 0.0
        slow = self.limit is not None and cycles >= self.limit
        least = (point.least or 0.0) if self.what == "area" else 0.0
        return slow, least, cycles, len(point.knobs), point.name


@dataclass(frozen=True)
class Tuning:
    """A search: at most ``budget`` points by estimate; designs may take the share ``fit`` of each resource; ``replays``
    of these are replayed and ``runs`` are made in RTL at most. ``withheld``: knobs that are not turned, as the user has
    not allowed what they change."""

    knobs: tuple[Knob, ...]
    constraints: tuple[Constraint, ...]
    goal: Goal
    budget: int
    fit: float
    runs: int = MEASURED
    replays: int = REPLAYED
    withheld: tuple[Knob, ...] = ()

    @property
    def sampled(self) -> bool:
        """Whether points are chosen by a sampler, as the budget is too small for all."""
        return size_of(self.knobs) > self.budget


@dataclass(frozen=True)
class Outcome:
    """``points`` are all that were evaluated, the best first. ``base`` is the program as written, ``best`` the design,
    or None if no point can be built."""

    points: tuple[Point, ...]
    base: Point
    best: Point | None


def enqueue(study: Study, tuning: Tuning) -> None:
    """Ask for the points of the first tier, as many as the budget allows. Raises StudyError if there is none."""
    if tuning.sampled:
        # the sampler begins with what each knob does alone
        asked = [one for one in single_changes(tuning.knobs) if legal(one, tuning.constraints)]
        asked = asked[: max(tuning.budget // 2, 1)]
    else:
        asked = list(points(tuning.knobs, tuning.constraints))
    if not asked:
        raise StudyError("no point meets the constraints of the space: remove one of them")
    study.enqueue(asked)


def work(study: Study, tuning: Tuning, evaluator: Evaluator) -> None:
    """Evaluate points until none is left or the budget is used up: what each worker does."""
    written = evaluator.estimate({knob.name: knob.values[0] for knob in tuning.knobs})
    if written.problem is None:
        evaluator.bound_area(evaluator.count(written), tuning.fit)
    while True:
        study.reclaim()
        taken = study.take(tuning.budget)
        if taken is None:
            return
        point = _evaluated(taken.values, tuning, evaluator)
        study.give(taken, point)


def _evaluated(values: Values, tuning: Tuning, evaluator: Evaluator) -> Point:
    if legal(values, tuning.constraints):
        return evaluator.estimate(values)
    given = tuple((name, value) for name, value in values.items() if value is not None)
    return Point(given, problem=Problem("", "a constraint of the space does not hold"))


def tune(
    study: Study, tuning: Tuning, evaluator: Evaluator, told: Callable[[str], None] = lambda text: None
) -> Outcome:
    """The tiers after the estimate, over what the workers have found. Raises StudyError if a run in RTL fails, or the
    replay of the program as written."""
    found = {point.knobs: point for point in study.points()}
    written = tuple((knob.name, knob.values[0]) for knob in tuning.knobs if knob.values[0] is not None)
    base = found.get(written, Point(written))
    good = sorted((one for one in found.values() if one.problem is None), key=tuning.goal.before_counting)
    counted = _counted(good, base, tuning, evaluator, told)
    found |= {point.knobs: point for point in counted}
    if tuning.replays:
        replayed = _replayed(counted, base, tuning, evaluator, told)
        found |= {point.knobs: point for point in replayed}
        ranked = _ranked([one for one in replayed if one.replayed is not None], tuning)
        ranked += _ranked([one for one in replayed if one.replayed is None], tuning)
    else:
        ranked = _ranked(counted, tuning)
    for point in ranked[: tuning.runs]:
        told(f"RTL: {point.name}")
        measured = evaluator.measure(point)
        found[point.knobs] = replace(point, measured=measured.measured)
    last = sorted((found[one.knobs] for one in ranked[: max(tuning.runs, 1)]), key=lambda one: tuning.goal.of(one))
    order = sorted(
        found.values(),
        key=lambda one: (
            one.problem is not None,
            one.measured is None,
            one.replayed is None,
            one.area is None,
            tuning.goal.of(one),
            one.name,
        ),
    )
    return Outcome(tuple(order), found.get(written, base), last[0] if last else None)


def _ranked(points: Sequence[Point], tuning: Tuning) -> list[Point]:
    """The points that can be a result, the best for the goal first; of equal ones, the smaller hardware."""
    possible = [one for one in points if tuning.goal.of(one) != float("inf")]
    return sorted(possible, key=lambda one: (tuning.goal.of(one), one.area.share if one.area else 0, one.name))


def _replayed(
    counted: Sequence[Point], base: Point, tuning: Tuning, evaluator: Evaluator, told: Callable[[str], None]
) -> list[Point]:
    """The points of the counted tier, the best of them with the cycles of a replay: the program as written, which the
    others are compared with, and so many that the goal still holds for. One that fails on the model has a
    problem."""
    found = {one.knobs: one for one in counted}
    if base.knobs in found and found[base.knobs].problem is None:
        told(f"replay: {base.name}")
        found[base.knobs] = evaluator.replay(found[base.knobs], written=True)
    good = 0
    for point in _ranked(counted, tuning):
        if good == tuning.replays:
            break
        if point.knobs != base.knobs:
            told(f"replay: {point.name}")
            found[point.knobs] = evaluator.replay(point)
        now = found[point.knobs]
        good += now.replayed is not None and tuning.goal.of(now) != float("inf")
    return list(found.values())


def _counted(
    good: Sequence[Point], base: Point, tuning: Tuning, evaluator: Evaluator, told: Callable[[str], None]
) -> list[Point]:
    """The points of the second tier, with areas: the program as written, and the fastest until enough of them fit. One
    whose arithmetic is too large is not counted."""
    found, fit = [], 0
    if base.problem is None and base.cycles is not None:
        found.append(evaluator.count(base))
    for point in good:
        if fit == COUNTED:
            break
        if point.knobs == base.knobs:
            continue
        if point.least is not None and point.least > tuning.fit:
            why = f"its arithmetic alone takes {point.least:.0%} of the logic of the device"
            found.append(replace(point, problem=Problem("W0803", why)))
            continue
        told(f"area: {point.name}")
        point = evaluator.count(point)
        if point.area is not None and point.area.share > tuning.fit:
            why = f"takes {point.area.share:.0%} of a resource of the device"
            point = replace(point, problem=Problem("W0803", why))
        fit += point.problem is None
        found.append(point)
    return found


def front(found: Sequence[Point]) -> list[Point]:
    """The points with an area that no other one beats in both cycles and area, the fastest first."""
    known = [one for one in found if one.area is not None and one.cycles is not None and one.problem is None]
    best: list[Point] = []
    for point in sorted(known, key=lambda one: (one.best_known or 0.0, one.area.share if one.area else 0.0, one.name)):
        if not best or (point.area and best[-1].area and point.area.share < best[-1].area.share):
            best.append(point)
    return best
