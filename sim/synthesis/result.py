"""What synthesis found, beside what the compiler estimated, as records (:mod:`hls.report.facts.synthesis`)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hls.report.facts.synthesis import Compared, Figure, Mapped, Place, Placed, Row, Step

from .advice import say_place
from .cells import Used
from .timing import Timing

__all__ = ["Resources", "placed", "resources"]

_KINDS = ("logic", "registers", "rams", "dsps")
Key = tuple[str, str, int | None]


@dataclass(frozen=True)
class Resources:
    """Of the design, by kernel, by part and by line."""

    design: Compared
    kernels: tuple[Compared, ...]
    parts: tuple[Row, ...]
    lines: tuple[Row, ...]


def resources(found: Mapping[Place, Used], report: Mapping[str, Any]) -> Resources:
    """What was mapped, that of the design and of kernels beside the estimates in a report of the compiler
    (report.json)."""
    entries = _entries(report)
    used = [(entries.get(place.kernel, place.kernel), place, one) for place, one in found.items()]
    estimated = [(one["kernel"], one["resources"]) for one in report["lines"]]
    kernels = sorted({kernel for kernel, *_ in (*used, *estimated)})
    return Resources(
        design=_compared("", [one for *_, one in used], [one for _, one in estimated]),
        kernels=tuple(
            _compared(
                kernel,
                [one for owner, _, one in used if owner == kernel],
                [one for owner, one in estimated if owner == kernel],
            )
            for kernel in kernels
        ),
        parts=_rows((kernel, place.role, None, one) for kernel, place, one in used),
        lines=_rows((kernel, "", place.line, one) for kernel, place, one in used),
    )


def _entries(report: Mapping[str, Any]) -> dict[str, str]:
    """The entry of the report that stands for a kernel, by the names of those that stand for several."""
    return {
        name: kernel["name"] for kernel in report["kernels"] if kernel["copies"] for name in kernel["copies"]["names"]
    }


def _rows(cells: Iterable[tuple[str, str, int | None, Used]]) -> tuple[Row, ...]:
    sums: dict[Key, Used] = {}
    for kernel, part, line, used in cells:
        sums[kernel, part, line] = sums.get((kernel, part, line), Used()) + used
    return tuple(Row(*key, _mapped(sums[key])) for key in sorted(sums, key=lambda key: (key[0], key[1], key[2] or 0)))


def _compared(kernel: str, used: Iterable[Used], estimated: Iterable[Mapping[str, int]]) -> Compared:
    mapped = _mapped(sum(used, Used()))
    sums = dict.fromkeys(_KINDS, 0)
    for one in estimated:
        sums = {kind: sums[kind] + one[kind] for kind in _KINDS}
    return Compared(kernel, mapped, **{kind: Figure(getattr(mapped, kind), sums[kind]) for kind in _KINDS})


def _mapped(used: Used) -> Mapped:
    return Mapped(
        logic=used.logic,
        places=used.places,
        luts=used.luts,
        carries=used.carries,
        lut_rams=used.lut_rams,
        registers=used.registers,
        rams=used.rams,
        dsps=used.dsps,
    )


def placed(timing: Timing, asked_mhz: float, seed: int, advice: Iterable[str]) -> Placed:
    """The record of a timing."""
    return Placed(
        seed=seed,
        asked_mhz=asked_mhz,
        reached_mhz=round(timing.mhz, 2),
        path_ns=round(timing.ns, 3),
        routing=round(timing.routing, 3),
        path=tuple(
            Step(one.place, round(one.logic_ns, 3), round(one.routing_ns, 3), one.levels, say_place(one.place))
            for one in timing.steps
        ),
        advice=tuple(advice),
    )
