"""Predicted cycles of a launch beside measured ones, and what the difference comes from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .prediction import PredictedLoop, Prediction

__all__ = ["TOLERANCE", "Compared", "LoopCompared", "compare", "compared_text"]

#: of the measured cycles: a prediction that is farther off has an account to blame
TOLERANCE = 0.10
ISSUED = "issued"


@dataclass(frozen=True)
class LoopCompared:
    """A loop: its iterations in hardware and as predicted, and the cycles from one to the next while it runs; None for
    a loop that issues ahead of the loops inside, and where nothing was measured."""

    name: str
    line: int
    iterations: int
    predicted_iterations: float
    interval: float | None
    predicted_interval: float | None


@dataclass(frozen=True)
class Compared:
    """A launch: ``error`` is predicted / measured - 1. ``cause`` and ``line`` name the account to blame, of which
    ``blamed`` cycles were measured; "" where the error is within :data:`TOLERANCE`, and ``why`` says how it was
    found."""

    kernel: str
    predicted: float
    measured: int
    error: float
    loops: tuple[LoopCompared, ...]
    cause: str = ""
    line: int | None = None
    blamed: int = 0
    why: str = ""


def compare(
    prediction: Prediction, measured: Mapping[str, Any], ahead: Collection[tuple[int, str]] = frozenset()
) -> Compared:
    """The prediction of a launch beside its statistics, as :func:`hls.profile.decode` returns them. ``ahead`` are the
    lines and names of the loops with loops inside: as they issue ahead of these, their intervals say nothing."""
    cycles, predicted = measured["cycles"], prediction.cycles.likely
    error = predicted / cycles - 1
    found = Compared(prediction.kernel, predicted, cycles, error, _loops(prediction, measured["loops"], ahead))
    return found if abs(error) <= TOLERANCE else _blamed(found, prediction, measured["accounts"])


def _blamed(found: Compared, prediction: Prediction, accounts: Sequence[Mapping[str, Any]]) -> Compared:
    """With the account whose cycles differ most. The prediction tells cycles with an issue from all others: if these
    others are what differs, it is the account that has most of them."""
    issued = sum(one["cycles"] for one in accounts if one["cause"] == ISSUED)
    expected = sum(one.cycles for one in prediction.accounts if one.cause == ISSUED)
    others, expected_others = found.measured - issued, found.predicted - expected
    waits = [one for one in accounts if one["cause"] != ISSUED and one["cycles"]]
    if abs(issued - expected) > abs(others - expected_others) or not waits:
        why = f"predicted to issue in {expected:,} cycles, measured {issued:,}"
        return _with(found, ISSUED, None, issued, why)
    most = max(waits, key=lambda one: one["cycles"])
    why = f"cycles without an issue: predicted {expected_others:,.0f}, measured {others:,}"
    return _with(found, most["cause"], most["line"], most["cycles"], why)


def _with(found: Compared, cause: str, line: int | None, blamed: int, why: str) -> Compared:
    return Compared(found.kernel, found.predicted, found.measured, found.error, found.loops, cause, line, blamed, why)


def _loops(
    prediction: Prediction, measured: Sequence[Mapping[str, Any]], ahead: Collection[tuple[int, str]]
) -> tuple[LoopCompared, ...]:
    """The loops that both have, in the order of their lines. Copies of a loop in hardware are told apart by nothing but
    their order."""
    found: list[LoopCompared] = []
    left: list[PredictedLoop] = list(prediction.loops)
    for loop in sorted(measured, key=lambda one: one["line"] or 0):
        mine = next((one for one in left if (one.line or None, one.name) == (loop["line"], loop["label"])), None)
        if mine is None:
            continue
        left.remove(mine)
        outer = (mine.line, mine.name) in ahead
        intervals = (None, None) if outer else (loop["measured_ii"], mine.interval)
        found.append(LoopCompared(loop["name"], mine.line, loop["iterations"], mine.iterations, *intervals))
    return tuple(found)


def compared_text(found: Compared) -> str:
    """A line for the launch, one for each loop, and one for the account to blame."""
    off = f"{100 * found.error:+.1f} %"
    lines = [f"{found.kernel}: predicted {found.predicted:,.0f} cycles, measured {found.measured:,} ({off})"]
    lines += [f"  {_loop(one)}" for one in found.loops]
    if found.cause:
        line = f" (line {found.line})" if found.line else ""
        lines.append(f"  to blame: {found.cause}{line}, {found.blamed:,} cycles; {found.why}")
    return "\n".join(lines)


def _loop(one: LoopCompared) -> str:
    measured = f", measured {one.interval:.4g}" if one.interval is not None else ""
    if round(one.predicted_iterations) != one.iterations:
        counts = f"{one.iterations:,} iterations, predicted {one.predicted_iterations:,.0f}"
    else:
        counts = f"{one.iterations:,} iterations"
    apart = f"; predicted {one.predicted_interval:.4g} cycles apart{measured}" if one.predicted_interval else ""
    return f"loop {one.name} (line {one.line}): {counts}{apart}"
