"""The clocks of a placed system: the share of the slowest that is reached, and the path that limits it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hls.report.facts.synthesis import Place

from ..synthesis.places import Places
from ..synthesis.timing import PathStep, clock_of, path_between, path_steps

__all__ = ["SystemPlaces", "longest_path", "reached"]

#: the place of what is no part of the design
SURROUNDINGS = Place(part="memory controller and host link")


class SystemPlaces(Places):
    """Finds the places of the design in a whole system; all else is one place."""

    def of(self, cell: str) -> Place | None:
        """The place of a cell or net of that name."""
        return super().of(cell) or SURROUNDINGS


def reached(report: Mapping[str, Any]) -> float:
    """The clock that is reached, as a share of the one asked for, of the system's slowest: 1.0 or more if all are met.
    Raises ValueError for a report of nextpnr without clocks."""
    return _limit(report)[0]


def longest_path(report: Mapping[str, Any], places: Places) -> Sequence[PathStep]:
    """The path that limits that clock; empty if the report of nextpnr has none. Raises ValueError, as :func:`reached`
    does."""
    _, start, end = _limit(report)
    return tuple(path_steps(path_between(report, start, end), places))


def _limit(report: Mapping[str, Any]) -> tuple[float, str, str]:
    """The share of a clock that is reached, and the clocks of both ends of the path that limits it."""
    found = list(_limits(report))
    if not found:
        raise ValueError("no clock")
    return min(found)


def _limits(report: Mapping[str, Any]) -> Iterator[tuple[float, str, str]]:
    clocks = report["fmax"]
    yield from ((one["achieved"] / one["constraint"], name, name) for name, one in clocks.items())
    for path in report["critical_paths"]:
        first, last = clock_of(path["from"]), clock_of(path["to"])
        if first != last and first in clocks and last in clocks:
            # edges of two clocks of one PLL are at least a period of the faster one apart
            faster = max(clocks[first]["constraint"], clocks[last]["constraint"])
            yield 1000 / faster / sum(hop["delay"] for hop in path["path"]), first, last
