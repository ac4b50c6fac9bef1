"""The clocks that nextpnr reports, and its critical path in steps through places of the source."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hls.report.facts.synthesis import Place

from .places import Places

__all__ = ["PathStep", "Timing", "clock_of", "path_between", "path_steps", "read_timing"]

_ASYNC = "<async>"


@dataclass(frozen=True)
class PathStep:
    """A stretch of the critical path in one place, in ns: ``logic_ns`` in cells (register and RAM outputs, and the
    register at the end, included), ``routing_ns`` in the wires to and between them. ``levels`` are the cells passed,
    a carry chain counting as one."""

    place: Place
    logic_ns: float
    routing_ns: float
    levels: int

    @property
    def ns(self) -> float:
        """Both together."""
        return self.logic_ns + self.routing_ns


@dataclass(frozen=True)
class Timing:
    """``mhz`` is the kernel clock that is reached (that of a double clock halved), ``steps`` the path that limits it,
    from register to register; ``starts_in_ram``: its first cell is a block RAM."""

    mhz: float
    steps: tuple[PathStep, ...]
    starts_in_ram: bool = False

    @property
    def ns(self) -> float:
        """The length of the path."""
        return sum(step.ns for step in self.steps)

    @property
    def routing(self) -> float:
        """The share of the path that is routing."""
        return sum(step.routing_ns for step in self.steps) / self.ns if self.steps else 0.0


def read_timing(report: Mapping[str, Any], places: Places, double: str | None = None) -> Timing:
    """The timing in a report of nextpnr; ``double`` is the port of a clock of twice the kernel's frequency, if there is
    one. Raises ValueError for a report without clocks."""
    limits = [(clock["achieved"] / _ratio(name, double), name, name) for name, clock in report["fmax"].items()]
    for path in report["critical_paths"]:
        first, last = clock_of(path["from"]), clock_of(path["to"])
        # from one clock to the other there is one period of the faster one
        if first != last and _ASYNC not in (first, last):
            limits.append((1000 / sum(hop["delay"] for hop in path["path"]) / 2, first, last))
    if not limits:
        raise ValueError("no clock")
    mhz, start, end = min(limits)
    hops = path_between(report, start, end)
    return Timing(mhz, tuple(path_steps(hops, places)), bool(hops) and _is_ram(hops[0]))


def path_between(report: Mapping[str, Any], start: str, end: str) -> Sequence[Mapping[str, Any]]:
    """The longest path from one clock to another, or to itself, in hops; empty if the report has none."""
    paths = report["critical_paths"]
    return next((one["path"] for one in paths if (clock_of(one["from"]), clock_of(one["to"])) == (start, end)), ())


def _ratio(clock: str, double: str | None) -> int:
    return 2 if double is not None and double in clock else 1


def clock_of(event: str) -> str:
    """The clock of an event, which is named with its edge."""
    return event.removeprefix("posedge ").removeprefix("negedge ")


def _is_ram(hop: Mapping[str, Any]) -> bool:
    return hop["type"] == "clk-to-q" and hop["from"]["port"].startswith(("DOA", "DOB", "DO"))


def path_steps(hops: Sequence[Mapping[str, Any]], places: Places) -> Iterator[PathStep]:
    """One step for each stretch in one place; what has no place belongs to the stretch around it."""
    step: PathStep | None = None
    waiting = 0.0
    for hop in hops:
        if hop["type"] == "routing":
            waiting += hop["delay"]
            continue
        place = places.of(hop["from"]["cell"])
        if place is None:
            place = step.place if step else Place()
        if step is None or place != step.place:
            if step is not None:
                yield step
            step = PathStep(place, 0.0, 0.0, 0)
        chained = hop["type"] == "logic" and hop["from"]["port"] == "FCI"
        level = int(hop["type"] == "logic" and not chained)
        step = replace(
            step,
            logic_ns=step.logic_ns + hop["delay"],
            routing_ns=step.routing_ns + waiting,
            levels=step.levels + level,
        )
        waiting = 0.0
    if step is not None:
        yield step
