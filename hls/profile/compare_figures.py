"""What became of each loop, access and channel of a kernel, in two profiles in plain form.

Lines may have moved and keys of the hardware may differ, so a loop is matched by its path (the labels of the loops
around it and its own), an access by its kind, its buffer and the path of its loop, a channel end by its channel and
direction; the first one with that to the first one, the second to the second.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["FIGURES", "UNITS", "FigureChange", "compare_areas", "compare_figures"]

Entry = Mapping[str, Any]  # a record of profile.json
_Key = tuple[str, str]  # what a figure is of, and its name


class _Kind(NamedTuple):
    """A figure: the list of a launch that has it, its unit, and whether it is a count, which is summed over launches;
    others are means over the cycles of the launches."""

    records: str
    unit: str
    counted: bool = False


#: by field of profile.json, in the order of the page
FIGURES = {
    "measured_ii": _Kind("loops", "II"),
    "iterations": _Kind("loops", "iterations", counted=True),
    "bytes_moved": _Kind("accesses", "bytes moved", counted=True),
    "efficiency": _Kind("accesses", "efficiency"),
    "stall": _Kind("accesses", "stall"),
    "bytes_per_ns": _Kind("accesses", "bytes per ns"),
    "max_level": _Kind("channels", "max. level"),
    "read_stall": _Kind("channels", "read stall"),
    "write_stall": _Kind("channels", "write stall"),
}
#: by field of an area
AREAS = {"logic": "logic cells", "registers": "registers", "rams": "block RAMs", "dsps": "DSP blocks"}
#: what a figure is, in words
UNITS = {name: kind.unit for name, kind in FIGURES.items()} | AREAS


@dataclass(frozen=True)
class FigureChange:
    """A figure of ``what`` (as "load of a, loop i") in two profiles; None where it has none. Counts are means of a
    launch."""

    what: str
    figure: str  #: a key of UNITS
    before: float | None
    after: float | None


def compare_figures(old: Entry, new: Entry) -> dict[str, tuple[FigureChange, ...]]:
    """By kernel of the new profile that the old one has too, the figures that differ by more than 0.1 %. Both are in
    plain form, as read from profile.json."""
    before, after = _figures(old), _figures(new)
    return {kernel: tuple(_changes(before[kernel], figures)) for kernel, figures in after.items() if kernel in before}


def compare_areas(old: Entry, new: Entry) -> dict[str, tuple[FigureChange, ...]]:
    """By kernel that both profiles have an area of, what differs; the whole design, by the name "", where both are of
    one program. Profiles without reports have no areas."""
    before, after = _areas(old), _areas(new)
    return {
        kernel: tuple(
            FigureChange("area", name, before[kernel][name], area[name])
            for name in AREAS
            if before[kernel][name] != area[name]
        )
        for kernel, area in after.items()
        if kernel in before
    }


def _areas(profile: Entry) -> dict[str, Entry]:
    """By kernel, the first area of that name."""
    programs = [areas for program in profile.get("programs", ()) if (areas := program.get("areas"))]
    found: dict[str, Entry] = {}
    for area in (area for areas in programs for area in areas):
        if area["kernel"] or len(programs) == 1:
            found.setdefault(area["kernel"], area)
    return found


def _changes(before: Mapping[_Key, float], after: Mapping[_Key, float]) -> Iterable[FigureChange]:
    for key in [*after, *(key for key in before if key not in after)]:
        old, new = before.get(key), after.get(key)
        if old is None or new is None or abs(new - old) > 1e-3 * max(abs(old), abs(new)):
            yield FigureChange(key[0], key[1], old, new)


def _figures(profile: Entry) -> dict[str, dict[_Key, float]]:
    """By kernel, each figure by what it is of and its name; those without a value are not there."""
    sums: dict[str, dict[_Key, list[tuple[float, float]]]] = {}
    for launch in profile["launches"]:
        if launch["capture"] and launch["of"] is None:
            continue  # its cycles are in the captures of launches already
        mine = sums.setdefault(launch["kernel"], {})
        for name, kind in FIGURES.items():
            for what, one in _named(launch, kind.records):
                if one[name] is not None:
                    mine.setdefault((what, name), []).append((one[name], 1 if kind.counted else launch["cycles"]))
    return {kernel: {key: _mean(values) for key, values in mine.items()} for kernel, mine in sums.items()}


def _mean(values: Sequence[tuple[float, float]]) -> float:
    weights = sum(weight for _, weight in values)
    return sum(value * weight for value, weight in values) / weights if weights else 0.0


def _named(launch: Entry, records: str) -> Iterable[tuple[str, Entry]]:
    """The records of a launch, each with what it is of, which is unique."""
    labels = {loop["id"]: _path(loop) for loop in launch["loops"]}
    found: dict[str, int] = {}
    for one in launch[records]:
        what = _what(one, records, labels)
        found[what] = found.get(what, 0) + 1
        yield what if found[what] == 1 else f"{what} ({found[what]})", one


def _what(one: Entry, records: str, labels: Mapping[str, str]) -> str:
    if records == "loops":
        return f"loop {_path(one)}"
    if records == "channels":
        return f"{one['end']} of channel {one['name']}"
    around = f", loop {labels[one['loop']]}" if one["loop"] in labels else ""
    return f"{one['kind']} of {one['buffer']}{around}"


def _path(loop: Entry) -> str:
    """The path of a loop; in a profile without paths its label, which is its name without the line."""
    return loop.get("path") or loop["name"].partition("@")[0]
