"""What the last `sluice profile` measured, beside the lines of the text that it ran: until the text changes."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..diag import Span
from ..profile.model import SCHEMA
from .marks import Hint
from .projects import State, file_state

__all__ = ["FOLDER", "Profiles", "measured"]

#: the folder that `sluice profile` writes where it is not told another
FOLDER = "profile"
#: the least share of the cycles that is shown
LEAST = 0.01


def measured(profile: Mapping[str, Any], text: str, planned: Iterable[Hint], file: str) -> tuple[Hint, ...]:
    """A hint for each line of the text at which loops, accesses or channels were measured; none where the profile is of
    another text. Lines without a planned hint are left out: they are those of an included file."""
    programs = {one["number"] for one in profile["programs"] if one["source"] == text}
    launches = [one for one in profile["launches"] if one["program"] in programs]
    lines = text.split("\n")
    known = {one.span.line for one in planned if one.span.file == file}
    found: dict[int, list[str]] = defaultdict(list)
    facts: dict[int, list[str]] = defaultdict(list)
    for line, words, fact in (*_loops(launches), *_accesses(launches), *_channels(launches, lines)):
        if line in known or words.startswith("channel "):
            found[line].append(words)
            facts[line].append(fact)
    return tuple(
        Hint(Span(file, line), "measured", f"measured: {' · '.join(words)}", "\n\n".join(facts[line]))
        for line, words in sorted(found.items())
    )


@dataclass
class _Sum:
    """Figures of one place over all launches, each weighted by what it counts."""

    weight: float = 0
    total: float = 0
    planned: float = 0

    def add(self, value: float, weight: float) -> None:
        self.total += value * weight
        self.weight += weight

    @property
    def mean(self) -> float:
        return self.total / self.weight if self.weight else 0.0


def _loops(launches: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
    sums: dict[tuple[int, str, str], _Sum] = defaultdict(_Sum)
    for launch in launches:
        for one in launch["loops"]:
            if one["line"] is not None and one["measured_ii"] is not None:
                place = sums[one["line"], launch["kernel"], one["name"]]
                place.add(one["measured_ii"], one["iterations"])
                place.planned = one["scheduled_ii"]
    for (line, kernel, name), one in sums.items():
        fact = f"loop {name} of {kernel}: {one.weight:,.0f} iterations, II {one.mean:.4g}, planned {one.planned:.4g}"
        yield line, f"II {one.mean:.3g}", fact


def _accesses(launches: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
    sums: dict[tuple[int, str, str], _Sum] = defaultdict(_Sum)
    for launch in launches:
        for one in launch["accesses"]:
            if one["line"] is not None and one["stall"] is not None:
                sums[one["line"], one["kind"], one["buffer"]].add(one["stall"], launch["cycles"])
    for (line, kind, buffer), one in sums.items():
        if one.mean >= LEAST:
            share = f"{one.mean:.0%}"
            yield line, f"{kind} {buffer} stalls {share}", f"{kind} of {buffer} stalls {share} of the cycles"


def _channels(launches: Iterable[Mapping[str, Any]], lines: list[str]) -> Iterator[tuple[int, str, str]]:
    sums: dict[tuple[int, str, str], _Sum] = defaultdict(_Sum)
    for launch in launches:
        for one in launch["channels"]:
            share = one["read_stall"] if one["end"] == "read" else one["write_stall"]
            if one["line"] is not None and share is not None:
                sums[one["line"], one["end"], one["name"]].add(share, launch["cycles"])
    for (line, end, name), one in sums.items():
        shown = line <= len(lines) and name.partition("[")[0] in lines[line - 1]
        if one.mean >= LEAST and shown:
            fact = f"{end}s of channel {name} wait {one.mean:.0%} of the cycles"
            yield line, f"channel {name} waits {one.mean:.0%}", fact


@dataclass
class Profiles:
    """The profiles in the folders of projects, as new as they are on the disk. A file that is no profile, or is
    damaged, has no hints: `sluice profile --compare` says what is wrong with it."""

    _read: dict[Path, tuple[State, Mapping[str, Any] | None]] = field(default_factory=dict)
    _seen: dict[Path, State] = field(default_factory=dict)

    def hints(self, folder: Path, text: str, planned: Iterable[Hint], file: str) -> tuple[Hint, ...]:
        """What the profile in ``folder`` measured of the text."""
        found = self._current(folder / FOLDER / "profile.json")
        if found is None:
            return ()
        try:
            return measured(found, text, planned, file)
        except (KeyError, TypeError, AttributeError):
            return ()

    def changed(self, folders: Iterable[Path]) -> bool:
        """Whether a profile in one of the folders is another one than at the last call."""
        states = {folder: file_state(folder / FOLDER / "profile.json") for folder in folders}
        changed = any(self._seen.get(folder, one) != one for folder, one in states.items())
        self._seen = states
        return changed

    def _current(self, file: Path) -> Mapping[str, Any] | None:
        now = file_state(file)
        if file not in self._read or self._read[file][0] != now:
            self._read[file] = now, _profile(file)
        return self._read[file][1]


def _profile(file: Path) -> Mapping[str, Any] | None:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None
