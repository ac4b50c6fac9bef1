"""Puts the predictions of launches into a report: beside each kernel and each of its loops."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..model.prediction import PredictedLoop, Prediction
from .facts.loops import Loop
from .facts.predictions import LaunchPrediction, LoopPrediction
from .model import Kernel

__all__ = ["with_predictions"]


def with_predictions(kernel: Kernel, ids: Sequence[str], predictions: Iterable[Prediction]) -> Kernel:
    """The kernel with what was predicted of its launches. ``ids`` are those of the loops in hardware in the order of
    each prediction's, "" for one that has no entry in the report. Without predictions the kernel as it is."""
    mine = list(predictions)
    if not mine:
        return kernel
    found = {one: _loop([_launch(one, ids, launch) for launch in mine]) for one in dict.fromkeys(ids) if one}
    return replace(kernel, predicted=_kernel(mine), loops=_placed(kernel.loops, found))


def _kernel(launches: Sequence[Prediction]) -> LaunchPrediction:
    cycles = [one.cycles for one in launches]
    widest = max(launches, key=lambda one: one.cycles.most - one.cycles.least)
    return LaunchPrediction(
        len(launches),
        sum(one.likely for one in cycles),
        sum(one.least for one in cycles),
        sum(one.most for one in cycles),
        widest.wide,
        tuple(dict.fromkeys(text for one in launches for text in one.assumed)),
    )


@dataclass(frozen=True)
class _LoopLaunch:
    """One loop of the report in one launch."""

    iterations: float
    invocations: float
    slowest: PredictedLoop  #: of the copies in hardware, of those that are entered if any is


def _launch(loop: str, ids: Sequence[str], launch: Prediction) -> _LoopLaunch:
    copies = [one for name, one in zip(ids, launch.loops, strict=True) if name == loop]
    return _LoopLaunch(
        sum(one.iterations for one in copies),
        sum(one.invocations for one in copies),
        max(copies, key=lambda one: (one.invocations > 0, one.interval, one.iterations)),
    )


def _loop(launches: Sequence[_LoopLaunch]) -> LoopPrediction:
    iterations = sum(one.iterations for one in launches)
    # an interval counts as often as iterations have it; where there are none, all launches count alike
    weights = [one.iterations if iterations else 1.0 for one in launches]
    intervals = [one.slowest.interval for one in launches]
    mean = sum(weight * interval for weight, interval in zip(weights, intervals)) / sum(weights)
    most = max(launches, key=lambda one: one.iterations * one.slowest.interval)
    return LoopPrediction(iterations, sum(one.invocations for one in launches), mean, most.slowest.cause)


def _placed(loops: Iterable[Loop], found: Mapping[str, LoopPrediction]) -> tuple[Loop, ...]:
    return tuple(replace(one, predicted=found.get(one.id), children=_placed(one.children, found)) for one in loops)
