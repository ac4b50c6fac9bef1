"""Facts that the performance model adds: what launches whose workloads are known will take."""

from dataclasses import dataclass

__all__ = ["LaunchPrediction", "LoopPrediction"]


@dataclass(frozen=True)
class LoopPrediction:
    """A loop over all launches that were predicted: their ``iterations`` and ``invocations``, those of all copies of
    the loop in hardware. ``interval`` are the cycles from one iteration of an invocation to the next, on average over
    the iterations (of copies: the slowest's), and ``cause`` what they come from in the launch with the most of them.
    """

    iterations: float
    invocations: float
    interval: float
    cause: str


@dataclass(frozen=True)
class LaunchPrediction:
    """The ``launches`` of a kernel that were predicted, all together: the ``cycles`` that are the most probable, and
    the ``least`` and the ``most`` under the assumptions of the model. ``wide`` says what the widest interval of a
    launch comes from ("" for none), ``assumed`` what the workloads do not tell."""

    launches: int
    cycles: float
    least: float
    most: float
    wide: str = ""
    assumed: tuple[str, ...] = ()
