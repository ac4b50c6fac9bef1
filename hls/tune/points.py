"""Points of a space of designs, and what is known of each: a prediction, a counted area, a measurement."""

from collections.abc import Mapping
from dataclasses import dataclass

from .knobs import FP_RELAXED

__all__ = ["Area", "Limit", "Point", "Problem", "Sketch", "shown"]

#: how the names of knobs begin that are turned on or left alone
_SWITCHES = ("ivdep ", "loads ahead ", "restrict ", FP_RELAXED)


def shown(name: str, value: int | str | None) -> str:
    """The value of the knob of that name as text."""
    if value is None:
        return "as written"
    if value == -1 and name.startswith("unroll "):
        return "all"
    return "yes" if name.startswith(_SWITCHES) else str(value)


@dataclass(frozen=True)
class Problem:
    """Why a point is no design: ``code`` of the message (empty for one of the search itself), and its text."""

    code: str
    text: str


@dataclass(frozen=True)
class Area:
    """Resources of a design as counted in its Verilog, or of a part of one, and the largest ``share`` of one of the
    device's."""

    logic: int
    registers: int
    rams: int
    dsps: int
    share: float


@dataclass(frozen=True)
class Point:
    """``knobs`` are the values by name, as far as they differ from the program as written. ``cycles`` and ``seconds``
    are estimated, over all launches; ``replayed`` are the cycles of a replay of the schedule, ``measured`` those of a
    run in RTL. ``least`` is the share of the device's logic that the arithmetic alone takes. Figures are None until
    known."""

    knobs: tuple[tuple[str, int | str], ...]
    least: float | None = None
    cycles: float | None = None
    seconds: float | None = None
    area: Area | None = None
    replayed: int | None = None
    measured: int | None = None
    problem: Problem | None = None

    @classmethod
    def of(cls, values: Mapping[str, int | str | None]) -> "Point":
        """The point with those values of the knobs, of which nothing is known yet."""
        return cls(tuple((name, value) for name, value in values.items() if value is not None))

    @property
    def best_known(self) -> float | None:
        """The cycles that are known best: measured, else replayed, else estimated; None for a point without any."""
        found = next((one for one in (self.measured, self.replayed) if one is not None), self.cycles)
        return None if found is None else float(found)

    @property
    def name(self) -> str:
        """The values in one line."""
        return ", ".join(f"{name}={shown(name, value)}" for name, value in self.knobs) or "as written"


@dataclass(frozen=True)
class Limit:
    """What a ``share`` of a program's cycles are spent with: a cause, in the words of the accounts, and its line of the
    kernel, if it has one."""

    kernel: str
    cause: str
    line: int | None
    share: float


@dataclass(frozen=True)
class Sketch:
    """A change that only the programmer can make: ``what``, at which ``line`` of which kernel, the ``text`` to
    complete, and the ``cycles`` of all launches that are predicted with it, where ``save`` of them are saved. ``area``
    is what it adds, by an estimate."""

    kernel: str
    what: str
    line: int | None
    text: str
    cycles: float
    save: float
    area: Area = Area(0, 0, 0, 0, 0.0)
