"""What synthesis found, beside what the compiler estimated: the records of ``synthesis.json``."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hls.records import computed

from .cells import Used
from .places import Place
from .timing import Timing

__all__ = ["SCHEMA", "Figure", "Placed", "Row", "Synthesis", "compare", "placed"]

#: version of the fields; keys are added within a version, and never change their meaning
SCHEMA = 1


@dataclass(frozen=True)
class Figure:
    """A resource: what was ``mapped``, and what was ``estimated``."""

    mapped: int
    estimated: int

    @computed
    def error(self) -> float | None:
        """How much more was estimated than mapped, in percent of what was mapped; None if that is nothing."""
        return round(100 * (self.estimated - self.mapped) / self.mapped, 1) if self.mapped else None


@dataclass(frozen=True)
class Row:
    """Resources of a kernel ("" for what kernels share), of a part (its role in the report's area), or of a source line
    (None for no line). ``logic`` are LUT places, or registers where these are more, as the estimate counts."""

    kernel: str
    part: str
    line: int | None
    logic: Figure
    registers: Figure
    rams: Figure
    dsps: Figure
    luts: int
    carries: int
    lut_rams: int


@dataclass(frozen=True)
class Step:
    """A stretch of the critical path; see :class:`sim.synthesis.timing.PathStep`."""

    place: Place
    logic_ns: float
    routing_ns: float
    levels: int


@dataclass(frozen=True)
class Placed:
    """After place and route with ``seed``: the kernel clock that was ``asked_mhz`` and ``reached_mhz``, and the longest
    path. ``advice`` says what would shorten it."""

    seed: int
    asked_mhz: float
    reached_mhz: float
    path_ns: float
    routing: float  #: share of the path that is routing, 0 to 1
    path: tuple[Step, ...]
    advice: tuple[str, ...]

    @computed
    def met(self) -> bool:
        """Whether the clock is reached."""
        return self.reached_mhz >= self.asked_mhz


@dataclass(frozen=True)
class Synthesis:
    """A design on a device. ``digest`` is that of the design in interface.json. The rows of ``kernels``, ``parts`` and
    ``lines`` each sum to the ``design``."""

    digest: str
    board: str
    part: str
    tools: tuple[str, ...]
    design: Row
    kernels: tuple[Row, ...]
    parts: tuple[Row, ...]
    lines: tuple[Row, ...]
    placed: Placed
    schema: int = SCHEMA


Key = tuple[str, str, int | None]
_KINDS = ("logic", "registers", "rams", "dsps")


def compare(
    found: Mapping[Place, Used], report: Mapping[str, Any]
) -> tuple[Row, tuple[Row, ...], tuple[Row, ...], tuple[Row, ...]]:
    """Rows of the whole design, by kernel, by part and by line: what was mapped beside the estimates in a report of the
    compiler (report.json)."""
    entries = _entries(report)
    mapped = [
        ((entries.get(place.kernel, place.kernel), place.role, place.line), used) for place, used in found.items()
    ]
    estimated = [
        ((one["kernel"], one["role"], one["span"]["line"] if one["span"] and one["kernel"] else None), one["resources"])
        for one in report["lines"]
    ]

    def rows(reduce: Callable[[Key], Key]) -> tuple[Row, ...]:
        keys = sorted({reduce(key) for key, _ in (*mapped, *estimated)}, key=lambda key: (key[0], key[1], key[2] or 0))
        return tuple(
            _row(
                key, [used for one, used in mapped if reduce(one) == key], [e for k, e in estimated if reduce(k) == key]
            )
            for key in keys
        )

    whole = rows(lambda key: ("", "", None))[0]
    by_kernel = rows(lambda key: (key[0], "", None))
    return whole, by_kernel, rows(lambda key: (key[0], key[1], None)), rows(lambda key: (key[0], "", key[2]))


def _entries(report: Mapping[str, Any]) -> dict[str, str]:
    """The entry of the report that stands for a kernel, by the names of those that stand for several."""
    return {
        name: kernel["name"] for kernel in report["kernels"] if kernel["copies"] for name in kernel["copies"]["names"]
    }


def _row(key: Key, mapped: Iterable[Used], estimated: Iterable[Mapping[str, int]]) -> Row:
    used = sum(mapped, Used())
    sums = dict.fromkeys(_KINDS, 0)
    for one in estimated:
        sums = {kind: sums[kind] + one[kind] for kind in _KINDS}
    kernel, part, line = key
    return Row(
        kernel=kernel,
        part=part,
        line=line,
        logic=Figure(used.logic, sums["logic"]),
        registers=Figure(used.registers, sums["registers"]),
        rams=Figure(used.rams, sums["rams"]),
        dsps=Figure(used.dsps, sums["dsps"]),
        luts=used.luts,
        carries=used.carries,
        lut_rams=used.lut_rams,
    )


def placed(timing: Timing, asked_mhz: float, seed: int, advice: Iterable[str]) -> Placed:
    """The record of a timing."""
    steps = tuple(Step(one.place, round(one.logic_ns, 3), round(one.routing_ns, 3), one.levels) for one in timing.steps)
    return Placed(
        seed=seed,
        asked_mhz=asked_mhz,
        reached_mhz=round(timing.mhz, 2),
        path_ns=round(timing.ns, 3),
        routing=round(timing.routing, 3),
        path=steps,
        advice=tuple(advice),
    )
