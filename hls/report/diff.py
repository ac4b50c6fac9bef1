"""Two reports side by side: II, latency, units, memories, area and warnings, by kernel and loop; lines may have moved.

A report is what ``report.json`` holds (schema 2, :mod:`hls.report.model`), in plain form. Loops and accesses are
matched by their ids, which lines do not change, and warnings by their text without its numbers.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Change", "Difference", "Figure", "compare_reports"]

#: an area that grows by less than this fraction is not worse
TOLERANCE = 0.01
RESOURCES = {"logic": "", "registers": "registers", "rams": "block RAMs", "dsps": "DSP blocks"}
Plain = Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure or word before and after, None where there is none. ``worse``: the change is for the worse."""

    name: str
    before: float | str | None
    after: float | str | None
    worse: bool = False

    @property
    def ratio(self) -> float | None:
        """The change as a fraction of the figure before; None for words, and for figures that were 0 or missing."""
        if isinstance(self.before, str) or isinstance(self.after, str) or not self.before or self.after is None:
            return None
        return self.after / self.before - 1


@dataclass(frozen=True)
class Change:
    """What differs of one thing: a kernel, a loop, an access or a memory of a kernel, or the whole design. ``state``:
    "changed", "added" or "removed"; ``lines`` are its source lines before and after."""

    kernel: str
    kind: str
    name: str
    state: str
    lines: tuple[int | None, int | None]
    figures: tuple[Figure, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether a figure is worse."""
        return any(figure.worse for figure in self.figures)


@dataclass(frozen=True)
class Difference:
    """All changes between two reports: the whole design first, then kernel by kernel. Warnings are (code, line,
    message) of those that only one of the reports has."""

    changes: tuple[Change, ...]
    warnings: tuple[tuple[str, int | None, str], ...]
    gone: tuple[tuple[str, int | None, str], ...]

    @property
    def worse(self) -> bool:
        """Whether an II or the area of the design is worse, or a warning is new."""
        return bool(self.warnings) or any(change.worse for change in self.changes)

    def __bool__(self) -> bool:
        return bool(self.changes or self.warnings or self.gone)


def compare_reports(old: Plain, new: Plain) -> Difference:
    """The changes from one report to another. Raises KeyError or TypeError for what is no report of schema 2."""
    before, after = ({kernel["name"]: kernel for kernel in report["kernels"]} for report in (old, new))
    changes = [*_whole(old, new)]
    for name in dict.fromkeys((*after, *before)):
        changes += _kernel(name, before.get(name), after.get(name), new["logic_cell"])
    fresh, gone = _only_in(new, old), _only_in(old, new)
    return Difference(changes=tuple(changes), warnings=fresh, gone=gone)


def _whole(old: Plain, new: Plain) -> Iterator[Change]:
    figures = [
        *_area(old["resources"], new["resources"], new["logic_cell"], costs=True),
        *_figures(old, new, {"board": "board"}),
        *_figures(old, new, {"clock_mhz": "kernel clock in MHz"}),
    ]
    if figures:
        yield Change("", "design", "", "changed", (None, None), tuple(figures))


def _kernel(name: str, old: Plain | None, new: Plain | None, cells: str) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(name, "kernel", name, "added" if old is None else "removed", (_line(old), _line(new)))
        return
    figures = _area(old["resources"], new["resources"], cells) + _clock(old, new)
    if figures:
        yield Change(name, "kernel", name, "changed", (_line(old), _line(new)), tuple(figures))
    for kind, found, of_one in (
        ("loop", _loops, _loop_figures),
        ("access", lambda kernel: kernel["accesses"], _access_figures),
        ("memory", lambda kernel: kernel["memories"], _memory_figures),
    ):
        yield from _matched(name, kind, _named(found(old)), _named(found(new)), of_one)


def _matched(
    kernel: str,
    kind: str,
    old: Mapping[str, Plain],
    new: Mapping[str, Plain],
    figures: Callable[[Plain, Plain], list[Figure]],
) -> Iterator[Change]:
    for key in dict.fromkeys((*new, *old)):
        before, after = old.get(key), new.get(key)
        name, lines = _name(kind, after or before or {}), (_line(before), _line(after))
        if before is None or after is None:
            yield Change(kernel, kind, name, "added" if before is None else "removed", lines)
        elif found := tuple(figures(before, after)):
            yield Change(kernel, kind, name, "changed", lines, found)


def _named(items: Sequence[Plain]) -> dict[str, Plain]:
    """By id, or by name where there is none."""
    return {item.get("id") or item["name"]: item for item in items}


def _name(kind: str, item: Plain) -> str:
    if kind == "loop":
        return str(item["label"])
    if kind == "access":
        return f"{item['kind']} of {item['expression'] or item['buffer']}"
    return str(item["name"])


def _loops(kernel: Plain) -> list[Plain]:
    def walk(loops: Sequence[Plain]) -> Iterator[Plain]:
        for loop in loops:
            yield loop
            yield from walk(loop["children"])

    return list(walk(kernel["loops"]))


def _loop_figures(old: Plain, new: Plain) -> list[Figure]:
    found = _figures(old, new, {"verdict": "verdict"})
    if old["ii"] and new["ii"]:  # 0: no loop of hardware, which the verdict says
        found += _figures(old, new, {"ii": "II"}, more_is_worse=True)
    found += _figures(old, new, {"interleaving": "interleaving"})
    found += _figures(old, new, {"latency": "latency"})
    return found + _clock(old, new)


def _clock(old: Plain, new: Plain) -> list[Figure]:
    """Reports of earlier versions have it of loops only."""
    return _figures(old, new, {"fmax_mhz": "fmax in MHz"}) if "fmax_mhz" in old and "fmax_mhz" in new else []


def _access_figures(old: Plain, new: Plain) -> list[Figure]:
    return _figures(old, new, {"lsu": "unit", "cache_bytes": "bytes of cache"}) + _clock(old, new)


def _memory_figures(old: Plain, new: Plain) -> list[Figure]:
    figures = _figures(old, new, {"banks": "banks", "copies": "copies", "pumping": "pumping"})
    return figures + _figures(old, new, {"blocks": "block RAMs"})


def _figures(old: Plain, new: Plain, names: Mapping[str, str], more_is_worse: bool = False) -> list[Figure]:
    found = []
    for key, name in names.items():
        before, after = old[key], new[key]
        if before != after:
            worse = more_is_worse and None not in (before, after) and after > before
            found.append(Figure(name, before, after, worse))
    return found


def _area(old: Plain, new: Plain, cells: str, costs: bool = False) -> list[Figure]:
    """Resources that differ; with ``costs`` more of one is worse."""
    found = []
    for key, name in RESOURCES.items():
        before, after = old[key], new[key]
        if before != after:
            found.append(Figure(name or cells, before, after, costs and after > before * (1 + TOLERANCE)))
    return found


def _only_in(report: Plain, other: Plain) -> tuple[tuple[str, int | None, str], ...]:
    """The warnings that only the first report has."""
    known = Counter(key for key, _ in _warnings(other))
    found = []
    for key, message in _warnings(report):
        if known[key]:
            known[key] -= 1
        else:
            found.append((message["code"] or "", _line(message), message["message"]))
    return tuple(found)


def _warnings(report: Plain) -> Iterator[tuple[tuple[str, str, str], Plain]]:
    """(kernel, code, text without numbers) and the message of each."""
    for owner in (report, *report["kernels"]):
        for one in owner["messages"]:
            if one["severity"] == "warning":
                yield (owner.get("name", ""), one["code"] or "", re.sub(r"[\d.,]+", "#", one["message"])), one


def _line(item: Plain | None) -> int | None:
    return item["span"]["line"] if item and item["span"] else None
