"""Which candidates for knobs a program has: those that save cycles by planning, and whose promises hold."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from .advise import SAVES_NOTHING, Alternative
from .evaluate import Evaluator
from .knobs import Knob, Values
from .points import Point

__all__ = ["LEAST_EFFECT", "offered"]

#: a value that is expected to save less than this share of the cycles is not worth a place in the space
LEAST_EFFECT = 0.005
#: copies of loops and lanes with which banks are tried, as these are for accesses in the same cycle
COPIES = 4


def offered(
    candidates: Sequence[Knob],
    knobs: Sequence[Knob],
    evaluator: Evaluator,
    told: Callable[[str], None] = lambda text: None,
) -> tuple[tuple[Knob, ...], tuple[Alternative, ...]]:
    """The candidates with the values that save cycles of the program as written (banks also of the program with copies
    of its loops), and why the others are left out. ``knobs`` are those that the program has anyway. A promise is
    checked by a run on the emulator, and only if planning shows a gain. The evaluator's knobs are all of them."""
    evaluator.knobs = (*knobs, *candidates)
    written: Values = {one.name: one.values[0] for one in evaluator.knobs}
    base = evaluator.estimate(written)
    if base.problem is not None:
        return (), ()
    copied = _copied(written, knobs)
    kept, left = [], []
    for knob in candidates:
        told(f"knob: {knob.name}")
        contexts = (written, copied) if knob.kind == "numbanks" and copied != written else (written,)
        tried = [_best(knob, value, contexts, evaluator) for value in knob.values if value is not None]
        good = tuple(one.value for one in tried if not one.why)
        if good:
            kept.append(replace(knob, values=(None, *good)))
        else:
            left.append(max(tried, key=lambda one: one.save))
    return tuple(kept), tuple(left)


def _best(knob: Knob, value: int | str, contexts: Sequence[Values], evaluator: Evaluator) -> Alternative:
    """What a value saves at most of the cycles of the contexts, and if it is not to be offered, why."""
    found = [_gain(knob, value, context, evaluator) for context in contexts]
    point, save = max(found, key=lambda one: one[1])
    if point.problem is None and save >= LEAST_EFFECT:
        broken = evaluator.broken({**contexts[0], knob.name: value})
        return Alternative(knob.name, value, save, broken.text if broken is not None else "")
    why = point.problem.text if point.problem is not None else SAVES_NOTHING
    return Alternative(knob.name, value, save, why)


def _gain(knob: Knob, value: int | str, context: Values, evaluator: Evaluator) -> tuple[Point, float]:
    """The point of the context with the value, and the share of the context's cycles that it saves; 0 where either
    has none."""
    before = evaluator.unchecked(context)
    after = evaluator.unchecked({**context, knob.name: value})
    if not before.cycles or after.cycles is None:
        return after, 0.0
    return after, 1 - after.cycles / before.cycles


def _copied(written: Values, knobs: Sequence[Knob]) -> Values:
    """The values of the program with copies of each innermost loop, as far as its knobs have them, and of lanes."""
    copies = {
        one.name: COPIES for one in knobs if one.kind in ("unroll", "num_simd_work_items") and COPIES in one.values
    }
    return {**written, **copies}
