"""Advice in steps: one change after the other, each the one that the model expects to gain most."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .evaluate import Evaluator
from .knobs import Values
from .points import Limit, Point, Sketch
from .search import Tuning
from .space import legal

__all__ = ["LEAST_EFFECT", "LEAST_GAIN", "SAVES_TOO_LITTLE", "Advice", "Alternative", "Step", "advise"]

#: a step that is expected to save less than this share of the cycles is not worth its area
LEAST_GAIN = 0.05
#: a value that is expected to save less than this share of the cycles is not worth a place in the space
LEAST_EFFECT = 0.005
#: so many numbers of copies in a row that save no more than fewer copies end the trial of a knob: planning a body takes
#: more than twice as long with twice the copies, and what limits it rarely vanishes with still more of them
IN_VAIN = 2
#: why such a value is not there
SAVES_TOO_LITTLE = f"saves less than {LEAST_EFFECT:.1%} of the cycles"


@dataclass(frozen=True)
class Alternative:
    """A knob that was not turned in a step, with its best value: what it would ``save`` of the cycles, or ``why`` it
    cannot be turned."""

    knob: str
    value: int | str | None
    save: float
    why: str


@dataclass(frozen=True)
class Step:
    """Turn ``knob`` to ``value``: from the design ``before`` to ``after``, with predicted cycles and counted areas.
    ``others`` are the knobs that would gain less, the best first."""

    knob: str
    value: int | str | None
    before: Point
    after: Point
    others: tuple[Alternative, ...]


@dataclass(frozen=True)
class Advice:
    """The ``steps`` from the program as written (``base``), and why there are no more (``end``), with what the knobs
    could still do (``others``), what the cycles are spent with after the steps (``limits``), and the changes of the
    source that would then save enough, and fit (``sketches``). ``not_allowed`` are the knobs that only the user can
    allow, with what they would then save; those that save enough."""

    base: Point
    steps: tuple[Step, ...]
    end: str
    others: tuple[Alternative, ...]
    limits: tuple[Limit, ...] = ()
    sketches: tuple[Sketch, ...] = ()
    not_allowed: tuple[Alternative, ...] = ()

    @property
    def last(self) -> Point:
        """The design after all steps."""
        return self.steps[-1].after if self.steps else self.base


def advise(tuning: Tuning, evaluator: Evaluator, told: Callable[[str], None] = lambda text: None) -> Advice:
    """The steps that the model advises. Each is found by planning with the change made; ``tuning.fit`` bounds the area.
    The program as written must have an estimate: otherwise the advice has no steps, and says why."""
    values: dict[str, int | str | None] = {knob.name: knob.values[0] for knob in tuning.knobs}
    base = evaluator.estimate(values)
    if base.problem is not None:
        return Advice(base, (), base.problem.text, ())
    current, steps = evaluator.count(base), list[Step]()
    base = current
    evaluator.bound_area(base, tuning.fit)
    while True:
        told(f"step {len(steps) + 1}: from {current.cycles or 0:,.0f} cycles")
        tried = _tried(values, current, tuning, evaluator)
        chosen, others = _first_that_fits(tried, tuning, evaluator)
        if chosen is None:
            used = current.area.share if current.area is not None else 0.0
            sketches = tuple(
                one
                for one in evaluator.sketches(current)
                if one.save >= LEAST_GAIN and used + one.area.share <= tuning.fit
            )
            asked = _not_allowed(values, current, tuning, evaluator)
            return Advice(base, tuple(steps), _end(others, tuning), others, evaluator.limits(current), sketches, asked)
        knob, value, after = chosen
        values[knob] = value
        steps.append(Step(knob, value, current, after, others))
        current = after


def _not_allowed(values: Values, current: Point, tuning: Tuning, evaluator: Evaluator) -> tuple[Alternative, ...]:
    """What the knobs that were withheld would save, where that is enough for a step, and fits."""
    found = []
    for knob in tuning.withheld:
        for value in knob.values[1:]:
            point = evaluator.estimate({**values, knob.name: value})
            save = _saved(point, current)
            if point.problem is None and save >= LEAST_GAIN and not _fitting(point, tuning, evaluator)[1]:
                found.append(Alternative(knob.name, value, save, ""))
    return tuple(found)


def _saved(point: Point, current: Point) -> float:
    """The share of the cycles of ``current`` that a point saves; 0 where either has none."""
    return 1 - point.cycles / current.cycles if point.cycles is not None and current.cycles else 0.0


@dataclass(frozen=True)
class _Trial:
    knob: str
    value: int | str | None
    point: Point
    save: float


def _tried(values: Values, current: Point, tuning: Tuning, evaluator: Evaluator) -> list[_Trial]:
    """Each other value of each knob, the largest gain first; of equal ones, the smaller hardware."""
    found = []
    for knob in tuning.knobs:
        most, in_vain = 0.0, 0
        for value in knob.values:
            changed = {**values, knob.name: value}
            if value == values[knob.name] or not legal(changed, tuning.constraints):
                continue
            point = evaluator.estimate(changed)
            save = _saved(point, current)
            found.append(_Trial(knob.name, value, point, save))
            if point.problem is None and knob.is_more(value, values[knob.name]):
                in_vain = 0 if save > most + LEAST_EFFECT else in_vain + 1
                most = max(most, save)
            if in_vain == IN_VAIN:
                break
    return sorted(found, key=lambda one: (-one.save, one.point.least or 0.0, one.knob, str(one.value)))


def _first_that_fits(
    tried: Sequence[_Trial], tuning: Tuning, evaluator: Evaluator
) -> tuple[tuple[str, int | str | None, Point] | None, tuple[Alternative, ...]]:
    """The first trial that gains enough and fits, with its counted area, and one alternative for each other knob."""
    chosen, others = None, dict[str, Alternative]()
    for one in _smallest_first(tried, evaluator):
        if chosen is None and one.point.problem is None and one.save >= LEAST_GAIN:
            point, why = _fitting(one.point, tuning, evaluator)
            if not why:
                chosen = (one.knob, one.value, point)
                others.pop(one.knob, None)
                continue
        else:
            why = one.point.problem.text if one.point.problem is not None else ""
        if chosen is None or one.knob != chosen[0]:
            others.setdefault(one.knob, Alternative(one.knob, one.value, one.save, why))
    return chosen, tuple(sorted(others.values(), key=lambda one: (-one.save, one.knob)))


def _smallest_first(tried: Sequence[_Trial], evaluator: Evaluator) -> Sequence[_Trial]:
    """The trials, those that save about as much as the best one in the order of their counted areas: of each knob its
    first value. What saves the same by less hardware is the simpler change, too."""
    worth = [one for one in tried if one.point.problem is None and one.save >= LEAST_GAIN]
    equal = {one.knob: one for one in reversed(worth) if one.save > worth[0].save - LEAST_EFFECT}
    if len(equal) < 2:
        return tried
    shares = {one: _share(evaluator.count(one.point)) for one in equal.values()}
    first = sorted((one for one in tried if one in shares), key=lambda one: shares[one])
    return first + [one for one in tried if one not in shares]


def _share(counted: Point) -> float:
    return counted.area.share if counted.area is not None else float("inf")


def _fitting(point: Point, tuning: Tuning, evaluator: Evaluator) -> tuple[Point, str]:
    """The point with its area, and why it does not fit; empty if it does."""
    if point.least is not None and point.least > tuning.fit:
        return point, f"its arithmetic alone takes {point.least:.0%} of the logic of the device"
    counted = evaluator.count(point)
    if counted.problem is not None:
        return counted, counted.problem.text
    if counted.area is not None and counted.area.share > tuning.fit:
        return counted, f"takes {counted.area.share:.0%} of a resource of the device"
    return counted, ""


def _end(others: Sequence[Alternative], tuning: Tuning) -> str:
    wanted = [one for one in others if one.save >= LEAST_GAIN]
    if wanted:
        return f"nothing that saves {LEAST_GAIN:.0%} of the cycles fits {tuning.fit:.0%} of the device"
    return f"no single change saves {LEAST_GAIN:.0%} of the cycles"
