"""What the model says of one launch: the answer of ``sluice estimate`` and of ``sluice predict``."""

import math
from dataclasses import dataclass

from .area import Resources

__all__ = [
    "NOT_ISSUED",
    "SCHEMA",
    "WORK_ITEMS",
    "Interval",
    "OtherPrediction",
    "Potential",
    "PredictedAccess",
    "PredictedAccount",
    "PredictedLoop",
    "Prediction",
    "Sample",
    "Symbol",
]

SCHEMA = 1
#: the cause that a replay gives for all cycles without an issue
NOT_ISSUED = "not issued (the model does not say why)"
#: the name of the loop over work-items where trip counts are given or asked for
WORK_ITEMS = "work-items"


@dataclass(frozen=True)
class Interval:
    """The most probable value, and the least and the greatest one under the assumptions of the prediction."""

    likely: float
    least: float
    most: float

    @classmethod
    def of_cycles(cls, likely: float, least: float, most: float) -> "Interval":
        """An interval around a mean number of cycles. A launch takes whole ones."""
        return cls(likely, math.floor(min(least, likely)), math.ceil(max(most, likely)))


@dataclass(frozen=True)
class PredictedLoop:
    """A loop of the hardware over the launch. ``interval`` are the cycles from one iteration of an invocation to the
    next, ``alone`` what it would be without the loops inside and memory, and ``cause`` what the larger one comes
    from; ``interleaved`` invocations share the loop's cycles at most."""

    file: str
    line: int
    name: str
    iterations: float
    invocations: float
    static_ii: int
    interval: float
    alone: float
    cause: str
    interleaved: int


@dataclass(frozen=True)
class PredictedAccess:
    """An access to global memory over the launch: ``count`` executions move so many ``words`` of the memory."""

    file: str
    line: int
    buffer: str
    kind: str
    unit: str
    count: float
    words: float
    bytes: float


@dataclass(frozen=True)
class PredictedAccount:
    """Cycles of the launch that have one cause, at a line where one is known."""

    cause: str
    line: int | None
    cycles: int


@dataclass(frozen=True)
class Potential:
    """The ``share`` of the cycles that a what-if would save (:mod:`hls.model.potentials`)."""

    name: str
    share: float


@dataclass(frozen=True)
class Symbol:
    """A trip count that nobody has given: the ``name`` that stands for it, and its loop, whose label is ``loop``."""

    name: str
    file: str
    line: int
    loop: str


@dataclass(frozen=True)
class Sample:
    """The likely ``cycles`` where all symbols have the value ``size``."""

    size: int
    cycles: float


@dataclass(frozen=True)
class OtherPrediction:
    """What another ``model`` says of the same launch; ``variant`` is its reading of that model's equations."""

    model: str
    variant: str
    cycles: float
    seconds: float
    potentials: tuple[Potential, ...]


@dataclass(frozen=True)
class Prediction:
    """A launch of ``kernel`` on ``board``. ``seconds`` are those of the likely cycles at the board's clock; ``wide``
    says what the interval's width comes from, ``assumed`` what the workload does not tell. The ``accounts`` sum
    to the likely cycles. ``others`` are for comparison. ``resources`` are those of the whole design, if they were
    counted.

    With ``symbols``, all figures are those where each symbol is the ``size`` of the middle one of ``samples``, and
    ``formula`` gives the likely cycles for all symbols of ``formula_from`` or more; it is empty where they are no sum
    of products."""

    schema: int
    kernel: str
    board: str
    cycles: Interval
    seconds: float
    loops: tuple[PredictedLoop, ...]
    accesses: tuple[PredictedAccess, ...]
    wide: str
    assumed: tuple[str, ...]
    accounts: tuple[PredictedAccount, ...] = ()
    potentials: tuple[Potential, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    formula: str = ""
    formula_from: int = 0
    samples: tuple[Sample, ...] = ()
    others: tuple[OtherPrediction, ...] = ()
    resources: Resources | None = None
