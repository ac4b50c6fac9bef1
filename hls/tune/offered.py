"""Which candidates for knobs a program has: those that save cycles by planning, and whose promises hold."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..model.accounts import ISSUED
from ..model.estimate import NotModelled
from .advise import LEAST_EFFECT, SAVES_TOO_LITTLE, Alternative
from .evaluate import Evaluator
from .knobs import Knob, Values
from .points import Point

__all__ = ["offered"]

#: copies of loops and lanes with which banks are tried, as these are for accesses in the same cycle
COPIES = 4
#: kinds of knobs that gain also where a kernel starts an iteration in each cycle
COPYING = frozenset({"feed_forward", "numbanks"})


def offered(
    candidates: Sequence[Knob],
    knobs: Sequence[Knob],
    evaluator: Evaluator,
    told: Callable[[str], None] = lambda text: None,
) -> tuple[tuple[Knob, ...], tuple[Alternative, ...]]:
    """The candidates with the values, beside None, that save cycles of the program as written (banks also of the
    program with copies of its loops), and why the others are left out. ``knobs`` are those that the program has anyway.
    A promise is checked by a run on the emulator, and only if planning shows a gain. The evaluator's knobs are all of
    them."""
    evaluator.knobs = (*knobs, *candidates)
    written: Values = {one.name: one.values[0] for one in knobs} | dict.fromkeys(one.name for one in candidates)
    base = evaluator.estimate(written)
    if base.problem is not None:
        return (), ()
    copied, waiting = _copied(written, knobs), _waiting(base, evaluator)
    kept, left = [], []
    for knob in candidates:
        if _is_idle(knob, waiting):
            left.append(Alternative(knob.name, knob.values[-1], 0.0, SAVES_TOO_LITTLE))
            continue
        told(f"knob: {knob.name}")
        contexts = (written, copied) if knob.kind == "numbanks" and copied != written else (written,)
        tried = _tried(knob, contexts, evaluator)
        if all(one.why not in ("", SAVES_TOO_LITTLE) for one in tried) and (wider := _with_restrict(knob, candidates)):
            knob, tried = _retried(wider, knob, tried, contexts, evaluator)
        good = tuple(one.value for one in tried if not one.why)
        if good:
            kept.append(replace(knob, values=(None, *good)))
        else:
            left.append(max(tried, key=lambda one: one.save))
    return tuple(kept), tuple(left)


def _waiting(base: Point, evaluator: Evaluator) -> dict[str, float] | None:
    """By kernel, the share of the program's cycles in which it issues nothing: what can be saved without copies. None
    for a program whose cycles no estimate gives."""
    found: dict[str, float] = {}
    try:
        limits = evaluator.limits(base)
    except NotModelled:
        return None
    for one in limits:
        found[one.kernel] = found.get(one.kernel, 0.0) + (0.0 if one.cause == ISSUED else one.share)
    return found


def _is_idle(knob: Knob, waiting: dict[str, float] | None) -> bool:
    """Whether the knob is one against waiting, of a kernel that hardly waits."""
    if waiting is None or not knob.kernel or knob.kind in COPYING:
        return False
    return waiting.get(knob.kernel, 0.0) < LEAST_EFFECT


def _tried(knob: Knob, contexts: Sequence[Values], evaluator: Evaluator) -> list[Alternative]:
    return [_best(knob, value, contexts, evaluator) for value in knob.values if value is not None]


def _with_restrict(knob: Knob, candidates: Sequence[Knob]) -> Knob | None:
    """The knob of a kernel or a loop in one with ``restrict`` at the kernel's buffers, as most of what cannot be built
    cannot since buffers may overlap; None where that is no candidate, or the knob is that."""
    found = [one for one in candidates if one.kind == "restrict" and one.kernel == knob.kernel]
    if not found or not knob.kernel or knob.kind == "restrict":
        return None
    also = (*knob.also, *((span, "restrict", 1) for span in found[0].places))
    return replace(knob, name=f"{knob.name} with restrict", also=also)


def _retried(
    wider: Knob, knob: Knob, tried: list[Alternative], contexts: Sequence[Values], evaluator: Evaluator
) -> tuple[Knob, list[Alternative]]:
    """The wider knob and what its values give, if one of them is to be offered; else what there was."""
    before = evaluator.knobs
    evaluator.knobs = tuple(wider if one is knob else one for one in before)
    found = _tried(wider, contexts, evaluator)
    if any(not one.why for one in found):
        return wider, found
    evaluator.knobs = before
    return knob, tried


def _best(knob: Knob, value: int | str, contexts: Sequence[Values], evaluator: Evaluator) -> Alternative:
    """What a value saves at most of the cycles of the contexts, and if it is not to be offered, why."""
    found = [_gain(knob, value, context, evaluator) for context in contexts]
    point, save = max(found, key=lambda one: one[1])
    if point.problem is None and save >= LEAST_EFFECT:
        broken = evaluator.broken({**contexts[0], knob.name: value})
        return Alternative(knob.name, value, save, broken.text if broken is not None else "")
    why = point.problem.text if point.problem is not None else SAVES_TOO_LITTLE
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
