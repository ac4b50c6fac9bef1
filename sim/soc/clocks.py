"""Whether a placed system reaches its clocks: the share of each that is reached."""

from collections.abc import Mapping
from typing import Any

from ..synthesis.timing import clock_of

__all__ = ["reached"]


def reached(report: Mapping[str, Any]) -> float:
    """The clock that is reached, as a share of the one asked for, of the system's slowest: 1.0 or more if all are met.
    Raises ValueError for a report of nextpnr without clocks."""
    clocks = report["fmax"]
    shares = [one["achieved"] / one["constraint"] for one in clocks.values()]
    for path in report["critical_paths"]:
        first, last = clock_of(path["from"]), clock_of(path["to"])
        if first != last and first in clocks and last in clocks:
            # edges of two clocks of one PLL are at least a period of the faster one apart
            faster = max(clocks[first]["constraint"], clocks[last]["constraint"])
            shares.append(1000 / faster / sum(hop["delay"] for hop in path["path"]))
    if not shares:
        raise ValueError("no clock")
    return min(shares)
